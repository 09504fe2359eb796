// The map: nodes and edges on a canvas, moved and zoomed by mouse, finger and keyboard.

// Edges and nodes that are drawn while the map moves, at most.
const MOVING_EDGES = 4000;
const MOVING_NODES = 20_000;
// Milliseconds that a frame may take to come before less is drawn, and under which more is.
const SLOW = 40;
const QUICK = 20;

export class GraphMap extends EventTarget {
  constructor(canvas) {
    super();
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.places = new Float32Array();
    this.ends = new Uint32Array();
    this.coding = null;
    this.chosen = -1;
    this.changed = new Set();
    this.terms = [];
    this.labelled = null;
    this.view = { scale: 1, x: 0, y: 0 };
    this.moving = false;
    this.share = 1; // Of what may be drawn while it moves.
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.listen();
  }

  /** Another graph; the part that is shown stays as it is unless it is the first. */
  setGraph({ places, ends }) {
    const first = this.places.length === 0;
    this.places = places;
    this.ends = ends;
    if (first) this.fit();
    this.draw();
  }

  /** Other colours, drawn at once. */
  setCoding(coding, labelled) {
    this.coding = coding;
    this.labelled = labelled;
    // Nodes by colour, so that each colour is set once.
    const counts = new Uint32Array(coding.palette.length + 1);
    coding.index.forEach((colour) => (counts[colour + 1] += 1));
    for (let k = 1; k < counts.length; k += 1) counts[k] += counts[k - 1];
    this.starts = counts.slice();
    this.byColour = new Uint32Array(coding.index.length);
    coding.index.forEach((colour, node) => (this.byColour[counts[colour]++] = node));
    this.paint();
  }

  setMarks({ chosen = this.chosen, changed = this.changed, terms = this.terms }) {
    Object.assign(this, { chosen, changed, terms });
    this.draw();
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    const before = [this.width, this.height];
    [this.width, this.height] = [width, height];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    if (before[0]) {
      this.view.x += (width - before[0]) / 2;
      this.view.y += (height - before[1]) / 2;
    } else {
      this.fit();
    }
    this.paint();
  }

  /** Shows everything. */
  fit() {
    if (!this.width) return;
    const scale = 0.46 * Math.min(this.width, this.height);
    this.view = { scale, x: this.width / 2, y: this.height / 2 };
  }

  screen(node) {
    const { scale, x, y } = this.view;
    return [x + scale * this.places[2 * node], y + scale * this.places[2 * node + 1]];
  }

  /** Draws with the next frame. */
  draw() {
    if (this.wanted) return;
    const asked = performance.now();
    this.wanted = requestAnimationFrame(() => {
      if (this.moving) this.pace(performance.now() - asked);
      this.paint();
    });
  }

  /** A moving map keeps up with the hand: frames come late while the last one is still being drawn. */
  pace(waited) {
    if (waited > SLOW) this.share = Math.max(0.1, 0.7 * this.share);
    else if (waited < QUICK) this.share = Math.min(1, 1.2 * this.share);
  }

  /** Of so many things every how many-th is drawn now. */
  every(count, most) {
    return this.moving ? Math.max(1, Math.ceil(count / (most * this.share))) : 1;
  }

  paint() {
    cancelAnimationFrame(this.wanted);
    this.wanted = 0;
    if (!this.width || !this.coding || 2 * this.coding.index.length !== this.places.length) return;
    const ratio = window.devicePixelRatio || 1;
    const { context, width, height, places, view } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(this.canvas);
    this.paintEdges(style.getPropertyValue("--edge"));
    const nodes = places.length / 2;
    const zoom = view.scale / (0.46 * Math.min(width, height));
    const base = nodes > 50_000 ? 1.1 : nodes > 8000 ? 1.6 : nodes > 500 ? 2.6 : 6;
    const radius = Math.min(9, base * Math.sqrt(zoom));
    this.radius = radius;
    const round = radius > 2;
    const every = this.every(nodes, MOVING_NODES);
    this.coding.palette.forEach((colour, k) => {
      context.fillStyle = colour;
      context.beginPath();
      for (let place = this.starts[k]; place < this.starts[k + 1]; place += every) {
        const node = this.byColour[place];
        const x = view.x + view.scale * places[2 * node];
        const y = view.y + view.scale * places[2 * node + 1];
        if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
        if (round) {
          context.moveTo(x + radius, y);
          context.arc(x, y, radius, 0, 7);
        } else {
          context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
        }
      }
      if (round) context.fill();
    });
    this.paintMarks(style, radius, every);
    this.dispatchEvent(new Event("drawn"));
  }

  paintEdges(colour) {
    const { context, ends, places, view, width, height } = this;
    const count = ends.length / 2;
    const every = this.every(count, MOVING_EDGES);
    context.strokeStyle = colour;
    context.lineWidth = 0.8;
    // Many edges are faint, or nothing else could be seen.
    context.globalAlpha = Math.min(1, Math.sqrt(6000 / Math.max(1, count / every)));
    context.beginPath();
    for (let k = 0; k < count; k += every) {
      const [a, b] = [2 * ends[2 * k], 2 * ends[2 * k + 1]];
      const ax = view.x + view.scale * places[a];
      const ay = view.y + view.scale * places[a + 1];
      const bx = view.x + view.scale * places[b];
      const by = view.y + view.scale * places[b + 1];
      if ((ax < 0 && bx < 0) || (ay < 0 && by < 0) || (ax > width && bx > width) || (ay > height && by > height)) continue;
      context.moveTo(ax, ay);
      context.lineTo(bx, by);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  paintMarks(style, radius, every) {
    const { context } = this;
    const ring = (node, size, colour, line) => {
      const [x, y] = this.screen(node);
      context.strokeStyle = colour;
      context.lineWidth = line;
      context.beginPath();
      context.arc(x, y, size, 0, 7);
      context.stroke();
    };
    const halo = style.getPropertyValue("--halo");
    if (this.labelled && radius > 1.2 && every === 1) {
      // Nodes that are trained on have a dark edge.
      context.strokeStyle = halo;
      context.lineWidth = Math.min(1.6, radius / 2.2);
      context.beginPath();
      for (let node = 0; node < this.labelled.length; node += 1) {
        if (this.labelled[node] === 65535) continue;
        const [x, y] = this.screen(node);
        if (x < -9 || y < -9 || x > this.width + 9 || y > this.height + 9) continue;
        context.moveTo(x + radius, y);
        context.arc(x, y, radius, 0, 7);
      }
      context.stroke();
    }
    for (const node of this.changed) ring(node, radius + 3, style.getPropertyValue("--bad"), 1.6);
    const most = Math.max(1e-12, ...this.terms.map(([, value]) => Math.abs(value)));
    for (const [node, value] of this.terms) {
      const [x, y] = this.screen(node);
      const [a, b] = this.screen(this.chosen);
      const share = Math.abs(value) / most;
      context.strokeStyle = style.getPropertyValue(value > 0 ? "--good" : "--bad");
      context.lineWidth = 1 + 4 * share;
      context.beginPath();
      context.moveTo(a, b);
      context.lineTo(x, y);
      context.stroke();
      ring(node, radius + 2 + 6 * share, context.strokeStyle, 2);
    }
    if (this.chosen >= 0) {
      ring(this.chosen, radius + 4, halo, 2.5);
      ring(this.chosen, radius + 8, halo, 1);
    }
  }

  /** The node nearest to a point of the canvas, if it is near. */
  find(px, py, near = Math.max(12, this.radius + 6)) {
    let best = -1;
    let least = near * near;
    const { scale, x, y } = this.view;
    for (let node = 0; node < this.places.length / 2; node += 1) {
      const dx = x + scale * this.places[2 * node] - px;
      const dy = y + scale * this.places[2 * node + 1] - py;
      const distance = dx * dx + dy * dy;
      if (distance < least) [best, least] = [node, distance];
    }
    return best;
  }

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const { view } = this;
    const least = 0.1 * Math.min(this.width, this.height);
    const scale = Math.min(4000 * least, Math.max(least, view.scale * factor));
    const grown = scale / view.scale;
    Object.assign(view, { scale, x: px + (view.x - px) * grown, y: py + (view.y - py) * grown });
    this.move();
  }

  pan(dx, dy) {
    this.view.x += dx;
    this.view.y += dy;
    this.move();
  }

  /** Draws less until the map rests. */
  move() {
    this.moving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.moving = false;
      this.draw();
    }, 140);
    this.draw();
  }

  /** Brings a node to the middle, near enough to see it. */
  show(node) {
    // Small graphs can be seen as they are.
    const wanted = (this.places.length > 600 ? 1.2 : 0.46) * Math.min(this.width, this.height);
    if (this.view.scale < wanted) this.view.scale = wanted;
    const [x, y] = this.screen(node);
    this.pan(this.width / 2 - x, this.height / 2 - y);
  }

  choose(node) {
    this.dispatchEvent(new CustomEvent("choose", { detail: node }));
  }

  listen() {
    const { canvas } = this;
    const fingers = new Map();
    let travelled = 0;
    const spread = () => {
      const [a, b] = [...fingers.values()];
      return Math.hypot(a.x - b.x, a.y - b.y);
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      travelled = fingers.size > 1 ? Infinity : 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      const [x, y] = [event.offsetX, event.offsetY];
      if (!before) {
        this.dispatchEvent(new CustomEvent("hover", { detail: { node: this.find(x, y), x, y } }));
        return;
      }
      if (fingers.size === 2) {
        const old = spread();
        fingers.set(event.pointerId, { x, y });
        const [a, b] = [...fingers.values()];
        this.zoom(spread() / Math.max(old, 1), (a.x + b.x) / 2, (a.y + b.y) / 2);
        return;
      }
      travelled += Math.abs(x - before.x) + Math.abs(y - before.y);
      if (travelled > 4) this.pan(x - before.x, y - before.y);
      fingers.set(event.pointerId, { x, y });
    });
    const up = (event) => {
      const down = fingers.delete(event.pointerId);
      if (!down || event.type !== "pointerup" || travelled > 4) return;
      const node = this.find(event.offsetX, event.offsetY);
      this.choose(node);
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => {
      this.dispatchEvent(new CustomEvent("hover", { detail: { node: -1, x: 0, y: 0 } }));
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / (event.deltaMode ? 20 : 400)), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("dblclick", (event) => this.zoom(2, event.offsetX, event.offsetY));
    canvas.addEventListener("keydown", (event) => {
      const step = 40;
      const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (moves[event.key]) this.pan(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1.3);
      else if (event.key === "-") this.zoom(1 / 1.3);
      else if (event.key === "0") {
        this.fit();
        this.move();
      } else if (event.key === "Enter") this.choose(this.find(this.width / 2, this.height / 2, Infinity));
      else if (event.key === "Escape") this.choose(-1);
      else return;
      event.preventDefault();
    });
  }
}
