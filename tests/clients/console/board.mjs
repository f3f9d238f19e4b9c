// A board in the console, as people work on it: by mouse, by touch and by keys alone, while others
// change it.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { makeBoard, titlesOf } from "../support/boards.mjs";
import { until, untilEqual } from "../support/until.mjs";

export default (house) => describe("a board", { concurrency: false }, () => {
  let server, chromium, owner, first, page, board, columns;

  before(async () => {
    ({ server, chromium } = house);
    owner = house.people.bea;
  });

  /** A board of three columns, with these titles in the first. */
  async function newBoard(titles) {
    let cards;
    ({ board, columns, cards } = await makeBoard(owner, titles));
    return cards;
  }

  /** In the same browser as before, unless it is to be a special one. */
  async function openBoard(options, query = "") {
    const address = `${server.url}/boards/${board.id}${query}`;
    await page?.close();
    if (options || !first) page = await chromium.open(address, { person: owner, ...options });
    else page = await chromium.openBeside(first, address);
    if (!options) first ??= page;
    await page.waitForSelector(".tile, .list-rows [data-card], .day-card");
  }

  const titlesOn = (column) => page.$$eval(`[data-column="${columns[column].id}"] .tile .title`, (all) => all.map((each) => each.textContent));
  /** What the server has, column by column. */
  const kept = () => titlesOf(owner, board);
  /** Waits until the server has it so. */
  const becomes = (expected, what = kept) => untilEqual(what, expected);
  const tile = (title) => page.locator(".tile", { hasText: title });
  const centre = async (locator) => {
    const { x, y, width, height } = await locator.boundingBox();
    return { x: x + width / 2, y: y + height / 2 };
  };

  async function dragTo(title, to) {
    const from = await centre(tile(title));
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + 12, from.y + 4, { steps: 3 });
    await page.mouse.move(to.x, to.y, { steps: 8 });
    await page.waitForSelector(".tile.ghost");
    await page.mouse.up();
  }

  test("a card goes where the mouse drops it, and comes back by undo", async () => {
    await newBoard(["one", "two", "three"]);
    await openBoard();
    const third = await tile("three").boundingBox();
    await dragTo("one", { x: third.x + 40, y: third.y + third.height - 4 });
    await becomes([["two", "three", "one"], [], []]);
    const other = await page.locator(`[data-column="${columns[1].id}"] .column-cards`).boundingBox();
    await dragTo("two", { x: other.x + 60, y: other.y + 60 });
    await becomes([["three", "one"], ["two"], []]);
    assert.deepEqual(await titlesOn(1), ["two"]);
    await page.click(".toast:has-text('In progress') >> text=Undo");
    await becomes([["two", "three", "one"], [], []]);
    assert.equal(await page.locator(".tile.ghost").count(), 0);
    assert.equal(await page.locator(".card-panel").count(), 0, "the click that ends a drag opens nothing");
    assert.deepEqual(page.complaints, []);
  });

  test("Escape during a drag puts the card back, and a press opens it", async () => {
    await newBoard(["one", "two"]);
    await openBoard();
    const from = await centre(tile("one"));
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + 300, from.y + 40, { steps: 6 });
    await page.waitForSelector(".tile.ghost");
    await page.keyboard.press("Escape");
    await page.mouse.up();
    assert.equal(await page.locator(".tile.ghost").count(), 0);
    assert.deepEqual(await kept(), [["one", "two"], [], []]);
    await tile("two").click();
    await page.waitForSelector(".card-panel h1:has-text('two')");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".card-panel", { state: "detached" });
  });

  test("by keys alone a card is picked up, moved, put back and dropped, and each step is announced", async () => {
    await newBoard(["one", "two", "three"]);
    await openBoard();
    const says = (words) => page.locator(".board > [aria-live]", { hasText: words }).waitFor({ state: "attached" });
    const focused = (title) => page.waitForFunction((its) => document.activeElement.querySelector(".title")?.textContent === its, title);
    // Where nothing has the focus the arrows lead to the first card, and go on from there.
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("ArrowDown");
    await focused("one");
    await page.keyboard.press("j");
    await focused("two");
    await page.keyboard.press("Space");
    await says(/Picked up/);
    await page.keyboard.press("ArrowRight");
    await says(/In progress, position 1 of 1/);
    await page.keyboard.press("Escape");
    await says(/Put back: Backlog, position 2 of 3/);
    await becomes(["one", "two", "three"], () => titlesOn(0));
    await focused("two");
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Space");
    await says(/Dropped: Backlog, position 1 of 3/);
    await becomes([["two", "one", "three"], [], []]);
    // By a dialog, for those who cannot hold a card.
    await focused("two");
    await page.keyboard.press("m");
    await page.waitForSelector(".dialog :focus");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.click(".dialog .go");
    await becomes([["one", "three"], [], ["two"]]);
    assert.deepEqual(page.complaints, []);
  });

  test("a finger scrolls at once, and moves a card after a long press", async () => {
    await newBoard(Array.from({ length: 25 }, (_, at) => `card ${String(at).padStart(2, "0")}`));
    await openBoard({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const client = await page.context().newCDPSession(page);
    const touch = (type, ...at) => client.send("Input.dispatchTouchEvent", { type, touchPoints: at.length ? [{ x: at[0], y: at[1] }] : [] });
    const from = await centre(tile("card 03"));
    // Where the page is held up before the finger moves, the press is a long one: then once more.
    for (let tries = 0; tries < 5; tries += 1) {
      await touch("touchStart", from.x, from.y);
      for (let step = 1; step <= 10; step += 1) await touch("touchMove", from.x, from.y - 20 * step);
      if ((await page.locator(".tile.ghost").count()) === 0) break;
      await touch("touchCancel");
      await page.waitForSelector(".tile.ghost", { state: "detached" });
    }
    await touch("touchEnd");
    await page.waitForFunction((id) => document.querySelector(`[data-column="${id}"] .column-cards`).scrollTop > 50, columns[0].id);
    assert.equal(await page.locator(".tile.ghost").count(), 0);
    // What the finger set going comes to rest.
    for (let last = -1, now = 0; now !== last;) {
      last = now;
      await new Promise((done) => setTimeout(done, 300));
      now = await page.$eval(".column-cards", (each) => each.scrollTop);
    }
    // One that is in sight, whole.
    const held = await page.$$eval(`[data-column="${columns[0].id}"] .tile`, (all) => {
      const { top } = document.querySelector(".column-cards").getBoundingClientRect();
      return all.find((each) => each.getBoundingClientRect().top > top + 80).querySelector(".title").textContent;
    });
    const at = await centre(tile(held));
    await touch("touchStart", at.x, at.y);
    await page.waitForSelector(".tile.ghost");
    for (let step = 1; step <= 6; step += 1) await touch("touchMove", at.x, at.y + 25 * step);
    await touch("touchEnd");
    await page.waitForSelector(".toast >> text=Moved within Backlog");
    let place;
    await until(async () => (place = (await kept())[0].indexOf(held)) > Number(held.slice(5)));
    assert.ok(place > Number(held.slice(5)), `${held} is at ${place}`);
    assert.deepEqual(page.complaints, []);
  });

  test("several cards are selected by keys and moved, labelled and archived at once", async () => {
    await newBoard(["one", "two", "three"]);
    const label = await owner.post(`/v1/boards/${board.id}/labels`, { name: "bug", color: "red" });
    await openBoard();
    await page.focus(".tile[tabindex='0']");
    for (const key of ["x", "j", "x"]) await page.keyboard.press(key);
    await page.waitForSelector(".bulk >> text=2 selected");
    await page.click(".bulk >> text=Label");
    await page.click("[role=menuitem] >> text=bug");
    await page.waitForSelector(".toast >> text=2 cards changed");
    const labelled = (await owner.get(`/v1/cards?board_id=${board.id}&label=${label.id}`)).results.map(({ title }) => title);
    assert.deepEqual(labelled.sort(), ["one", "two"]);
    await page.focus(".tile[tabindex='0']");
    await page.keyboard.press("x");
    await page.keyboard.press("e");
    await becomes([["one", "three"], [], []]);
    await page.waitForSelector(".toast >> text=1 card archived");
    await page.keyboard.press("Control+z");
    await becomes([["one", "three", "two"].sort(), [], []], async () => (await kept()).map((each) => each.sort()));
    assert.deepEqual(page.complaints, []);
  });

  test("the address holds the filter, and the board shows what fits it", async () => {
    const cards = await newBoard(["pay the invoice", "call the bank", "pay the rent"]);
    await owner.send("PATCH", `/v1/cards/${cards[2].id}`, { priority: "urgent" });
    await openBoard();
    await page.keyboard.press("/");
    await page.keyboard.type("pay");
    await page.waitForFunction(() => document.querySelectorAll(".tile").length === 2);
    await page.click(".toolbar >> text=Priority");
    await page.click("[role=menuitem] >> text=urgent");
    await page.waitForFunction(() => document.querySelectorAll(".tile").length === 1);
    const { search } = new URL(page.url());
    assert.equal(search, "?q=pay&priority=urgent");
    await page.reload();
    await page.waitForSelector(".tile");
    assert.deepEqual(await titlesOn(0), ["pay the rent"]);
    await page.click(".toolbar >> text=Clear");
    await page.waitForFunction(() => document.querySelectorAll(".tile").length === 3);
    assert.equal(new URL(page.url()).search, "");
  });

  test("in lanes, a card goes to another lane and column at once, and comes back by undo", async () => {
    const [one, two] = await newBoard(["one", "two", "three"]);
    await owner.send("PATCH", `/v1/cards/${one.id}`, { priority: "high" });
    await openBoard(undefined, "?view=lanes&by=priority");
    const cell = (lane, column) => `[data-lane="${lane}"] [data-cell="${columns[column].id}"]`;
    await page.waitForSelector(`${cell("high", 0)} .tile:has-text("one")`);
    const to = await page.locator(cell("high", 1)).boundingBox();
    await dragTo("two", { x: to.x + 60, y: to.y + 20 });
    await page.waitForSelector(`${cell("high", 1)} .tile:has-text("two")`);
    await becomes([["one", "three"], ["two"], []]);
    assert.equal((await owner.get(`/v1/cards/${two.id}`)).priority, "high");
    await page.click(".toast >> nth=-1 >> text=Undo");
    await becomes([["one", "two", "three"], [], []]);
    assert.equal((await owner.get(`/v1/cards/${two.id}`)).priority, "none");
    await page.waitForSelector(`${cell("none", 0)} .tile:has-text("two")`);
    // By keys: down the column, over the lanes' borders, and beside.
    await page.focus(`${cell("high", 0)} .tile`);
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => document.activeElement.querySelector(".title")?.textContent === "two");
    await page.click(".lanes-by >> text=Assigned to");
    await page.waitForSelector('[data-lane="none"] .tile:has-text("one")');
    assert.equal(new URL(page.url()).search, "?view=lanes");
    assert.deepEqual(page.complaints, []);
  });

  test("the same cards as a list that is sorted, and in a calendar where another day is another due date", async () => {
    const [one, two] = await newBoard(["one", "two", "three"]);
    const day = (date) => new Date().toISOString().slice(0, 8) + date;
    await owner.send("PATCH", `/v1/cards/${one.id}`, { due: day("20"), priority: "low" });
    await owner.send("PATCH", `/v1/cards/${two.id}`, { due: day("10"), priority: "urgent" });
    await openBoard(undefined, "?view=list");
    const listed = () => page.$$eval(".list-rows [data-card] .title", (all) => all.map((each) => each.textContent));
    assert.deepEqual(await listed(), ["one", "two", "three"]);
    await page.click(".list-sort >> text=Due");
    await becomes(["two", "one", "three"], listed);
    await page.click(".list-sort >> text=Priority");
    await becomes(["two", "one", "three"], listed);
    await page.click(".views >> text=Calendar");
    await page.waitForSelector("text=1 without a date");
    await page.dragAndDrop(`.calendar a:text-is("one")`, `.calendar [data-day="${day("15")}"]`);
    await becomes(day("15"), async () => (await owner.get(`/v1/cards/${one.id}`)).due);
    await page.click(".calendar a:text-is('two')");
    await page.waitForSelector(".card-panel h1:has-text('two')");
    assert.deepEqual(page.complaints, []);
  });

  test("in the calendar a finger moves a card to another day after a long press, and that can be undone", async () => {
    const [one] = await newBoard(["one", "two"]);
    const day = (date) => new Date().toISOString().slice(0, 8) + date;
    await owner.send("PATCH", `/v1/cards/${one.id}`, { due: day("10") });
    await openBoard({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, "?view=calendar");
    const card = page.locator(".day-card:text-is('one')");
    const due = async () => (await owner.get(`/v1/cards/${one.id}`)).due;
    const client = await page.context().newCDPSession(page);
    const touch = (type, x, y) => client.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x, y }] });
    const [from, to] = [await centre(card), await centre(page.locator(`[data-day="${day("18")}"]`))];
    await touch("touchStart", from.x, from.y);
    await page.waitForSelector(".day-card.ghost");
    for (let step = 1; step <= 5; step += 1) await touch("touchMove", from.x + ((to.x - from.x) * step) / 5, from.y + ((to.y - from.y) * step) / 5);
    await page.waitForFunction((date) => document.querySelector(`[data-day="${date}"] .drop-line`).style.opacity === "1", day("18"));
    await touch("touchEnd");
    await becomes(day("18"), due);
    await page.click(".toast >> text=Undo");
    await becomes(day("10"), due);
    await page.tap(`[data-day="${day("10")}"] .date`);
    await page.waitForSelector(".day-list a:has-text('one')"); // with its whole title
    await card.tap();
    await page.waitForSelector(".card-panel h1:has-text('one')");
    assert.deepEqual(page.complaints, []);
  });

  test("cards are added in a row, and what the server refuses is taken back and said", async () => {
    await newBoard(["one"]);
    await owner.send("PATCH", `/v1/boards/${board.id}/columns/${columns[1].id}`, { wip_limit: 1, wip_policy: "hard" });
    await openBoard();
    await page.keyboard.press("n");
    for (const title of ["two", "three"]) {
      await page.keyboard.type(title);
      await page.keyboard.press("Enter");
    }
    await becomes([["one", "two", "three"], [], []]);
    await page.keyboard.press("Escape");
    const other = await page.locator(`[data-column="${columns[1].id}"] .column-cards`).boundingBox();
    const into = { x: other.x + 60, y: other.y + 60 };
    await dragTo("one", into);
    await becomes([["two", "three"], ["one"], []]);
    await dragTo("two", { x: into.x, y: into.y + 80 });
    await page.waitForSelector(".toast >> text=/Only|room|takes|column/");
    await page.waitForFunction((id) => document.querySelectorAll(`[data-column="${id}"] .tile`).length === 2, columns[0].id);
    assert.deepEqual(await titlesOn(0), ["two", "three"]);
  });

  test("labels and properties are renamed where they stand, and deleted after a question; cards follow", async () => {
    const [card] = await newBoard(["one"]);
    const label = await owner.post(`/v1/boards/${board.id}/labels`, { name: "bug", color: "red" });
    await owner.post(`/v1/boards/${board.id}/properties`, { name: "Effort", type: "number" });
    await owner.send("PATCH", `/v1/cards/${card.id}`, { labels: [label.id], properties: { Effort: { number: 3 } } });
    await openBoard(undefined, `?card=${card.id}`);
    await page.waitForSelector(".properties div:has(dt:text-is('Effort'))");
    await page.waitForSelector(".live.live");
    const rename = async (name, next) => {
      await page.fill(`input[aria-label='${name}']`, next);
      await page.keyboard.press("Tab");
    };
    await page.click("role=button[name='About this board']");
    await page.click("role=menuitem >> text=Labels");
    await rename("Name of the label bug", "defect");
    await page.waitForSelector("input[aria-label='Name of the label defect']");
    await rename("Name of the property Effort", "Days");
    await page.waitForSelector("input[aria-label='Name of the property Days']");
    await page.waitForFunction(() => [...document.querySelectorAll(".properties div")].find((each) => each.querySelector("dt")?.textContent === "Days")?.querySelector("input").value === "3");
    await page.waitForSelector(".tile:has-text('defect')");
    for (const what of ["label defect", "property Days"]) {
      await page.click(`role=button[name='Delete the ${what}']`);
      await page.click(".dialog:has(h2:text-matches('^Delete the')) .danger");
      await page.waitForSelector(`role=button[name='Delete the ${what}']`, { state: "detached" });
    }
    await page.waitForFunction(() => !document.body.textContent.includes("defect") && !document.querySelector(".properties").textContent.includes("Days"));
    assert.deepEqual((await owner.get(`/v1/boards/${board.id}`)).labels, []);
    assert.deepEqual(page.complaints, []);
  });

  test("a queue's column says where its cards go when they are done", async () => {
    await newBoard(["one"]);
    await openBoard();
    await page.click(`[data-column="${columns[0].id}"] [aria-label^=About]`);
    await page.click("role=menuitem >> text=Edit the column");
    await page.check("text=A work queue");
    await page.getByLabel("Where completed cards go").selectOption(columns[2].id);
    await page.click(".dialog .go");
    await page.waitForSelector(".dialog", { state: "detached" });
    const { queue } = (await owner.get(`/v1/boards/${board.id}/columns`)).results[0];
    assert.deepEqual([queue.enabled, queue.on_complete_column_id, queue.on_exhausted_column_id], [true, columns[2].id, null]);
  });

  test("a new card is in sight, however long its column is", async () => {
    await newBoard(Array.from({ length: 30 }, (_, at) => `card ${at}`));
    await openBoard();
    await page.click(`[data-column="${columns[0].id}"] .add-card`);
    await page.keyboard.type("the last one");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => {
      const found = [...document.querySelectorAll(".tile")].find((each) => each.textContent.includes("the last one"));
      const column = found?.closest(".column-cards").getBoundingClientRect();
      return found && found.getBoundingClientRect().bottom <= column.bottom && found.getBoundingClientRect().top >= column.top;
    });
    assert.deepEqual(page.complaints, []);
  });

  test("what others do shows within moments, but nothing moves under a card that is held", async () => {
    const [one, two] = await newBoard(["one", "two", "three"]);
    await openBoard();
    await page.waitForSelector(".live.live");
    await owner.post(`/v1/cards/${two.id}:move`, { column_id: columns[2].id });
    await page.waitForFunction((id) => document.querySelector(`[data-column="${id}"] .tile`), columns[2].id);
    assert.deepEqual(await titlesOn(0), ["one", "three"]);
    const from = await centre(tile("three"));
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + 30, from.y + 10, { steps: 4 });
    await page.waitForSelector(".tile.ghost");
    await owner.post(`/v1/cards/${one.id}:move`, { column_id: columns[1].id });
    await owner.send("PATCH", `/v1/cards/${one.id}`, { title: "one, renamed" });
    await new Promise((done) => setTimeout(done, 1_000));
    assert.deepEqual(await titlesOn(0), ["one", "three"]);
    await page.keyboard.press("Escape");
    await page.mouse.up();
    await page.waitForFunction((id) => document.querySelector(`[data-column="${id}"] .tile .title`)?.textContent === "one, renamed", columns[1].id);
    assert.deepEqual(page.complaints, []);
  });

  test("the demonstration board comes by one press, and its three lines make an agent work on it", async () => {
    const org = await owner.post("/v1/orgs", { name: "Fresh" });
    page = await chromium.open(server.url + "/boards", { person: owner });
    await page.waitForSelector(".switcher >> text=Acme");
    await page.waitForLoadState("networkidle");
    await page.click(".switcher");
    await page.click("[role=menuitem] >> text=Fresh");
    await page.click("text=Create a demonstration board");
    await page.waitForSelector(".dialog >> text=Connect an agent");
    await page.click("text=Create an agent and its token");
    await page.waitForSelector(".dialog [role=status]:has-text('shown this once')");
    const lines = (await page.textContent(".dialog .sample")).split("\n");
    assert.equal(lines.length, 3);
    assert.match(lines[0], /^export TOKEN=svc_[\w-]{43}$/);
    await page.keyboard.press("Escape"); // it is shown this once
    await page.check(".dialog >> text=I have stored it");
    await page.click(".dialog [aria-label=Close]");
    await page.waitForSelector(".tile >> text=Answer the mail about the broken invoice");
    const { spawnSync } = await import("node:child_process");
    const { status, stdout, stderr } = spawnSync("bash", ["-ec", lines.join("\n")], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    assert.equal(JSON.parse(stdout).lease?.state, "completed", stdout);
    await page.waitForSelector("section:has(h2:has-text('Review')) .tile >> text=Answer the mail about the broken invoice");
    assert.ok(org.id);
    assert.deepEqual(page.complaints, []);
  });
});
