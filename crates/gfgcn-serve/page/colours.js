// Colours of nodes.

// Apart for eyes that see colours differently, on white and on black; after Paul Tol's muted and bright schemes.
const CLASSES = [
  "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee8866", "#44bb99",
  "#8877cc", "#997700", "#77aadd", "#cc6677", "#999933", "#882255", "#117733", "#ddaacc",
];
export const NONE = 65535;
const numbers = new Map();

/** The colour of a class, which it keeps whatever other classes come and go. */
export function ofClass(name) {
  if (!numbers.has(name)) numbers.set(name, numbers.size);
  const k = numbers.get(name);
  if (k < CLASSES.length) return CLASSES[k];
  return `hsl(${(k * 137.5) % 360} 55% 55%)`;
}

const STEPS = 12;
const dark = () => document.documentElement.dataset.theme === "dark";
const unknown = () => (dark() ? "#4a5464" : "#c3cad3");

// From unsure over undecided to sure.
const RAMPS = {
  light: [[226, 120, 38], [206, 190, 186], [31, 95, 191]],
  dark: [[255, 150, 70], [112, 108, 122], [106, 165, 255]],
};

function ofConfidence(step) {
  const ramp = RAMPS[dark() ? "dark" : "light"];
  const place = (2 * step) / (STEPS - 1);
  const from = Math.min(1, Math.floor(place));
  const mixed = ramp[from].map((part, k) => Math.round(part + (place - from) * (ramp[from + 1][k] - part)));
  return `rgb(${mixed.join(", ")})`;
}

/**
 * Colours by name of a coding: which colour each node has, as positions in a list of them, and what a legend says.
 * @returns {{palette: string[], index: Uint8Array|Uint16Array, legend: {name: string, colour: string, count: number|null}[]}}
 */
export function code(view, by) {
  const nodes = view.predicted.length;
  const index = new Uint16Array(nodes);
  if (by === "confidence") {
    const palette = Array.from({ length: STEPS }, (_, step) => ofConfidence(step));
    palette.push(unknown());
    for (let i = 0; i < nodes; i += 1) {
      const step = Math.min(STEPS - 1, Math.floor(view.confidence[i] * STEPS));
      index[i] = view.predicted[i] === NONE ? STEPS : step;
    }
    const ends = [["unsure", 0], ["sure by half", STEPS / 2], ["sure", STEPS - 1]];
    return { palette, index, legend: ends.map(([name, k]) => ({ name, colour: palette[k], count: null })) };
  }
  if (by === "error") {
    const style = getComputedStyle(document.documentElement);
    const palette = [style.getPropertyValue("--good").trim(), style.getPropertyValue("--bad").trim(), unknown()];
    const counts = [0, 0, 0];
    for (let i = 0; i < nodes; i += 1) {
      const judged = view.known[i] !== NONE && view.judged[i] !== NONE;
      index[i] = judged ? Number(view.known[i] !== view.judged[i]) : 2;
      counts[index[i]] += 1;
    }
    const names = ["right", "wrong", "not known"];
    const legend = names.map((name, k) => ({ name, colour: palette[k], count: counts[k] }));
    return { palette, index, legend: legend.filter(({ name, count }) => count > 0 || name !== "not known") };
  }
  const classes = view.classes;
  const palette = [...classes.map(ofClass), unknown()];
  const counts = new Array(palette.length).fill(0);
  for (let i = 0; i < nodes; i += 1) {
    const of = view[by][i];
    index[i] = of === NONE ? classes.length : of;
    counts[index[i]] += 1;
  }
  const names = [...classes, by === "known" ? "not known" : "not predicted"];
  const legend = names.map((name, k) => ({ name, colour: palette[k], count: counts[k] }));
  if (legend.at(-1).count === 0) legend.pop();
  return { palette, index, legend };
}
