// The chosen node: what it is predicted to be, why, and what can be done with it.

import { element, percent, short } from "./elements.js";
import { ofClass } from "./colours.js";

const NEIGHBOURS = 12;

/**
 * Shows a node. `known` has its label and class as far as they are known, `act` what can be done.
 */
export function details(section, id, node, known, classes, act) {
  const link = (other) => element("a", {
    className: "node name", href: "#", textContent: other, title: other,
    onclick: (event) => {
      event.preventDefault();
      act.choose(other);
    },
  });
  const parts = [
    element("div", { className: "line title" },
      element("h2", { id: "node-id", textContent: id, title: id }),
      element("button", { className: "small", textContent: "Show", title: "Bring it to the middle", onclick: act.show }),
      element("button", { className: "small", textContent: "Close", title: "Escape", onclick: act.close })),
    element("p", { className: "soft", id: "node-known", textContent: sentence(known, node) }),
  ];
  if (node.scores) parts.push(...scores(node), plausible(node));
  parts.push(labelled(known, classes, act));
  if (node.why) parts.push(...reasons(node.why, link));
  parts.push(...neighbours(node, link, act));
  parts.push(element("div", { className: "line" },
    element("button", { id: "drop-node", textContent: "Drop this node", onclick: act.dropNode })));
  section.replaceChildren(...parts);
  section.hidden = false;
}

function sentence({ label, known, judged }, node) {
  const edges = `${node.degree} ${node.degree === 1 ? "neighbour" : "neighbours"}`;
  if (label !== null) {
    const without = judged === null ? "" : judged === label ? "; without it, the same is predicted" : `; without it, ${judged} is predicted`;
    return `Labelled ${label}${without}. ${edges}.`;
  }
  if (known !== null) return `Held out: its class is ${known}, but the model was not told. ${edges}.`;
  return `Not labelled. ${edges}.`;
}

function scores({ classes, probabilities, label }) {
  const order = classes.map((_, k) => k).sort((a, b) => probabilities[b] - probabilities[a]).slice(0, 8);
  const grid = element("div", { className: "scores", id: "node-scores" });
  for (const k of order) {
    const bar = element("div");
    bar.style.width = `${100 * probabilities[k]}%`;
    bar.style.background = ofClass(classes[k]);
    grid.append(
      element("span", { className: "name", textContent: classes[k], title: classes[k] }),
      element("div", { className: "track" }, bar),
      element("span", { className: "value", textContent: percent(probabilities[k]) }));
  }
  return [element("h3", { textContent: `Predicted: ${label}` }), grid];
}

function plausible({ set }) {
  const tags = set.map((name) => element("span", { className: "tag", textContent: name }));
  return element("div", { id: "node-set" }, element("h3", { textContent: "Plausible classes (90 %)" }), ...tags);
}

function labelled({ label, known }, classes, act) {
  const choice = element("input", { type: "text", id: "node-label", list: "classes", value: label ?? known ?? "", "aria-label": "Label of this node", maxLength: 200 });
  const list = element("datalist", { id: "classes" }, ...classes.map((name) => element("option", { value: name })));
  const form = element("form", {
    className: "line",
    onsubmit: (event) => {
      event.preventDefault();
      if (choice.value.trim()) act.label(choice.value.trim());
    },
  }, choice, list, element("button", { id: "set-label", className: "primary", textContent: label === null ? "Label it" : "Change label" }));
  if (label !== null) {
    form.append(element("button", { id: "remove-label", type: "button", textContent: "Remove label", onclick: act.removeLabel }));
  }
  return element("div", {}, element("h3", { textContent: "Label" }), form);
}

function reasons(why, link) {
  const list = (terms, others, sum, withLinks) => {
    const line = (value, ...name) => element("li", {},
      element("span", { className: `value ${value < 0 ? "minus" : "plus"}`, textContent: `${value < 0 ? "−" : "+"}${short(Math.abs(value))}` }), ...name);
    const lines = terms.map((term) => {
      const name = withLinks ? link(term.name) : element("span", { className: "name", textContent: term.name, title: term.name });
      const more = term.label ?? (withLinks && term.name === why.node ? "itself" : null);
      const label = more === null ? "" : element("span", { className: "note soft", textContent: more, title: more });
      return line(term.value, name, label);
    });
    if (others) lines.push(line(sum, element("span", { className: "name soft", textContent: `${others} others` })));
    return element("ul", { className: "terms" }, ...lines);
  };
  const parts = [element("h3", { textContent: `Why ${why.class}: score ${short(why.score)}, by node (drawn on the map)` })];
  const cut = (l, count) => {
    const rest = l.terms.slice(count).reduce((sum, term) => sum + term.value, l.sum_of_others);
    return [l.terms.slice(0, count), l.others + Math.max(0, l.terms.length - count), rest];
  };
  parts.push(list(...cut(why.nodes, 6), true));
  if (why.features.terms.length) parts.push(element("h3", { textContent: "By feature" }), list(...cut(why.features, 6), false));
  if (why.labelled?.terms.length) {
    parts.push(element("h3", { textContent: "By labelled node" }), list(...cut(why.labelled, 6), true));
  }
  return parts;
}

function neighbours(node, link, act) {
  if (!node.neighbours.length) return [];
  const line = (other) => element("li", {},
    element("button", { className: "small drop-edge", textContent: "✕", title: `Drop the edge to ${other}`, "aria-label": `Drop the edge to ${other}`, onclick: () => act.dropEdge(other) }),
    link(other));
  const more = node.degree > NEIGHBOURS ? element("li", { className: "soft", textContent: `and ${node.degree - NEIGHBOURS} more` }) : null;
  return [
    element("h3", { textContent: "Neighbours" }),
    element("ul", { className: "terms" }, ...node.neighbours.slice(0, NEIGHBOURS).map(line), ...(more ? [more] : [])),
  ];
}
