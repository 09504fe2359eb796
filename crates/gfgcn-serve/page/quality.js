// How good the model is: shares of right answers, which classes are taken for which, whether it is as sure as it should be; and its filter.

import { element, percent, svg } from "./elements.js";
import { ofClass } from "./colours.js";

const [WIDTH, HEIGHT] = [320, 120];

/** A frame with axes from (left, bottom) to (right, top), and a function from numbers to places in it. */
function frame(label, [x0, x1], [y0, y1]) {
  const x = (v) => 26 + ((v - x0) / (x1 - x0)) * (WIDTH - 36);
  const y = (v) => HEIGHT - 18 - ((v - y0) / (y1 - y0)) * (HEIGHT - 28);
  const text = (at, up, words, anchor) => svg("text", { x: at, y: up, "text-anchor": anchor }, words);
  const number = (v) => String(Number(v.toPrecision(2)));
  const chart = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": label },
    svg("path", { class: "axis", d: `M${x(x0)} ${y(y1)}V${y(y0)}H${x(x1)}` }),
    text(x(x0), HEIGHT - 6, number(x0), "middle"), text(x(x1), HEIGHT - 6, number(x1), "middle"),
    text(22, y(y0) + 3, number(y0), "end"), text(22, y(y1) + 3, number(y1), "end"));
  return { chart, x, y, text };
}

/** The filter's response over the spectrum, with how many eigenvalues there are. */
export function response(body, { settings }, density) {
  const at = (k) => -1 + (2 * k) / (density.length - 1);
  const all = settings.responses.flat();
  const low = Math.max(-2, Math.min(0, ...all));
  const high = Math.min(4, Math.max(1, ...all));
  const { chart, x, y, text } = frame("Response of the filter over the spectrum of the graph", [-1, 1], [low, high]);
  const area = density.map((d, k) => `${x(at(k))} ${y(Math.max(low, 0) + d * (high - Math.max(low, 0)))}`);
  chart.append(svg("path", { class: "density", d: `M${x(-1)} ${y(0)}L${area.join("L")}L${x(1)} ${y(0)}Z` }));
  for (const curve of settings.responses) {
    const points = curve.map((v, k) => `${x(at(k)).toFixed(1)} ${y(Math.min(high, Math.max(low, v))).toFixed(1)}`);
    chart.append(svg("path", { class: "curve", d: `M${points.join("L")}` }));
  }
  chart.append(text(x(0), HEIGHT - 6, "eigenvalue of Â (grey: how many there are)", "middle"));
  body.replaceChildren(element("h3", { textContent: "Response of the filter" }), chart);
}

/** Everything about right and wrong. */
export function quality(body, view) {
  if (!view.model) {
    body.replaceChildren(element("p", { className: "soft", textContent: "Nothing is labelled yet." }));
    return;
  }
  const score = (name, { right, count }, help) =>
    count === 0 ? null : element("div", { title: help },
      element("div", { className: "big", textContent: percent(right / count) }),
      element("div", { className: "soft", textContent: `${name}, ${count} nodes` }));
  body.replaceChildren(
    element("div", { className: "numbers", id: "scores" },
      score("left out", view.left_out, "Training nodes, each predicted by what is learnt without it"),
      score("held out", view.held_out, "Nodes whose class is known but not trained on")),
    element("h3", { textContent: "Known classes, and what is predicted" }),
    confusion(view),
    element("h3", { textContent: `Calibration: off by ${(100 * view.calibration_error).toFixed(1)} points` }),
    calibration(view),
  );
}

function confusion({ classes, confusion: counts }) {
  const most = Math.max(1, ...counts.flat());
  const swatch = (name) => {
    const box = element("span", { className: "swatch inline", title: name });
    box.style.background = ofClass(name);
    return box;
  };
  const head = element("tr", {}, element("th"),
    ...classes.map((name) => element("th", { title: name }, swatch(name))));
  const rows = classes.map((name, i) => {
    const cells = classes.map((other, j) => {
      const count = counts[i][j];
      const cell = element("td", { textContent: count || "", title: `${name}, predicted ${other}: ${count}` });
      const share = Math.round(100 * Math.sqrt(count / most));
      if (count) cell.style.background = `color-mix(in srgb, var(${i === j ? "--good" : "--bad"}) ${Math.round(0.6 * share)}%, transparent)`;
      return cell;
    });
    return element("tr", {}, element("th", { title: name, textContent: name }), ...cells);
  });
  return element("div", { className: "scroll" },
    element("table", { className: "confusion", id: "confusion" }, element("thead", {}, head), element("tbody", {}, ...rows)));
}

function calibration({ reliability }) {
  const { chart, x, y, text } = frame("Share of right answers by confidence", [0, 1], [0, 1]);
  chart.append(svg("path", { class: "ideal", d: `M${x(0)} ${y(0)}L${x(1)} ${y(1)}` }));
  const total = Math.max(1, ...reliability.bins.map((bin) => bin.count));
  for (const { count, right, confidence } of reliability.bins) {
    if (!count) continue;
    const size = 2 + 5 * Math.sqrt(count / total);
    const dot = svg("circle", { class: "bar", cx: x(confidence), cy: y(right / count), r: size });
    dot.append(svg("title", {}, `${count} nodes, ${percent(confidence)} sure, ${percent(right / count)} right`));
    chart.append(dot);
  }
  chart.append(text(x(0.5), HEIGHT - 6, "confidence (upwards: share that is right)", "middle"));
  return chart;
}
