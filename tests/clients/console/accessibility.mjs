// Every page is gone to on a phone, where what is pressed is most easily covered, and looked at there in the dark and
// on a desk by daylight, or each way on both: axe finds nothing that keeps people out, and nothing sticks out of
// the screen. Of two looks, one is by the colours alone, at each page the other one. With WORKBOARD_SCREENSHOTS set to
// a folder, what they look like is put there.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";

import { faults } from "../support/axe.mjs";
import { everyPage } from "../support/visits.mjs";

const phone = { width: 390, height: 844 }, desk = { width: 1280, height: 900 };
const look = (screen, size, colorScheme, rules) => ({ name: `${screen}-${colorScheme}`, size, colorScheme, rules });
const colors = ["color-contrast"];
const phoneByNight = (rules) => look("phone", phone, "dark", rules), deskByDay = (rules) => look("desk", desk, "light", rules);
const eachInTurn = (at) => [phoneByNight(at % 2 ? colors : undefined), deskByDay(at % 2 ? undefined : colors)];
export const everyLook = () => [phoneByNight(), deskByDay(), look("desk", desk, "dark", colors), look("phone", phone, "light", colors)];

export default (house, looksAt = eachInTurn) => describe("for everybody", { concurrency: false }, () => {
  const shots = process.env.WORKBOARD_SCREENSHOTS;
  async function photograph(page, name, screen) {
    if (!shots) return;
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: join(shots, `${name.replace(/\W+/g, "-")}.${screen}.png`), fullPage: name !== "reference" });
  }
  let server, chromium, owner, pages;

  before(async () => {
    ({ server, chromium } = house);
    owner = house.people.ada;
    pages = await everyPage(server, owner);
  });

  /** What is wider than the screen, the page or a window, a line for each of these: run in the page. */
  function whatSticksOut() {
    const isKept = (element, within) => {
      for (let above = element.parentElement; above && above !== within; above = above.parentElement)
        if (getComputedStyle(above).overflowX !== "visible") return true;
      return false;
    };
    // Within the console's frame the window itself does not scroll.
    const { scrollHeight: inAll, clientHeight: inSight } = document.documentElement;
    const below = document.querySelector(".shell") && inAll > inSight + 1 ? [`the window scrolls by ${inAll - inSight} pixels`] : [];
    return [...below, ...[document.documentElement, ...document.querySelectorAll("#main, .panel, .dialog")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
      .map((place) => {
        const edge = place.getBoundingClientRect().left + place.clientWidth + 1;
        const out = [...place.querySelectorAll("*")].filter((each) => each.getBoundingClientRect().right > edge && !isKept(each, place));
        return `${place.scrollWidth - place.clientWidth} pixels too wide: ${out.slice(-3).map((each) => each.outerHTML.slice(0, 90)).join(" | ")}`;
      })];
  }

  /** What keeps people out of the page as it is seen this way, a line for each. */
  async function seen(page, name, { name: way, size, colorScheme, rules }) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await page.waitForFunction(() => !document.querySelector(".waiting"));
    await photograph(page, name, way);
    const found = [...await page.evaluate(whatSticksOut), ...await faults(page, rules)];
    // What people look for an operation with, whose width Swagger UI would have fixed.
    if (name === "reference") {
      const filter = await page.locator(".operation-filter-input").first().boundingBox();
      if (!(filter && filter.x >= 0 && filter.x + filter.width <= page.viewportSize().width))
        found.push(`its filter is at ${JSON.stringify(filter)}`);
    }
    return found.map((each) => `${name}, ${way}: ${each}`);
  }

  async function visit(some) {
    // Nothing is half on its way from one colour to another.
    const options = { viewport: phone, reducedMotion: "reduce" };
    const ada = await chromium.open(server.url + "/boards", { person: owner, ...options });
    const nora = await chromium.open(server.url + "/boards", { person: house.people.nora, ...options });
    const stranger = await chromium.open("about:blank", options);
    const found = [];
    for (const [at, { name, signedIn, fresh, go }] of some.entries()) {
      const page = signedIn ? ada : fresh ? nora : stranger;
      await go(page).catch((error) => { throw new Error(`${name}: ${error.message}`); });
      for (const way of looksAt(at)) found.push(...await seen(page, name, way));
      await page.setViewportSize(phone);
      for (const each of page.complaints.splice(0)) found.push(`${name}: ${each}`);
      if (page === stranger) { // who comes next is nobody again
        await page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); });
        await page.context().clearCookies();
      }
    }
    return found;
  }

  test("everybody can use every page", async () => {
    const third = Math.ceil(pages.length / 3);
    const found = await Promise.all([0, third, 2 * third].map((from) => visit(pages.slice(from, from + third))));
    assert.deepEqual(found.flat(), []);
  });
});
