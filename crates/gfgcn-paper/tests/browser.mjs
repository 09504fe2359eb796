// Opens a report from its folder, as a reader does, and uses it: browser.mjs FOLDER [SCREENSHOTS], by tests/browser/run.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { PHONE, browser, fits, open as openPage, run } from "../../../tests/browser/harness.mjs";

const [folder, screenshots] = process.argv.slice(2).map((path) => resolve(path));
const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
const address = pathToFileURL(join(folder, "index.html")).href;
const open = (options = {}, url = address) => openPage(url, /^(file|data):/, options);

/** The values of a column from top to bottom; null where nothing was measured. */
const column = (table, index) =>
  table.locator("tbody tr").evaluateAll(
    (rows, index) => rows.map((row) => row.cells[index].dataset.value ?? null),
    index,
  );

/** The values in an order that this test works out by itself, missing ones last. */
function sorted(values, sign) {
  const numbers = values.filter((value) => value !== null).map(Number);
  numbers.sort((a, b) => sign * (a - b));
  return [...numbers, ...values.filter((value) => value === null)];
}

const asNumbers = (values) => values.map((value) => (value === null ? null : Number(value)));

const tests = {
  async "shows every table and every figure"() {
    const page = await open();
    assert.equal(await page.locator("main table").count(), report.tables.length);
    assert.equal(await page.locator("main figure").count(), report.figures.length);
    const panels = report.figures.flatMap((figure) => figure.panels).length;
    assert.equal(await page.locator("figure .panels > svg[role=img]").count(), panels);
    const cells = report.tables.reduce((sum, t) => sum + t.rows.length * t.columns.length, 0);
    assert.equal(await page.locator("main td").count(), cells);
    for (const svg of await page.locator("figure .panels > svg").all()) {
      const box = await svg.boundingBox();
      assert.ok(box.width > 200 && box.height > 150, `a panel of ${box.width} × ${box.height}`);
    }
    const remarks = await page.locator(".remarks li").allTextContents();
    assert.deepEqual(remarks, report.remarks);
    await fits(page);
  },

  async "follows every link of the table of contents"() {
    const page = await open();
    for (const link of await page.locator("nav a").all()) {
      await link.click();
      const target = page.locator(new URL(page.url()).hash);
      await target.waitFor();
      const { y } = await target.boundingBox();
      assert.ok(y < 900, `${await link.textContent()} is out of sight`);
    }
  },

  async "sorts numbers in both directions, missing values last"() {
    const page = await open();
    for (const [t, { columns, unit }] of report.tables.entries()) {
      const table = page.locator("main table").nth(t);
      const first = unit === "percent" ? -1 : 1;
      for (const index of [1, columns.length]) {
        const heading = table.locator("thead th").nth(index);
        const before = await column(table, index);
        for (const [sign, press] of [[first, "click"], [-first, "Enter"], [first, "click"]]) {
          if (press === "click") await heading.locator("button").click();
          else await heading.locator("button").press(press);
          const expected = sign > 0 ? "ascending" : "descending";
          assert.equal(await heading.getAttribute("aria-sort"), expected);
          assert.deepEqual(asNumbers(await column(table, index)), sorted(before, sign));
        }
        const marked = table.locator("thead th:not([aria-sort=none])");
        assert.equal(await marked.count(), 1);
      }
    }
  },

  async "sorts names, and rows stay whole"() {
    const page = await open();
    const table = page.locator("main table").first();
    const rows = async () => await table.locator("tbody tr").allTextContents();
    const before = await rows();
    await table.locator("thead button").first().click();
    const names = await column(table, 0);
    const collator = new Intl.Collator("en", { numeric: true });
    assert.deepEqual(names, [...names].sort(collator.compare));
    const after = await rows();
    assert.notDeepEqual(after, before);
    assert.deepEqual([...after].sort(), [...before].sort());
  },

  async "has a dark side, and remembers it"() {
    const page = await open({ colorScheme: "light" });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const line = () =>
      page.evaluate(() => getComputedStyle(document.querySelector("figure .series")).color);
    const light = [await paper(), await line()];
    await page.locator("#theme").click();
    const dark = [await paper(), await line()];
    assert.ok(light[0] !== dark[0] && light[1] !== dark[1], `${light} and ${dark}`);
    await page.reload();
    assert.equal(await paper(), dark[0]);
    await page.locator("#theme").click();
    assert.equal(await paper(), light[0]);
    await page.context().close();
    const system = await open({ colorScheme: "dark" });
    assert.equal(
      await system.evaluate(() => getComputedStyle(document.body).backgroundColor),
      dark[0],
    );
  },

  async "works where storage is forbidden"() {
    const context = await browser.newContext({ colorScheme: "light" });
    await context.addInitScript(() => {
      Object.defineProperty(window, "localStorage", {
        get() {
          throw new DOMException("no storage here", "SecurityError");
        },
      });
    });
    const page = await context.newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(address);
    await page.locator("#theme").click();
    assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
    assert.deepEqual(faults, []);
  },

  async "is complete without scripts"() {
    const page = await open({ javaScriptEnabled: false });
    assert.equal(await page.locator("main table").count(), report.tables.length);
    assert.equal(await page.locator("#theme").isVisible(), false);
  },

  async "fits a phone, where only tables scroll sideways"() {
    const page = await open(PHONE);
    await fits(page);
    const wide = await page
      .locator(".scroll")
      .evaluateAll((boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth).length);
    assert.ok(wide > 0, "no table is wide enough for this test to mean anything");
    for (const svg of await page.locator("figure .panels > svg").all()) {
      const box = await svg.boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= 390, "a panel is cut off");
    }
  },

  async "keeps the words of its panels inside and apart"() {
    const page = await open();
    const faults = await page.evaluate(() => {
      const faults = [];
      const meet = (a, b) =>
        a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
      for (const svg of document.querySelectorAll("figure .panels > svg")) {
        const frame = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll("text")];
        const boxes = texts.map((text) => text.getBoundingClientRect());
        boxes.forEach((box, i) => {
          const inside =
            box.left >= frame.left - 1 && box.right <= frame.right + 1 &&
            box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
          if (!inside) faults.push(`"${texts[i].textContent}" is cut off`);
          boxes.slice(0, i).forEach((other, j) => {
            if (meet(box, other)) {
              faults.push(`"${texts[i].textContent}" covers "${texts[j].textContent}"`);
            }
          });
        });
      }
      return faults;
    });
    assert.deepEqual(faults, []);
  },

  async "has figures that can be opened by themselves"() {
    for (const file of readdirSync(join(folder, "figures"))) {
      const page = await open({}, pathToFileURL(join(folder, "figures", file)).href);
      // A file that is not well-formed shows an error instead of a picture.
      assert.equal(await page.evaluate(() => document.documentElement.localName), "svg", file);
      assert.equal(await page.locator("parsererror").count(), 0, file);
    }
  },
};

async function takeScreenshots() {
  mkdirSync(screenshots, { recursive: true });
  const views = {
    light: { colorScheme: "light" },
    dark: { colorScheme: "dark" },
    phone: { viewport: { width: 390, height: 844 }, isMobile: true, deviceScaleFactor: 2 },
  };
  for (const [name, options] of Object.entries(views)) {
    const page = await open(options);
    await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
  }
  for (const file of readdirSync(join(folder, "figures"))) {
    const page = await open({}, pathToFileURL(join(folder, "figures", file)).href);
    await page.screenshot({ path: join(screenshots, `${file}.png`) });
  }
}

const failed = await run(tests);
if (screenshots) await takeScreenshots();
await browser.close();
process.exit(failed ? 1 : 0);
