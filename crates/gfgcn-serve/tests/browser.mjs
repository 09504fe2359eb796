// Uses the explorer as a person does: browser.mjs PROGRAM [SCREENSHOTS], by tests/browser/run.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { PHONE, browser, fits, forgive, open as openPage, run } from "../../../tests/browser/harness.mjs";

const [program, screenshots] = process.argv.slice(2).map((path) => resolve(path));
const folder = mkdtempSync(join(tmpdir(), "gfgcn-explore-"));
const servers = [];

/** Names that would do something if they were not shown as text. */
const EVIL = '<img src=x onerror="document.title=1">';

/** A folder of tables: three rings of nodes with features of their own; some are labelled unless nothing should be. */
function rings(name, { labelled = 3, evil = false, size = 12 } = {}) {
  const classes = ["ants", "bees", evil ? `<b>${EVIL}</b>` : "cats"];
  const quote = (text) => `"${text.replaceAll('"', '""')}"`;
  const id = (k, i) => (evil && k === 2 ? `${EVIL}-${i}` : `${["ants", "bees", "cats"][k]}-${i}`);
  const [edges, features, labels] = [["source,target"], [`id,wings,legs,${quote(evil ? EVIL : "fur")}`], ["id,label"]];
  classes.forEach((label, k) => {
    for (let i = 0; i < size; i += 1) {
      edges.push(`${quote(id(k, i))},${quote(id(k, (i + 1) % size))}`);
      edges.push(`${quote(id(k, i))},${quote(id(k, (i + 3) % size))}`);
      features.push(`${quote(id(k, i))},${k === 1 ? 1 : 0},${(i % 4) / 4},${k === 2 ? 1 : 0}`);
      if (i < labelled) labels.push(`${quote(id(k, i))},${quote(label)}`);
    }
    edges.push(`${quote(id(k, 5))},${quote(id((k + 1) % 3, 5))}`);
  });
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  for (const [file, lines] of Object.entries({ edges, features, labels })) {
    if (file !== "labels" || labelled) writeFileSync(join(path, `${file}.csv`), `${lines.join("\n")}\n`);
  }
  return path;
}

/** Starts the program, and says where it listens. */
async function explore(...options) {
  const child = spawn(program, ["explore", ...options, "--port", "0", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  servers.push(child);
  let text = "";
  for await (const part of child.stdout) {
    text += part;
    try {
      return { child, url: JSON.parse(text).address };
    } catch { /* Not all of it is there. */ }
  }
  throw new Error(`gfgcn explore ${options} ended: ${text}`);
}

async function open(url, options = {}) {
  const { origin } = new URL(url);
  const own = new RegExp(`^(data:|blob:|${origin.replaceAll(".", "\\.")}/)`);
  const page = await openPage(url, own, options);
  await page.waitForSelector("html[data-ready]");
  return page;
}

/** What the server says of the version that it shows, but for its number. */
const state = (page) =>
  page.evaluate(async () => {
    const bytes = new Uint8Array(await (await fetch("/explore/view")).arrayBuffer());
    const length = new DataView(bytes.buffer).getUint32(0, true);
    const { version, ...header } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    const model = new Uint8Array(await (await fetch("/v1/model")).arrayBuffer());
    return { version, header, arrays: [...bytes.subarray(4 + length)].join(), model: model.join() };
  });

const without = ({ version, ...rest }) => rest;
const status = (page) => page.locator("#status").textContent();

/** Does something, and waits until the page says what came of it. */
async function after(page, work) {
  const before = await page.evaluate(() => {
    document.getElementById("status").textContent = "…";
    return true;
  });
  assert.ok(before);
  await work();
  await page.waitForFunction(() => document.getElementById("status").textContent !== "…");
  return status(page);
}

/** Moves a slider as a hand does: many positions, then the hand is lifted. */
const slide = (page, id, positions) =>
  page.locator(`#${id}`).evaluate((slider, places) => {
    for (const place of places) {
      slider.value = place;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    }
    slider.dispatchEvent(new Event("change", { bubbles: true }));
  }, positions);

/** Waits until the page says something of the last of several positions: a slow machine answers for those before it, too. */
const says = (page, text) =>
  page.waitForFunction((wanted) => document.getElementById("status").textContent.includes(wanted), text);

async function find(page, id) {
  await page.locator("#query").fill(id);
  await page.locator("#query").press("Enter");
  await page.waitForFunction((wanted) => document.getElementById("node-id")?.textContent === wanted, id);
}

/** Colours that are on the map, by how many points have them. */
const coloursOn = (page) =>
  page.evaluate(() => {
    const map = document.getElementById("map");
    const canvas = new OffscreenCanvas(map.width, map.height);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(map, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const counts = {};
    for (let k = 0; k < data.length; k += 4) {
      if (data[k + 3] < 255) continue;
      const colour = `${data[k]},${data[k + 1]},${data[k + 2]}`;
      counts[colour] = (counts[colour] ?? 0) + 1;
    }
    return counts;
  });

const rgb = (page) =>
  page.locator("#legend .swatch").evaluateAll((all) =>
    all.map((one) => getComputedStyle(one).backgroundColor.match(/\d+/g).slice(0, 3).join()));

const tests = {
  async "draws every node in the colour of its class"() {
    const { url } = await explore(rings("plain"));
    const page = await open(url);
    assert.equal(await page.locator("#size").textContent(), "36 nodes, 75 edges");
    const names = await page.locator("#legend .name").allTextContents();
    assert.deepEqual(names, ["ants", "bees", "cats"]);
    assert.deepEqual(await page.locator("#legend .count").allTextContents(), ["12", "12", "12"]);
    const [there, wanted] = [await coloursOn(page), await rgb(page)];
    for (const colour of wanted) assert.ok(there[colour] > 300, `${colour} in ${JSON.stringify(there)}`);
    for (const by of ["known", "error", "confidence", "predicted"]) {
      await page.locator("#colour").selectOption(by);
      const [now, legend] = [await coloursOn(page), await rgb(page)];
      // Colours that are computed may be off by one.
      const near = (one, other) => one.split(",").every((part, k) => Math.abs(part - other.split(",")[k]) <= 1);
      const shown = Object.entries(now).filter(([colour, count]) => count > 50 && legend.some((other) => near(colour, other)));
      assert.ok(shown.length >= 1, `${by}: ${legend} in ${JSON.stringify(now)}`);
    }
    await fits(page);
  },

  async "every setting makes the model that it says"() {
    const { url } = await explore(rings("settings"));
    const page = await open(url);
    const info = () => page.evaluate(async () => (await fetch("/v1/info")).json());
    const check = async (design) => {
      const { members: [member], selection_score: score } = await info();
      assert.equal(member.design, design);
      const shown = await page.locator("#scores .big").first().textContent();
      // By leave-one-out, λ is chosen; what the page counts by itself must be the same.
      if (score !== null) assert.equal(shown, `${(100 * score).toFixed(1)} %`);
      const value = await page.locator("#lambda-value").textContent();
      assert.ok(Math.abs(Number(value) / member.lambda - 1) < 0.05, `${value} and ${member.lambda}`);
      assert.ok((await page.locator("#response .curve").count()) >= 1);
    };
    await check("ssgc:depth=8,tau=0.05");
    await after(page, () => slide(page, "depth", [9, 10, 12, 3]));
    await says(page, "depth=3");
    await check("ssgc:depth=3,tau=0.05");
    await after(page, () => slide(page, "tau", [0.3]));
    await check("ssgc:depth=3,tau=0.3");
    const filters = { sgc: "sgc:depth=3", dgc: "dgc:depth=3,time=5.27", highpass: "highpass:depth=3", identity: "identity", ppr: "ppr:alpha=0.1", heat: "heat:time=5.27" };
    for (const [filter, design] of Object.entries(filters)) {
      await after(page, () => page.locator("#filter").selectOption(filter));
      await check(design);
      assert.equal(await page.locator("#depth").isVisible(), design.includes("depth"));
    }
    await after(page, () => slide(page, "time", [1]));
    await check("heat:time=10");
    await after(page, () => page.locator("#filter").selectOption("ppr"));
    await after(page, () => slide(page, "alpha", [0.5]));
    await check("ppr:alpha=0.5");
    await after(page, () => slide(page, "lambda", [2]));
    assert.equal((await info()).members[0].lambda, 100);
    assert.equal(await page.locator("#lambda-auto").isChecked(), false);
    await after(page, () => page.locator("#lambda-auto").check());
    assert.notEqual((await info()).members[0].lambda, 100);
    await page.locator("#design").fill("sgc:depth=2 + 0.5*identity/unit");
    await after(page, () => page.locator("#design").press("Enter"));
    await check("sgc:depth=2 + 0.5*identity/unit");
    assert.equal(await page.locator("#response .curve").count(), 2);
    await page.locator("#design").fill("nonsense:depth=0");
    assert.match(await after(page, () => page.locator("#design").press("Enter")), /must be/);
    forgive(/422/);
    await check("sgc:depth=2 + 0.5*identity/unit");
  },

  async "a label changed and undone gives the very same state"() {
    const { url } = await explore(rings("undo"));
    const page = await open(url);
    const before = await state(page);
    await find(page, "ants-1");
    await page.locator("#node-label").fill("dogs");
    const said = await after(page, () => page.locator("#set-label").click());
    assert.match(said, /^ants-1 is labelled dogs\. (\d+ nodes are|(1|No) node is) predicted differently\.$/);
    assert.deepEqual(await page.locator("#legend .name").allTextContents(), ["ants", "bees", "cats", "dogs"]);
    const changed = await state(page);
    assert.notEqual(changed.arrays, before.arrays);
    await after(page, () => page.locator("#undo").click());
    assert.deepEqual(without(await state(page)), without(before));

    for (const [what, button] of [["label", "#remove-label"], ["node", "#drop-node"], ["edge", ".drop-edge"]]) {
      await find(page, "ants-1");
      await after(page, () => page.locator(button).first().click());
      const now = await state(page);
      assert.notDeepEqual(without(now), without(before), what);
      const size = await page.locator("#size").textContent();
      const expected = { label: "36 nodes, 75 edges", node: "35 nodes, 71 edges", edge: "36 nodes, 74 edges" };
      assert.equal(size, expected[what]);
      await after(page, () => page.keyboard.press("u"));
      assert.deepEqual(without(await state(page)), without(before), what);
    }
    await after(page, () => slide(page, "depth", [2, 3, 4]));
    await says(page, "depth=4");
    await after(page, () => page.locator("#undo").click());
    assert.deepEqual(without(await state(page)), without(before));
    assert.equal(await page.locator("#undo").isDisabled(), true);
  },

  async "a node says what it is and why, and the map shows it"() {
    const { url } = await explore(rings("why"));
    const page = await open(url);
    const [x, y] = await page.evaluate(async () => {
      const bytes = await (await fetch("/explore/graph")).arrayBuffer();
      const length = new DataView(bytes).getUint32(0, true);
      const { ids } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
      const places = new Float32Array(bytes, 4 + length, 2 * ids.length);
      const node = ids.indexOf("bees-7");
      const canvas = document.getElementById("map");
      const [width, height] = [canvas.clientWidth, canvas.clientHeight];
      const scale = 0.46 * Math.min(width, height);
      return [width / 2 + scale * places[2 * node], height / 2 + scale * places[2 * node + 1]];
    });
    await page.locator("#map").hover({ position: { x, y } });
    assert.equal(await page.locator("#tooltip").textContent(), "bees-7: bees");
    const plain = await coloursOn(page);
    await page.locator("#map").click({ position: { x, y } });
    await page.waitForSelector("#node-scores");
    assert.equal(await page.locator("#node-id").textContent(), "bees-7");
    assert.equal(await page.locator("#node-known").textContent(), "Not labelled. 4 neighbours.");
    const shares = await page.locator("#node-scores .value").allTextContents();
    const sum = shares.map(Number.parseFloat).reduce((a, b) => a + b);
    assert.ok(Math.abs(sum - 100) < 0.5, `${shares}`);
    const why = await page.evaluate(async () => (await fetch("/explore/nodes/bees-7")).json());
    assert.deepEqual(await page.locator("#node-set .tag").allTextContents(), why.set);
    const links = await page.locator("#node ul.terms a.node").allTextContents();
    assert.ok(links.includes(why.why.nodes.terms[1].name), `${links}`);
    await page.waitForTimeout(100);
    assert.notDeepEqual(await coloursOn(page), plain, "the explanation is drawn");
    await page.locator("#node ul.terms a.node").nth(1).click();
    await page.waitForFunction(() => document.getElementById("node-id").textContent !== "bees-7");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#node").isVisible(), false);
  },

  async "labels from nothing, by what is proposed"() {
    const { url } = await explore(rings("nothing", { labelled: 0 }));
    const page = await open(url);
    assert.match(await status(page), /Nothing is labelled yet/);
    assert.equal(await page.locator("#save-model").isDisabled(), true);
    await page.locator("#new-class").fill("ants");
    await page.locator("#new-class").press("Enter");
    assert.match(await page.locator("#proposed").textContent(), /Ask for a node first/);
    assert.equal(await page.locator("#new-class").inputValue(), "ants", "what was typed stays");
    await page.locator("#new-class").fill("");
    const proposed = () => page.locator("#proposed").textContent();
    const another = async (ask) => {
      const before = await proposed();
      await ask();
      await page.waitForFunction((old) => document.getElementById("proposed").textContent !== old, before);
    };
    for (const by of ["gain", "uncertainty"]) {
      await page.locator("#propose-by").selectOption(by);
      await another(() => page.locator("#propose").click());
    }
    await page.waitForSelector("#node-id");
    // Impatient clicks ask once: no node is passed over unseen.
    let asked = 0;
    page.on("request", (request) => { asked += request.url().endsWith("/explore/next"); });
    await another(() => page.evaluate(() => { for (let k = 0; k < 5; k += 1) document.getElementById("propose").click(); }));
    assert.equal(asked, 1);
    const seen = new Set();
    // Asked again without a label, it proposes another one.
    for (let k = 0; k < 3; k += 1) {
      const node = (await proposed()).split(":")[0];
      assert.ok(!seen.has(node), `${node} was passed over`);
      seen.add(node);
      await another(() => page.keyboard.press("n"));
    }
    for (let k = 0; k < 7; k += 1) {
      const node = (await proposed()).split(":")[0];
      assert.ok(!seen.has(node), `${node} was proposed twice`);
      seen.add(node);
      const label = node.split("-")[0];
      const button = page.locator("#label-buttons button", { hasText: label });
      if ((await button.count()) === 0) {
        await page.locator("#new-class").fill(label);
        await page.locator("#new-class").press("Enter");
      } else {
        const names = await page.locator("#label-buttons button").allTextContents();
        await page.locator("#map").focus();
        await page.keyboard.press(String(1 + names.findIndex((name) => name.startsWith(label))));
      }
      await page.waitForFunction((old) => !document.getElementById("proposed").textContent.startsWith(`${old}:`), node);
    }
    // With two or three labels of each, all nodes are what they are.
    assert.deepEqual(await page.locator("#legend .count").allTextContents(), ["12", "12", "12"]);
    const labels = await page.evaluate(async () => (await fetch("/v1/labels")).text());
    assert.equal(labels.trim().split("\n").length, 8);
  },

  async "can be used with the keyboard alone"() {
    const { url } = await explore(rings("keys"));
    const page = await open(url);
    const focused = () => page.evaluate(() => document.activeElement.id);
    for (let k = 0; (await focused()) !== "map"; k += 1) {
      assert.ok(k < 20, "the map cannot be reached");
      await page.keyboard.press("Tab");
    }
    const rest = await coloursOn(page);
    for (const key of ["+", "ArrowLeft", "ArrowUp", "-", "ArrowDown"]) await page.keyboard.press(key);
    await page.waitForTimeout(300);
    assert.notDeepEqual(await coloursOn(page), rest);
    await page.keyboard.press("0");
    await page.waitForTimeout(300);
    assert.deepEqual(await coloursOn(page), rest);
    await page.keyboard.press("Enter");
    await page.waitForSelector("#node-scores");
    await page.keyboard.press("/");
    assert.equal(await focused(), "query");
    await page.keyboard.type("cats-4");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.getElementById("node-id").textContent === "cats-4");
    await page.keyboard.type("nobody");
    assert.match(await after(page, () => page.keyboard.press("Enter")), /There is no node "cats-4nobody"/);
    for (let k = 0; (await focused()) !== "node-label"; k += 1) {
      assert.ok(k < 60, "the label cannot be reached");
      await page.keyboard.press("Tab");
    }
    await page.keyboard.type("ants");
    assert.match(await after(page, () => page.keyboard.press("Enter")), /cats-4 is labelled/);
    for (let k = 0; (await focused()) !== "depth"; k += 1) {
      assert.ok(k < 80, "the slider cannot be reached");
      await page.keyboard.press("Tab");
    }
    assert.match(await after(page, () => page.keyboard.press("ArrowRight")), /depth=9/);
    await after(page, () => page.keyboard.press("u"));
    await after(page, () => page.keyboard.press("u"));
    assert.equal(await page.locator("#undo").isDisabled(), true);
  },

  async "fits a phone"() {
    const { url } = await explore(rings("phone"));
    const page = await open(url, PHONE);
    await fits(page);
    const box = await page.locator("#map").boundingBox();
    assert.ok(box.width === 390 && box.height > 300, JSON.stringify(box));
    await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
    await find(page, "bees-2");
    await page.locator("#node-scores").scrollIntoViewIfNeeded();
    await fits(page);
    await after(page, () => slide(page, "depth", [4]));
    assert.match(await status(page), /depth=4/);
  },

  async "has a light and a dark side, and remembers it"() {
    const { url } = await explore(rings("theme"));
    const page = await open(url, { colorScheme: "light" });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.locator("#theme").click();
    const dark = await paper();
    assert.notEqual(light, dark);
    await page.reload();
    await page.waitForSelector("html[data-ready]");
    assert.equal(await paper(), dark);
    const system = await open(url, { colorScheme: "dark" });
    assert.equal(await system.evaluate(() => getComputedStyle(document.body).backgroundColor), dark);
  },

  async "shows names as text, whatever they are"() {
    const { url } = await explore(rings("evil", { evil: true }));
    const page = await open(url);
    let dialogs = 0;
    page.on("dialog", () => (dialogs += 1));
    await find(page, `${EVIL}-3`);
    await page.waitForSelector("#node-scores");
    assert.equal(await page.locator("#node-id").textContent(), `${EVIL}-3`);
    await page.locator("#labelling summary").click();
    await page.locator("#propose").click();
    await page.waitForFunction(() => document.getElementById("proposed").textContent.includes(":"));
    for (const by of ["known", "error", "confidence"]) await page.locator("#colour").selectOption(by);
    await page.locator("#colour").selectOption("predicted");
    const names = await page.locator("#legend .name").allTextContents();
    assert.ok(names.includes(`<b>${EVIL}</b>`), `${names}`);
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.locator("b").count(), 0);
    assert.equal(await page.title(), "evil – gfgcn explore");
    assert.equal(dialogs, 0);
  },

  async "saves the labels and the model"() {
    const { url } = await explore(rings("saved"));
    const page = await open(url);
    await find(page, "bees-9");
    await page.locator("#node-label").fill("a, \"quoted\" class");
    await after(page, () => page.locator("#set-label").click());
    for (const [button, name] of [["#save-labels", "labels.csv"], ["#save-model", "saved.model"]]) {
      const [download] = await Promise.all([page.waitForEvent("download"), page.locator(button).click()]);
      assert.equal(download.suggestedFilename(), name);
      await download.saveAs(join(folder, name));
    }
    const labels = readFileSync(join(folder, "labels.csv"), "utf8");
    assert.ok(labels.includes('bees-9,"a, ""quoted"" class"'), labels);
    const { stdout } = spawnSync(program, ["inspect", join(folder, "saved.model"), "--json"], { encoding: "utf8" });
    assert.ok(stdout.includes('a, \\"quoted\\" class'), stdout);
  },

  async "works with a token, which leaves the address"() {
    writeFileSync(join(folder, "secret"), "0123456789abcdef0123456789abcdef\n");
    const { url } = await explore(rings("token"), "--token-file", join(folder, "secret"));
    assert.match(url, /#token=/);
    const page = await open(url);
    assert.ok(!page.url().includes("token"), page.url());
    await find(page, "ants-1");
    const stranger = await open(new URL(url).origin);
    assert.match(await status(stranger), /token is missing or wrong/);
    forgive(/401/);
  },

  async "goes on where a journal ends, and says when the server has gone"() {
    const options = [rings("journal"), "--journal", join(folder, "changes.journal")];
    const first = await explore(...options);
    const page = await open(first.url);
    await find(page, "cats-9");
    await page.locator("#node-label").fill("ants");
    await after(page, () => page.locator("#set-label").click());
    const before = await state(page);
    first.child.kill("SIGKILL");
    assert.match(await after(page, () => slide(page, "depth", [5])), /does not answer/);
    forgive(/ERR_CONNECTION|Failed to load/);
    const second = await explore(...options);
    assert.deepEqual(await state(await open(second.url)), before);
  },

  async "tells how long it takes from a slider to new colours"() {
    for (const name of ["cora", "pubmed"]) {
      const { url } = await explore(name);
      const page = await open(url);
      const times = await page.evaluate(async () => {
        const slider = document.getElementById("depth");
        const said = document.getElementById("status");
        const all = [];
        for (let k = 0; k < 25; k += 1) {
          const depth = 2 + ((7 * k) % 30);
          const start = performance.now();
          slider.value = depth;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
          slider.dispatchEvent(new Event("change", { bubbles: true }));
          // The colours are painted before this is said.
          while (!said.textContent.includes(`depth=${depth},`)) await new Promise((done) => setTimeout(done, 1));
          all.push(performance.now() - start);
          await new Promise((done) => setTimeout(done, 30));
        }
        return all.sort((a, b) => a - b);
      });
      const at = (share) => times[Math.floor(share * (times.length - 1))].toFixed(0);
      console.log(`        ${name}: from a moved slider to new colours ${at(0.5)} ms at the median, ${at(0.9)} ms at the ninth decile`);
    }
  },
};

async function takeScreenshots() {
  mkdirSync(screenshots, { recursive: true });
  const shoot = async (name, url, options, work = () => {}) => {
    const page = await open(url, options);
    await work(page);
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: Boolean(options.isMobile) });
  };
  const cora = (await explore("cora")).url;
  const pubmed = (await explore("pubmed")).url;
  const empty = (await explore(rings("empty", { labelled: 0 }))).url;
  await shoot("cora", cora, {});
  await shoot("cora-node", cora, {}, (page) => find(page, "1358"));
  await shoot("cora-error-dark", cora, { colorScheme: "dark" }, (page) => page.locator("#colour").selectOption("error"));
  await shoot("cora-confidence", cora, {}, (page) => page.locator("#colour").selectOption("confidence"));
  await shoot("pubmed-dark", pubmed, { colorScheme: "dark" });
  await shoot("phone", cora, { ...PHONE, deviceScaleFactor: 2 }, (page) => find(page, "1358"));
  await shoot("nothing", empty, {}, (page) => page.locator("#propose").click());
  const evil = (await explore(rings("evil-names", { evil: true }))).url;
  await shoot("names", evil, { colorScheme: "dark" }, (page) => find(page, `${EVIL}-3`));
  await shoot("names-phone", evil, { ...PHONE, deviceScaleFactor: 1 }, (page) => find(page, `${EVIL}-3`));
  const change = async (page) => {
    await find(page, "1358");
    await page.locator("#node-label").fill("Rule_Learning");
    await after(page, () => page.locator("#set-label").click());
    await page.waitForSelector("#remove-label");
  };
  await shoot("cora-changed-dark", cora, { colorScheme: "dark" }, change);
  await shoot("cora-undone", cora, {}, async (page) => {
    await change(page);
    await after(page, () => page.locator("#undo").click());
  });
  await shoot("cora-edge-dropped", cora, {}, async (page) => {
    await find(page, "1358");
    await after(page, () => page.locator(".drop-edge").first().click());
  });
  await shoot("labelling-phone", empty, { ...PHONE, deviceScaleFactor: 1 }, async (page) => {
    for (const name of ["ants", "bees"]) {
      await page.locator("#propose").click();
      await page.waitForSelector("#node-id");
      await page.locator("#new-class").fill(name);
      await after(page, () => page.locator("#new-class").press("Enter"));
    }
  });
}

let failed = 1;
try {
  failed = await run(tests);
  if (screenshots) await takeScreenshots();
} finally {
  await browser.close();
  servers.forEach((server) => server.kill("SIGKILL"));
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
