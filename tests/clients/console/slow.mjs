// A network as people have it in trains: pages show that something is on its way, what comes does not push
// away what is there, and what is pressed twice is done once.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { makeBoard } from "../support/boards.mjs";
import { heading, holdBack } from "../support/visits.mjs";

export default (house) => describe("on a slow network", { concurrency: false }, () => {
  let server, theo, page, board;

  /** A page that is nowhere yet, in a browser of its own that Theo is signed in with. */
  async function open(options) {
    const opened = await house.chromium.open("about:blank", { viewport: { width: 1280, height: 800 }, ...options });
    await opened.context().addCookies(theo.cookieList(server.url));
    return opened;
  }

  before(async () => {
    ({ server } = house);
    ({ theo } = house.people);
    ({ board } = await makeBoard(theo, ["one", "two", "three"], { name: "Slow" }));
    page = await open();
    const client = await page.context().newCDPSession(page);
    await client.send("Network.enable");
    await client.send("Network.emulateNetworkConditions", { offline: false, latency: 400, downloadThroughput: 50 * 1024, uploadThroughput: 50 * 1024 });
    await page.addInitScript(() => {
      // What shows that something is on its way may be gone before anybody looks.
      window.met = new Set();
      new MutationObserver(() => {
        for (const each of [".boot .waiting", ".frame-waiting", ".board-waiting", "#main .waiting"]) if (document.querySelector(each)) window.met.add(each);
      }).observe(document, { subtree: true, childList: true, attributes: true });
      window.shifted = 0;
      new PerformanceObserver((list) => { for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifted += each.value; }).observe({ type: "layout-shift", buffered: true });
    });
  });

  test("what has come is shown at once: next to no time has to pass for it", async () => {
    const quick = await open({ hasClock: true });
    await quick.clock.pauseAt(Date.now() + 60_000);
    let asked = 0;
    quick.on("request", () => { asked += 1; });
    for (const end of ["requestfinished", "requestfailed"]) quick.on(end, () => { asked -= 1; });
    /** Goes there, and lets the page's time pass while it waits for no answer; milliseconds of it. */
    const timeUntil = async (go, selector) => {
      await go();
      let passed = 0;
      const end = Date.now() + 60_000;
      while (!(await quick.locator(selector).count())) {
        assert.ok(Date.now() < end, `${selector} after ${passed} ms, ${asked} answers to come`);
        if (asked > 0) {
          await new Promise((done) => setTimeout(done, 5));
        } else {
          passed += 1;
          await quick.clock.runFor(1);
        }
      }
      return passed;
    };
    const times = [
      await timeUntil(() => quick.goto(server.url + "/boards"), ".board-card"),
      await timeUntil(() => quick.click(`.sidebar li a[href="/agents"]`), "#main .panel"),
      await timeUntil(() => quick.keyboard.press("Control+k"), "[role=combobox]"),
    ];
    assert.ok(times.every((each) => each < 200), `${times} ms`);
    assert.deepEqual(quick.complaints, []);
    await quick.context().close();
  });

  test("words and times wait for what one has chosen", async () => {
    const chosen = await open();
    const letGo = await holdBack(chosen, "**/v1/me/preferences");
    const others = [/\/v1\/me$/, /\/v1\/me\/memberships/, /\/Shell\.\w+\.js$/, /\/Boards\.\w+\.js$/];
    await Promise.all([...others.map((each) => chosen.waitForEvent("requestfinished", (request) => each.test(request.url()))), chosen.goto(server.url + "/boards")]);
    await chosen.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
    assert.equal(await chosen.locator(".shell").count(), 0);
    letGo();
    await heading(chosen, "Boards");
    assert.deepEqual(chosen.complaints, []);
    await chosen.context().close();
  });

  for (const file of ["Boards.*.js", "Boards.*.css"])
    test(`a part of the console that does not come (${file}) is said, and comes at another try`, async () => {
      const cut = await open();
      await cut.route(`**/assets/${file}`, (route) => route.abort());
      await cut.goto(server.url + "/boards");
      await heading(cut, "This did not work");
      await cut.unrouteAll({ behavior: "ignoreErrors" });
      await cut.click("button:text-is('Try again')");
      await heading(cut, "Boards");
      assert.ok(await cut.evaluate(() => [...document.styleSheets].some(({ href }) => /Boards\./.test(href ?? ""))));
      await cut.context().close();
    });

  test("a page shows at once that it is on its way, and keeps its place when it has come", async () => {
    await page.goto(`${server.url}/boards/${board.id}`, { waitUntil: "commit" });
    await page.waitForSelector(".tile");
    // The first before any script has come.
    for (const each of [".boot .waiting", ".frame-waiting", ".board-waiting"]) assert.ok(await page.evaluate((what) => window.met.has(what), each), each);
    for (const path of ["/queues", "/agents", "/members"]) {
      await page.evaluate(() => window.met.clear());
      await page.click(`.sidebar li a[href="${path}"]`);
      await page.waitForFunction(() => window.met.has("#main .waiting"));
      await page.waitForFunction(() => document.querySelector("#main h1") && !document.querySelector(".waiting"));
    }
    const shifted = await page.evaluate(() => window.shifted);
    assert.ok(shifted < 0.1, `layout shifts of ${shifted}`);
    assert.deepEqual(page.complaints, []);
  });

  test("a button shows that it works, and does it once however often it is pressed", async () => {
    await page.click(`.sidebar li a[href="/boards"]`);
    await heading(page, "Boards");
    await page.click("text=New board");
    await page.fill(".dialog input", "Once");
    const letGo = await holdBack(page, "**/v1/boards");
    for (let times = 0; times < 3; times += 1) await page.press(".dialog input", "Enter");
    await page.waitForSelector(".dialog .go[aria-busy=true]");
    await page.click(".dialog .go", { force: true });
    letGo();
    await heading(page, "Once");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    const { results } = await theo.get("/v1/boards");
    assert.equal(results.filter(({ name }) => name === "Once").length, 1);
  });

  test("what failed can be tried again where it failed", async () => {
    await page.route("**/v1/webhooks?*", (route) => route.abort());
    await page.click(`.sidebar li a[href="/webhooks"]`);
    await page.waitForSelector(".panel .failure button:text-is('Try again')", { timeout: 30_000 });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.click(".panel .failure button");
    await page.waitForSelector("#main .panel .empty, #main .panel table");
    assert.equal(await page.locator("#main .failure").count(), 0);
  });
});
