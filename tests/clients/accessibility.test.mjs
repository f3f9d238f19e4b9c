// Every page, on a phone in daylight and on a desk in the dark: axe finds nothing that keeps people
// out, and nothing sticks out of the screen. With WORKBOARD_SCREENSHOTS set to a folder, what they look
// like is put there.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { faults } from "./support/axe.mjs";
import { Chromium } from "./support/chromium.mjs";
import { Server, makeWorkspace } from "./support/server.mjs";
import { enter, everyPage } from "./support/visits.mjs";

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

/** What is wider than the screen, the page or a window, a line for each of these: run in the page. */
function whatSticksOut() {
  const isKept = (element, within) => {
    for (let above = element.parentElement; above && above !== within; above = above.parentElement)
      if (getComputedStyle(above).overflowX !== "visible") return true;
    return false;
  };
  return [document.documentElement, ...document.querySelectorAll("#main, .panel, .dialog")]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .map((place) => {
      const edge = place.getBoundingClientRect().left + place.clientWidth + 1;
      const out = [...place.querySelectorAll("*")].filter((each) => each.getBoundingClientRect().right > edge && !isKept(each, place));
      return `${place.scrollWidth - place.clientWidth} pixels too wide: ${out.slice(-3).map((each) => each.outerHTML.slice(0, 90)).join(" | ")}`;
    });
}

test("everybody can use every page", { concurrency: true }, (all) => Promise.all(screens.map(({ name: screen, ...options }) =>
  all.test(`on a ${screen}`, async () => {
    const strange = { ...options, reducedMotion: "reduce" }; // nothing is half on its way from one colour to another
    const ada = await chromium.open(server.url + "/login", strange);
    await enter(ada, server, "ada@example.com");
    const stranger = await chromium.open("about:blank", strange);
    const found = [];
    for (const { name, signedIn, go } of pages) {
      const page = signedIn ? ada : stranger;
      await go(page).catch((error) => { throw new Error(`${name}: ${error.message}`); });
      await page.waitForFunction(() => !document.querySelector(".waiting"));
      if (shots) {
        mkdirSync(shots, { recursive: true });
        await page.screenshot({ path: join(shots, `${name.replace(/\W+/g, "-")}.${screen}.png`), fullPage: name !== "reference" });
      }
      for (const each of await page.evaluate(whatSticksOut)) found.push(`${name}: ${each}`);
      // What people look for an operation with, whose width Swagger UI would have fixed.
      if (name === "reference") {
        const filter = await page.locator(".operation-filter-input").first().boundingBox();
        if (!(filter && filter.x >= 0 && filter.x + filter.width <= options.viewport.width))
          found.push(`${name}: its filter is at ${JSON.stringify(filter)}`);
      }
      for (const each of await faults(page)) found.push(`${name}: ${each}`);
      for (const each of page.complaints.splice(0)) found.push(`${name}: ${each}`);
      if (!signedIn) { // who comes next is nobody again
        await page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); });
        await page.context().clearCookies();
      }
    }
    assert.deepEqual(found, []);
  }))));
