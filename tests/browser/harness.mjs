// What tests in a real browser share: opening pages as a reader does, and noting whatever a reader would not want to happen.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
assert.ok(existsSync(executablePath), `no browser at ${executablePath}`);
// Containers give their root no sandbox; the pages are our own.
export const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const complaints = [];

/** A page of its own. It may only ask for addresses that an expression matches. */
export async function open(url, allowed, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!allowed.test(request.url())) complaints.push(`request to ${request.url()}`);
  });
  await page.goto(url);
  return page;
}

/** What a test expects the browser to complain about. */
export function forgive(expected) {
  const all = complaints.splice(0);
  assert.ok(all.every((complaint) => expected.test(complaint)), `the browser complained: ${all}`);
}

/** Sees to it that nothing has to be scrolled sideways but boxes of their own. */
export async function fits(page) {
  const [content, window] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  assert.ok(content <= window, `the page is ${content} wide in a window of ${window}`);
}

/** Runs tests by their names; how many failed. */
export async function run(tests) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      assert.deepEqual(complaints.splice(0), [], "the browser complained");
      console.log(`ok      ${name}`);
    } catch (error) {
      failed += 1;
      complaints.length = 0;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
    await Promise.all(browser.contexts().map((context) => context.close()));
  }
  console.log(`browser test: ${Object.keys(tests).length - failed} passed, ${failed} failed`);
  return failed;
}
