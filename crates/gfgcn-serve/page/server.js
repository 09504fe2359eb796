// Asking the server.

// A token comes behind the #, which is not sent, and is not left in the address.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) history.replaceState(null, "", location.pathname);

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Error(problem.error ?? `The server says ${response.status}.`);
}

/** Takes JSON and the arrays behind it apart. */
class Packed {
  constructor(buffer) {
    this.buffer = buffer;
    const length = new DataView(buffer).getUint32(0, true);
    this.header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    this.place = 4 + length;
  }

  take(kind, count) {
    const array = new kind(this.buffer, this.place, count);
    this.place += Math.ceil(array.byteLength / 4) * 4;
    return array;
  }
}

const packed = async (response) => new Packed(await (await response).arrayBuffer());

export async function graph() {
  const answer = await packed(ask("/explore/graph"));
  const { nodes, shown_edges: edges } = answer.header;
  return { ...answer.header, places: answer.take(Float32Array, 2 * nodes), ends: answer.take(Uint32Array, 2 * edges) };
}

function view(answer) {
  const { nodes } = answer.header;
  const numbers = () => answer.take(Uint16Array, nodes);
  return {
    ...answer.header,
    predicted: numbers(),
    judged: numbers(),
    label: numbers(),
    known: numbers(),
    confidence: answer.take(Float32Array, nodes),
  };
}

export async function current() {
  return view(await packed(ask("/explore/view")));
}

const post = (path, what) =>
  ask(path, { method: "POST", body: JSON.stringify(what), headers: { "Content-Type": "application/json" } });

/** Makes a change; the view after it. */
export async function change(kind, what) {
  return view(await packed(post("/explore/change", { change: kind, ...what })));
}

export const node = async (id) => (await ask(`/explore/nodes/${encodeURIComponent(id)}`)).json();

/** A node to label, by gain or uncertainty, but none of some. */
export const next = async (by, except) => (await post("/explore/next", { by, except })).json();

/** Has the browser save a file of the server's. */
export async function save(path, name) {
  const content = await (await ask(path)).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
