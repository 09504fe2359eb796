// The model's settings: a filter and its parameters, λ, or any design as text.

import { element, short } from "./elements.js";

const FILTERS = {
  sgc: { name: "SGC: Â^K", parameters: ["depth"] },
  ssgc: { name: "SSGC: mean of Â, …, Â^K", parameters: ["depth", "tau"] },
  dgc: { name: "DGC: diffusion to time T in K steps", parameters: ["depth", "time"] },
  identity: { name: "none: own features only", parameters: [] },
  highpass: { name: "high-pass: (I − Â)^K", parameters: ["depth"] },
  ppr: { name: "personalised PageRank", parameters: ["alpha"] },
  heat: { name: "heat kernel", parameters: ["time"] },
};
// Slider positions and what they stand for.
const linear = (least, most, step) => ({ least, most, step, value: (x) => x, place: (v) => v });
const powers = (least, most) => ({ least, most, step: 0.05, value: (x) => 10 ** x, place: (v) => Math.log10(v) });
const PARAMETERS = {
  depth: { ...linear(1, 64, 1), label: "depth K", start: 8 },
  tau: { ...linear(0, 1, 0.01), label: "τ", start: 0.05 },
  time: { ...powers(-1, 2), label: "T", start: 5.27 },
  alpha: { ...linear(0.01, 1, 0.01), label: "α", start: 0.1 },
};
const LAMBDA = powers(-6, 8);
const HIGH_PASS_DEPTH = 20;

export class Controls {
  /** @param change called with settings, and whether the slider still moves. */
  constructor(body, change) {
    this.change = change;
    this.values = Object.fromEntries(Object.entries(PARAMETERS).map(([name, p]) => [name, p.start]));
    this.filter = element("select", { id: "filter", onchange: () => this.say(false) });
    for (const [name, { name: text }] of Object.entries(FILTERS)) {
      this.filter.append(element("option", { value: name, textContent: text }));
    }
    this.rows = {};
    this.sliders = {};
    const rows = Object.entries(PARAMETERS).map(([name, parameter]) => {
      const [row, slider, output] = this.slider(name, parameter, (value) => (this.values[name] = value));
      this.rows[name] = row;
      this.sliders[name] = { slider, output, parameter };
      return row;
    });
    const [row, slider, output] = this.slider("lambda", { ...LAMBDA, label: "λ" }, () => (this.chosen.checked = false));
    this.lambda = { slider, output };
    slider.value = LAMBDA.place(1);
    this.chosen = element("input", { type: "checkbox", id: "lambda-auto", checked: true, onchange: () => this.say(false) });
    this.design = element("input", { type: "text", id: "design", spellcheck: false, "aria-describedby": "design-help" });
    const given = (event) => {
      event.preventDefault();
      this.change({ design: this.design.value, lambda: this.lambdaValue() }, false);
    };
    body.append(
      element("div", { className: "row wide" }, element("label", { for: "filter", textContent: "filter" }), this.filter),
      ...rows,
      row,
      element("label", { className: "line" }, this.chosen, "choose λ by exact leave-one-out"),
      element("form", { onsubmit: given },
        element("div", { className: "row wide" },
          element("label", { for: "design", textContent: "design" }),
          element("span", { className: "inline" }, this.design, element("button", { textContent: "Try" })))),
      element("p", { id: "design-help", className: "soft", textContent: "Several channels side by side: sgc:depth=2 + 0.5*identity/unit" }),
      (this.chart = element("div", { id: "response" })),
    );
  }

  slider(name, { least, most, step, value, label }, set) {
    const output = element("output", { id: `${name}-value` });
    const slider = element("input", { type: "range", id: name, min: least, max: most, step });
    const moved = (moving) => () => {
      const now = value(Number(slider.value));
      output.textContent = short(now);
      slider.setAttribute("aria-valuetext", short(now));
      set(now);
      this.say(moving);
    };
    slider.addEventListener("input", moved(true));
    slider.addEventListener("change", moved(false));
    const row = element("div", { className: "row" }, element("label", { for: name, textContent: label }), slider, output);
    return [row, slider, output];
  }

  lambdaValue() {
    return this.chosen.checked ? undefined : Number(LAMBDA.value(Number(this.lambda.slider.value)).toPrecision(4));
  }

  say(moving) {
    const name = this.filter.value;
    const limit = name === "highpass" ? HIGH_PASS_DEPTH : PARAMETERS.depth.most;
    this.values.depth = Math.min(this.values.depth, limit);
    const parameters = FILTERS[name].parameters.map((p) => `${p}=${Number(this.values[p].toPrecision(4))}`);
    const design = parameters.length ? `${name}:${parameters.join(",")}` : name;
    this.change({ design, lambda: this.lambdaValue() }, moving);
  }

  /** Shows what the server says, but leaves alone what somebody is moving. */
  show({ settings, model }) {
    const active = document.activeElement;
    if (settings.filter) this.filter.value = settings.filter;
    const there = FILTERS[settings.filter]?.parameters ?? [];
    for (const [name, row] of Object.entries(this.rows)) row.hidden = !there.includes(name);
    for (const [name, value] of settings.parameters) {
      if (!this.sliders[name]) continue;
      const { slider, output, parameter } = this.sliders[name];
      this.values[name] = value;
      if (name === "depth") slider.max = settings.filter === "highpass" ? HIGH_PASS_DEPTH : Math.max(64, value);
      if (slider !== active) slider.value = parameter.place(value);
      output.textContent = short(value);
      slider.setAttribute("aria-valuetext", short(value));
    }
    if (this.design !== active) this.design.value = settings.design;
    this.chosen.checked = settings.lambda === null;
    const lambda = settings.lambda ?? model?.lambda;
    if (lambda) {
      if (this.lambda.slider !== active || settings.lambda === null) this.lambda.slider.value = LAMBDA.place(lambda);
      this.lambda.output.textContent = short(lambda);
    }
  }
}
