// Which cards keys and clicks on a board are meant for: what is selected and shows, else what has the focus.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { makeBoard, titlesOf } from "../support/boards.mjs";
import { untilEqual } from "../support/until.mjs";
import { becomes as itBecomes } from "../support/visits.mjs";

export default (house) => describe("keys and clicks on cards", { concurrency: false }, () => {
  let server, owner, page, board;

  before(async () => {
    ({ server } = house);
    owner = house.people.kay;
    page = await house.chromium.open(server.url + "/boards", { person: owner });
  });

  async function show(query = "") {
    await page.goto(`${server.url}/boards/${board.id}${query}`);
    await page.waitForSelector("[data-card]");
  }
  async function openBoard(titles) {
    ({ board } = await makeBoard(owner, titles));
    await show();
  }
  /** Waits until the server has it so. */
  const becomes = (expected) => untilEqual(() => titlesOf(owner, board), expected, 20);
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  /** Presses keys before the page draws anything. */
  const atOnce = (...keys) => page.evaluate(async (all) => {
    for (const key of all) {
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      for (let turns = 0; turns < 5; turns += 1) await null; // what React does at the end of an event
    }
  }, keys);
  const on = async (title, ...keys) => {
    await page.locator("[data-card]", { hasText: title }).focus();
    await press(...keys);
  };
  const focused = (title) => page.waitForFunction((its) => document.activeElement.matches("[data-card]") && document.activeElement.querySelector(".title").textContent.endsWith(its), title);
  const selected = () => page.$$eval(".selected .title", (all) => all.map((each) => each.textContent.replace("Selected: ", "")));

  test("keys and bar do what they do to the cards that show", async () => {
    await openBoard(["apple", "banana", "cherry"]);
    await on("apple", "x", "j", "x");
    await page.fill(".toolbar input", "ban");
    await page.waitForSelector(".bulk >> text=1 selected");
    await on("banana", "e");
    await becomes([["apple", "cherry"], [], []]);
    await page.fill(".toolbar input", "cherry");
    await page.waitForSelector(".bulk", { state: "detached" });
    await on("cherry", "e");
    await becomes([["apple"], [], []]);
    // In the list, too, whose n leads to the column where cards are added.
    await show("?view=list");
    await page.focus(".list-rows li:first-child [data-card]");
    await press("m");
    await page.waitForSelector(".dialog >> text=Move");
    await press("Escape");
    await page.waitForSelector(".dialog", { state: "detached" });
    await press("n");
    await page.waitForSelector(".add-card.open textarea");
  });

  test("keys that come faster than the focus are meant for its card", async () => {
    await openBoard(["one", "two", "three"]);
    for (const view of ["board", "list", "lanes"]) {
      await show(`?view=${view}`);
      await page.focus("[data-card]");
      await atOnce("j", "x", "j", "x");
      await page.waitForSelector(".bulk >> text=2 selected");
      assert.deepEqual(await selected(), ["two", "three"], view);
      await focused("three");
    }
    for (const view of ["board", "list", "lanes"]) {
      await show(`?view=${view}`);
      await page.focus("[data-card]");
      await atOnce("j", "Enter");
      await page.waitForSelector(".card-panel h1:has-text('two')");
    }
    await show();
    await page.focus("[data-card]");
    await atOnce("j", " ", "ArrowRight", "Escape", " ", "ArrowUp", " ", "j", "j", " ", "ArrowRight", " ");
    await becomes([["two", "one"], ["three"], []]);
    await focused("three");
  });

  test("a card that was moved by a dialog has the focus where it is, and what is carried has every key", async () => {
    await openBoard(["one", "two"]);
    await on("two", "m");
    await page.waitForSelector(".dialog :focus");
    await press("End", "Enter");
    await page.click(".dialog .go");
    await becomes([["one"], [], ["two"]]);
    await focused("two");
    await press(" ", "ArrowLeft", "v", "Escape");
    await page.waitForFunction(() => !document.querySelector(".board.grabbing"));
    await becomes([["one"], [], ["two"]]);
    await on("one", "g", "j", "x"); // "g j" is no command
    await page.waitForSelector(".bulk >> text=1 selected");
  });

  test("the first letter of a command of two is not a card's", async () => {
    await openBoard(["one", "two"]);
    for (const [letter, view] of [["s", ".lanes"], ["l", ".list-rows"], ["b", ".board"]]) {
      await page.focus("[data-card]");
      await press("v", letter);
      await page.waitForSelector(view);
    }
  });

  test("a click with Shift selects all from the card that had the focus", async () => {
    await openBoard(["one", "two", "three", "four"]);
    for (const view of ["board", "list", "lanes"]) {
      await show(`?view=${view}`);
      await page.click("[data-card] >> nth=2", { modifiers: ["Control"] });
      await page.click("[data-card] >> nth=0", { modifiers: ["Shift"] });
      await page.waitForSelector(".bulk >> text=3 selected");
      assert.deepEqual(await selected(), ["one", "two", "three"], view);
    }
  });

  test("the focus goes on where a card went, and to what is out of sight", async () => {
    await openBoard(Array.from({ length: 60 }, (_, at) => `card ${at}`));
    for (const [view, title] of [["list", "card 0"], ["lanes", "card 1"], ["board", "card 2"]]) {
      await show(`?view=${view}`);
      await page.focus("[data-card]");
      await focused(title);
      await press("e");
      await focused(`card ${Number(title.slice(5)) + 1}`);
      await itBecomes(() => titlesOf(owner, board), ([first]) => !first.includes(title));
    }
    for (const view of ["list", "board"]) {
      await show(`?view=${view}`);
      await page.waitForLoadState("networkidle"); // the last ones are there
      await page.focus("[data-card]");
      await atOnce("End", "x");
      await focused("card 59");
      assert.deepEqual(await selected(), ["card 59"]);
    }
  });

  test("Ctrl with Shift is another key than Ctrl", async () => {
    await openBoard(["one", "two"]);
    await on("one", "Space", "ArrowRight", "Space");
    await becomes([["two"], ["one"], []]);
    await on("two", "Space", "ArrowRight", "Space");
    await becomes([[], ["two", "one"], []]);
    await press("Control+z");
    await becomes([["two"], ["one"], []]);
    await press("Control+Shift+Z");
    await page.waitForTimeout(300);
    await becomes([["two"], ["one"], []]);
  });

  test("letters do nothing where they were switched off", async () => {
    await openBoard(["one", "two"]);
    await owner.send("PATCH", "/v1/me/preferences", { keyboard_shortcuts: false });
    await page.reload();
    await page.waitForSelector(".tile");
    await on("one", "e", "x", "j");
    await focused("one");
    assert.equal(await page.locator(".bulk, .toast").count(), 0);
    await press("ArrowDown");
    await focused("two");
    await owner.send("PATCH", "/v1/me/preferences", { keyboard_shortcuts: true });
  });
});
