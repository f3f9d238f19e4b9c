// What is done on a board while answers are slow, the server refuses, and others change the same cards: it ends as it is
// meant, and can be undone.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { makeBoard, titlesOf } from "../support/boards.mjs";
import { until, untilEqual } from "../support/until.mjs";
import { refusal } from "../support/visits.mjs";

export default (house) => describe("changes on a board", { concurrency: false }, () => {
  let server, owner, page, board, columns, cards;

  before(async () => {
    ({ server } = house);
    owner = house.people.vera;
    page = await house.chromium.open(server.url + "/boards", { person: owner });
  });

  /** A board of three columns with cards of these titles in the first, which is opened. */
  async function openBoard(titles, query = "") {
    ({ board, columns, cards } = await makeBoard(owner, titles));
    await page.unrouteAll({ behavior: "ignoreErrors" });
    page.complaints.length = 0;
    await page.goto(`${server.url}/boards/${board.id}${query}`);
    await page.waitForSelector(".tile, .list-rows [data-card], .day-card");
    await page.waitForSelector(".live.live", { state: "attached" });
  }
  const kept = () => titlesOf(owner, board);
  const shown = () => page.$$eval("[data-column]", (all) => all.map((column) => [...column.querySelectorAll(".tile .title")].map((each) => each.textContent)));
  /** Waits until server and page have it so. */
  async function becomes(expected) {
    for (const what of [kept, shown]) await untilEqual(what, expected, 20);
  }
  const tile = (title) => page.locator(".tile", { hasText: title });
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  const on = async (title, ...keys) => {
    await tile(title).focus();
    await press(...keys);
  };
  const moveBy = async (column) => {
    await page.click(".bulk >> text=Move");
    await page.click(`[role=menuitem]:has-text("${columns[column].name}")`);
  };
  /** Answers to these requests take so long, or are what `answer` says. */
  const delay = (path, ms, answer) => page.route(path, async (route) => {
    await new Promise((done) => setTimeout(done, ms));
    await (answer ? route.fulfill(answer) : route.continue()).catch(() => {});
  });

  test("cards that stood side by side come back by undo, out of another column and within their own", async () => {
    await openBoard(["one", "two", "three", "four"]);
    await on("two", "x", "j", "x");
    await moveBy(1);
    await becomes([["one", "four"], ["two", "three"], []]);
    await press("Control+z");
    await becomes([["one", "two", "three", "four"], [], []]);
    await on("three", "x", "j", "x");
    await moveBy(0);
    await becomes([["three", "four", "one", "two"], [], []]);
    await press("Control+z");
    await becomes([["one", "two", "three", "four"], [], []]);
    assert.deepEqual(page.complaints, []);
  });

  test("a neighbour that has gone is none: neither for undo nor for whom it was gone from under the pointer", async () => {
    await openBoard(["one", "two", "three"]);
    for (const title of ["two", "one"]) {
      await on(title, "x");
      await moveBy(1);
      await page.waitForSelector(".bulk", { state: "detached" });
    }
    await becomes([["three"], ["one", "two"], []]);
    await page.locator(".toast >> text=Undo").first().click(); // of the first move, whose neighbour went with the second
    await becomes([["two", "three"], ["one"], []]);
    const [from, to] = [await tile("two").boundingBox(), await tile("one").boundingBox()];
    await page.mouse.move(from.x + 30, from.y + 12);
    await page.mouse.down();
    await page.mouse.move(to.x + 30, to.y + to.height + 8, { steps: 6 });
    await page.waitForSelector(".tile.ghost");
    await owner.post(`/v1/cards/${cards[0].id}:move`, { column_id: columns[2].id });
    await page.mouse.up();
    await becomes([["three"], ["two"], ["one"]]);
  });

  test("what is under way can be undone, all that was done in eight seconds is, and what is refused says so", async () => {
    await openBoard(["one", "two", "three", "four", "five"]);
    await delay("**/v1/cards:batch", 700);
    for (const title of ["one", "two", "three", "four"]) await on(title, "e");
    await page.waitForFunction(() => document.querySelectorAll(".toast").length === 3);
    for (let count = 0; count < 4; count += 1) await press("Control+z");
    await becomes([["one", "two", "three", "four", "five"], [], []]);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await delay("**/v1/cards:batch", 0, refusal(503, "service_unavailable"));
    await on("two", "x", "e");
    await page.waitForSelector(".toast:has-text('Not now.')");
    await page.waitForFunction(() => !document.querySelector(".toasts").textContent.includes("archived"));
    await becomes([["one", "two", "three", "four", "five"], [], []]);
  });

  test("a column and its cards that others make show, also when the server cannot be asked at once", async () => {
    await openBoard(["one"]);
    let isFirst = true;
    await page.route(`**/v1/boards/${board.id}/columns*`, (route) => {
      if (!isFirst) return route.continue();
      isFirst = false;
      return route.fulfill({ ...refusal(429, "rate_limited"), headers: { "Retry-After": "1" } });
    });
    const column = await owner.post(`/v1/boards/${board.id}/columns`, { name: "Extra" });
    await owner.post(`/v1/boards/${board.id}/cards`, { column_id: column.id, title: "new" });
    await owner.post(`/v1/cards/${cards[0].id}:move`, { column_id: column.id });
    await becomes([[], [], [], ["new", "one"]]);
    assert.equal(isFirst, false);
  });

  test("a change that was refused is taken back, although another has changed the card meanwhile", async () => {
    await openBoard(["one", "two"]);
    await delay("**/v1/cards/*:move", 800, refusal(409, "conflict"));
    await on("one", "Space", "ArrowRight", "Space");
    await owner.send("PATCH", `/v1/cards/${cards[0].id}`, { priority: "urgent" });
    await page.waitForSelector(".toast:has-text('Not now.')");
    await becomes([["one", "two"], [], []]);
  });

  test("a card that is held again stays where it is held when the answer to its last move comes", async () => {
    await openBoard(["one", "two"]);
    await delay("**/v1/cards/*:move", 500);
    await on("one", "Space", "ArrowRight", "Space", "Space", "ArrowRight");
    await page.waitForResponse((answer) => answer.url().endsWith(":move"));
    await press("Space");
    await becomes([["two"], [], ["one"]]);
  });

  test("titles of new cards that the server refuses are not lost", async () => {
    await openBoard(["one"]);
    await delay(`**/v1/boards/${board.id}/cards`, 1_500, refusal(503, "service_unavailable"));
    await press("n");
    for (const title of ["two", "three"]) {
      await page.keyboard.type(title);
      await press("Enter");
    }
    await page.waitForFunction(() => document.querySelector(".add-card textarea")?.value === "two");
    await page.waitForSelector(".toast:has-text('three: Not now.')");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await press("Enter");
    await page.click(".toast >> text=Try again");
    await becomes([["one", "two", "three"], [], []]);
  });

  test("a card that is put on another day is due at the same hour, and one that is put back where it was at its own", async () => {
    const day = (date) => new Date().toISOString().slice(0, 8) + date;
    await openBoard(["one"]);
    await owner.send("PATCH", `/v1/cards/${cards[0].id}`, { due: `${day("12")}T12:30:00Z` });
    await page.goto(`${server.url}/boards/${board.id}?view=calendar`);
    const due = async () => (await owner.get(`/v1/cards/${cards[0].id}`)).due;
    const { x, y } = await page.locator(".day-card").boundingBox();
    await page.mouse.move(x + 10, y + 8);
    await page.mouse.down();
    await page.mouse.move(x + 24, y + 8, { steps: 4 });
    await page.mouse.up();
    await page.dragAndDrop(".day-card", `[data-day="${day("20")}"]`);
    await until(async () => (await due()).startsWith(day("20")));
    assert.equal(Date.parse(await due()), Date.parse(`${day("20")}T12:30:00Z`));
    await press("Control+z");
    await until(async () => (await due()).startsWith(day("12")));
    assert.equal(Date.parse(await due()), Date.parse(`${day("12")}T12:30:00Z`));
  });
});
