// Labelling node after node, beginning with none: the page proposes the one that is worth most.

import { element } from "./elements.js";
import { ofClass } from "./colours.js";

export class Labelling {
  /** @param act has propose(by, except), label(id, name) and choose(id). */
  constructor(body, act) {
    this.act = act;
    this.proposed = null;
    this.asking = false;
    this.passed = new Set(); // Proposed, and not labelled.
    this.by = element("select", { id: "propose-by", "aria-label": "How nodes are proposed" },
      element("option", { value: "gain", textContent: "largest gain" }),
      element("option", { value: "uncertainty", textContent: "least certain" }));
    this.sentence = element("p", { id: "proposed", className: "soft", textContent: "Ask for a node, then say what it is." });
    this.classes = element("div", { className: "line", id: "label-buttons" });
    this.other = element("input", { type: "text", id: "new-class", placeholder: "another class", "aria-label": "Another class", maxLength: 200 });
    const form = element("form", {
      className: "line",
      onsubmit: (event) => {
        event.preventDefault();
        const name = this.other.value.trim();
        // What was typed stays where there is no node to give it to.
        if (this.proposed !== null) this.other.value = "";
        if (name) this.label(name);
      },
    }, this.other, element("button", { textContent: "Label" }));
    body.append(
      element("div", { className: "line" }, "Propose the", this.by,
        element("button", { id: "propose", className: "primary", textContent: "Next node (n)", onclick: () => this.next() })),
      this.sentence, this.classes, form);
  }

  async next() {
    // One question at a time: a second click meanwhile would pass over a node that was never shown.
    if (this.asking) return;
    this.asking = true;
    // Whoever asks again cannot tell, or would rather not.
    if (this.proposed !== null) this.passed.add(this.proposed);
    const proposal = await this.act.propose(this.by.value, [...this.passed]);
    this.asking = false;
    if (!proposal) return;
    this.proposed = proposal.node;
    const why = proposal.by === "gain"
      ? `its label would take away ${(100 * proposal.value).toFixed(1)} % of the uncertainty about all nodes`
      : `its two most probable classes are ${(100 * proposal.value).toFixed(1)} points apart`;
    this.sentence.textContent = `${proposal.node}: ${why}.`;
    this.act.choose(proposal.node);
  }

  /** Labels what was proposed, and goes on with the next. */
  async label(name) {
    if (this.proposed === null) {
      this.sentence.textContent = "Ask for a node first: Next node, or n.";
      return;
    }
    const node = this.proposed;
    this.proposed = null;
    if (await this.act.label(node, name)) await this.next();
    else this.proposed = node;
  }

  /** The classes that there are, with the keys 1 to 9. */
  show(classes) {
    this.names = classes;
    this.other.placeholder = classes.length > 0 ? "another class" : "its class";
    this.classes.replaceChildren(...classes.slice(0, 30).map((name, k) => {
      const swatch = element("span", { className: "swatch" });
      swatch.style.background = ofClass(name);
      const key = k < 9 ? ` (${k + 1})` : "";
      return element("button", { className: "inline", title: name, onclick: () => this.label(name) }, swatch, `${name}${key}`);
    }));
  }

  key(event) {
    const place = Number(event.key) - 1;
    if (this.proposed === null || !this.names?.[place]) return false;
    this.label(this.names[place]);
    return true;
  }
}
