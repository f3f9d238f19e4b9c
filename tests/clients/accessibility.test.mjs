// Every page, on a phone in daylight and on a desk in the dark: axe finds nothing that keeps people
// out, and nothing sticks out of the screen. With WORKBOARD_SCREENSHOTS set to a folder, what they look
// like is put there.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Chromium } from "./support/chromium.mjs";
import { Server, makeWorkspace } from "./support/server.mjs";
import { enter, everyPage } from "./support/visits.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const screens = [
  { name: "phone", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { name: "desk", viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
];
const shots = process.env.WORKBOARD_SCREENSHOTS;
let server, chromium, pages;

before(async () => {
  server = await Server.start(["server.workers=8", "operators.accounts=ada@example.com", "auth.log_ins=1000", "auth.sign_ups_from_one_place=1000"]);
  chromium = await Chromium.start();
  pages = await everyPage(server, await makeWorkspace(server));
});
after(async () => {
  await chromium?.end();
  await server?.end();
});

/** What axe finds, a line for each element. Swagger UI's own parts of the reference are not ours. */
async function faults(page) {
  const { violations } = await page.evaluate(() => window.axe.run(
    { exclude: [[".swagger-ui"]] },
    { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] },
  ));
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target}: ${failureSummary.replace(/\s+/g, " ")}`));
}

test("everybody can use every page", { concurrency: true }, (all) => Promise.all(screens.map(({ name: screen, ...options }) =>
  all.test(`on a ${screen}`, async () => {
    // axe is put into the page; nothing is half on its way from one colour to another.
    const strange = { ...options, bypassCSP: true, reducedMotion: "reduce" };
    const ada = await chromium.open(server.url + "/login", strange);
    await enter(ada, server, "ada@example.com");
    const found = [];
    for (const { name, signedIn, go } of pages) {
      const page = signedIn ? ada : await chromium.open("about:blank", strange);
      await go(page).catch((error) => { throw new Error(`${name}: ${error.message}`); });
      await page.waitForFunction(() => !document.querySelector(".waiting"));
      if (shots) {
        mkdirSync(shots, { recursive: true });
        await page.screenshot({ path: join(shots, `${name.replace(/\W+/g, "-")}.${screen}.png`), fullPage: name !== "reference" });
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) found.push(`${name}: ${wide} pixels too wide`);
      // What people look for an operation with, whose width Swagger UI would have fixed.
      if (name === "reference") {
        const filter = await page.locator(".operation-filter-input").first().boundingBox();
        if (!(filter && filter.x >= 0 && filter.x + filter.width <= options.viewport.width))
          found.push(`${name}: its filter is at ${JSON.stringify(filter)}`);
      }
      if (!(await page.evaluate(() => "axe" in window))) await page.addScriptTag({ path: axe });
      for (const each of await faults(page)) found.push(`${name}: ${each}`);
      for (const each of page.complaints.splice(0)) found.push(`${name}: ${each}`);
      if (!signedIn) await page.context().close();
    }
    assert.deepEqual(found, []);
  }))));
