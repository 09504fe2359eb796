// What belongs together: the graph, the version that is shown, what can be undone.

import * as server from "./server.js";
import { GraphMap } from "./map.js";
import { code, NONE } from "./colours.js";
import { Controls } from "./controls.js";
import { response, quality } from "./quality.js";
import { details } from "./details.js";
import { Labelling } from "./labelling.js";
import { element } from "./elements.js";

const $ = (id) => document.getElementById(id);
const map = new GraphMap($("map"));
let graph = null;
let view = null;
let numbers = new Map();
let chosen = null;
const undoable = []; // Versions to go back to.

function say(text, isError = false) {
  $("status").textContent = text;
  $("status").classList.toggle("error", isError);
}

/** Does something that may fail, and says why it did. */
async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    say(error.message, true);
    return undefined;
  }
}

function showGraph(next) {
  graph = next;
  numbers = new Map(graph.ids.map((id, node) => [id, node]));
  $("name").textContent = graph.name;
  $("name").title = graph.name;
  document.title = `${graph.name} – gfgcn explore`;
  const sample = graph.shown_edges < graph.edges ? `, ${graph.shown_edges} of them drawn` : "";
  $("size").textContent = `${graph.nodes} nodes, ${graph.edges} edges${sample}`;
}

function colour() {
  const coding = code(view, $("colour").value);
  map.setCoding(coding, view.label);
  $("legend").replaceChildren(...coding.legend.slice(0, 40).map(({ name, colour: own, count }) => {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = own;
    return element("li", {}, swatch, element("span", { className: "name", textContent: name, title: name }),
      count === null ? null : element("span", { className: "count", textContent: count }));
  }));
}

/** Nodes that are predicted to be something else than before. */
function differences(before, after) {
  const changed = new Set();
  if (before.predicted.length !== after.predicted.length) return changed;
  const name = (v, node) => (v.predicted[node] === NONE ? null : v.classes[v.predicted[node]]);
  for (let node = 0; node < after.predicted.length; node += 1) {
    if (name(before, node) !== name(after, node)) changed.add(node);
  }
  return changed;
}

function show(next) {
  view = next;
  colour();
  controls.show(view);
  if (graph.density) response(controls.chart, view, graph.density);
  quality($("quality").querySelector(".body"), view);
  labelling.show(view.classes);
  $("undo").disabled = undoable.length === 0;
  $("save-model").disabled = !view.model;
  $("save-labels").disabled = !view.model;
}

/** Makes a change, shows what came of it and marks what is different. */
async function change(kind, what, { reshapes = false, undo = true, said = null } = {}) {
  return attempt(async () => {
    const before = view;
    const after = await server.change(kind, what);
    if (undo) undoable.push(before.version);
    if (reshapes || after.predicted.length !== graph.nodes) {
      showGraph(await server.graph());
      map.setGraph(graph);
    }
    const changed = differences(before, after);
    map.changed = changed;
    show(after);
    const count = changed.size > 1 ? `${changed.size} nodes are` : `${changed.size || "No"} node is`;
    const effect = reshapes && before.predicted.length !== after.predicted.length ? "" : ` ${count} predicted differently.`;
    say(`${said ?? "Done."}${effect}`);
    if (chosen !== null) await choose(chosen);
    return after;
  });
}

// Sliders: one request at a time, and always the last position.
let waiting = null;
let busy = false;
let base = null;
let last = null;
async function settings(wanted, moving) {
  base ??= view.version;
  waiting = { wanted, moving };
  if (busy) return;
  busy = true;
  while (waiting) {
    const { wanted: now, moving: still } = waiting;
    waiting = null;
    const text = now.lambda === undefined ? now.design : `${now.design}, λ = ${now.lambda}`;
    // A slider says where it is once more when it is let go.
    if (text !== last?.text || view.version !== last.version) {
      const made = await change("settings", now, { undo: false, said: `${text}.` });
      last = made ? { text, version: made.version } : null;
    }
    if (!still && !waiting) {
      if (base !== view.version) undoable.push(base);
      base = null;
      $("undo").disabled = undoable.length === 0;
    }
  }
  busy = false;
}

async function undo() {
  if (undoable.length === 0) return;
  const to = undoable.pop();
  await change("rollback", { to }, { reshapes: true, undo: false, said: "Undone." });
}

const nameOf = (number) => (number === NONE ? null : view.classes[number]);

/** Shows a node and why it is what it is; nothing for null. */
async function choose(id, moveThere = false) {
  if (id === null || !numbers.has(id)) {
    chosen = null;
    $("node").hidden = true;
    map.setMarks({ chosen: -1, terms: [] });
    return;
  }
  chosen = id;
  const node = numbers.get(id);
  map.setMarks({ chosen: node, terms: [] });
  if (moveThere) map.show(node);
  await attempt(async () => {
    const found = await server.node(id);
    if (chosen !== id) return;
    const known = { label: nameOf(view.label[node]), known: nameOf(view.known[node]), judged: nameOf(view.judged[node]) };
    details($("node"), id, found, known, view.classes, {
      choose: (other) => choose(other, true),
      show: () => map.show(node),
      close: () => choose(null),
      label: (name) => change("update", { labels: { [id]: name } }, { said: `${id} is labelled ${name}.` }),
      removeLabel: () => change("forget", { labels_of: [id] }, { said: `The label of ${id} is forgotten.` }),
      dropEdge: (other) => change("forget", { edges: [[id, other]] }, { reshapes: true, said: `The edge from ${id} to ${other} is gone.` }),
      dropNode: () => change("forget", { nodes: [id] }, { reshapes: true, said: `${id} is gone.` }).then(() => choose(null)),
    });
    const terms = (found.why?.nodes.terms ?? []).map(({ name, value }) => [numbers.get(name), value]);
    map.setMarks({ terms: terms.filter(([other]) => other !== undefined && other !== node) });
  });
}

const controls = new Controls($("model").querySelector(".body"), settings);
const labelling = new Labelling($("labelling").querySelector(".body"), {
  propose: (by, except) => attempt(() => server.next(by, except)),
  choose: (id) => choose(id, true),
  label: (id, name) => change("update", { labels: { [id]: name } }, { said: `${id} is labelled ${name}.` }),
});

map.addEventListener("choose", ({ detail: node }) => choose(node < 0 ? null : graph.ids[node]));
map.addEventListener("hover", ({ detail: { node, x, y } }) => {
  const box = $("tooltip");
  box.hidden = node < 0;
  $("map").classList.toggle("over", node >= 0);
  if (node < 0) return;
  const predicted = nameOf(view.predicted[node]);
  box.textContent = predicted === null ? graph.ids[node] : `${graph.ids[node]}: ${predicted}`;
  const left = Math.min(x + 12, $("stage").clientWidth - box.offsetWidth - 6);
  box.style.left = `${Math.max(0, left)}px`;
  box.style.top = `${y + 14}px`;
});
$("colour").addEventListener("change", colour);
$("undo").addEventListener("click", undo);
$("save-labels").addEventListener("click", () => attempt(() => server.save("/v1/labels", "labels.csv")));
$("save-model").addEventListener("click", () => attempt(() => server.save("/v1/model", `${graph.name}.model`)));
$("query").addEventListener("input", ({ target: { value } }) => {
  const found = value ? graph.ids.filter((id) => id.includes(value)).slice(0, 20) : [];
  $("found").replaceChildren(...found.map((id) => element("option", { value: id })));
});
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const wanted = $("query").value.trim();
  const id = numbers.has(wanted) ? wanted : graph.ids.find((other) => other.includes(wanted));
  if (wanted === "" || id === undefined) say(`There is no node ${JSON.stringify(wanted)}.`, true);
  else choose(id, true);
});

function theme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
  try {
    localStorage.setItem("theme", name);
  } catch { /* Where nothing may be kept, the page works all the same. */ }
  if (view) colour();
}

function rememberedTheme() {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

$("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
theme(rememberedTheme() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input:not([type=range]):not([type=checkbox]), select, textarea");
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && !typing) undo();
  else if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
  else if (event.key === "/") $("query").focus();
  else if (event.key === "u") undo();
  else if (event.key === "n") {
    $("labelling").open = true;
    labelling.next();
  } else if (event.key === "Escape") choose(null);
  else if (!labelling.key(event)) return;
  event.preventDefault();
});

await attempt(async () => {
  const [first, now] = await Promise.all([server.graph(), server.current()]);
  showGraph(first);
  map.setGraph(graph);
  show(now);
  if (!view.model) $("labelling").open = true;
  say(view.model ? "Click a node, or move a slider." : "Nothing is labelled yet: ask for a node and say what it is.");
});
document.documentElement.dataset.ready = "yes";
