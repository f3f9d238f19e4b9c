// What is written in fields and dialogs, and what is pressed: it is saved as it was meant, takes back nothing that
// others did, and is not lost when it is refused.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { becomes, heading } from "../support/visits.mjs";

export default (house) => describe("fields and dialogs", { concurrency: false }, () => {
  let server, rita, page, board, columns;

  before(async () => {
    ({ server } = house);
    ({ rita } = house.people);
    page = await house.chromium.open(server.url + "/boards", { person: rita });
  });

  const org = () => rita.headers["X-Svc-Org"];
  async function newBoard(titles, more = {}) {
    board = await rita.post("/v1/boards", { name: "Orders", ...more });
    columns = (await rita.get(`/v1/boards/${board.id}/columns`)).results;
    const cards = [];
    for (const title of titles) cards.push(await rita.post(`/v1/boards/${board.id}/cards`, { column_id: columns[0].id, title }));
    return cards;
  }
  const change = (card, body) => rita.send("PATCH", `/v1/cards/${card.id}`, body);
  const valueBecomes = (selector, value) =>
    page.waitForFunction(([where, wanted]) => document.querySelector(where)?.value === wanted, [selector, value]);
  /** By the board's menu. */
  async function choose(name) {
    await page.click("[aria-label='About this board']");
    await page.click(`[role=menuitem]:has-text("${name}")`);
    await page.waitForSelector(".dialog form");
  }
  /** Has the page's calls of an address refused while `act` is done. */
  async function refused(address, status, message, act) {
    await page.route(address, (route) => route.fulfill({ status, contentType: "application/json", body: JSON.stringify({ object: "error", status, code: "refused", message }) }));
    await act();
    await page.unroute(address);
  }

  test("a day is saved when it is complete, whatever comes while it is typed", async () => {
    const [card] = await newBoard(["one"]);
    await page.goto(`${server.url}/boards/${board.id}?card=${card.id}`);
    const due = "[aria-labelledby=due-of]";
    let saves = 0;
    page.on("request", (request) => { if (request.method() === "PATCH") saves += 1; });
    await page.focus(due);
    await page.keyboard.type("122420");
    await change(card, { due: "2027-01-02", estimate: 3 });
    await valueBecomes("[aria-labelledby=estimate-of]", "3");
    await page.keyboard.type("26");
    await page.keyboard.press("Enter");
    await becomes(async () => (await rita.get(`/v1/cards/${card.id}`)).due, (day) => day === "2026-12-24");
    await change(card, { due: "2027-01-02" });
    await valueBecomes(due, "2027-01-02");
    // What is no day, or is none of ours, is not saved.
    await page.focus(due);
    await page.keyboard.type("03040006");
    await page.keyboard.press("Enter");
    await valueBecomes(due, "2027-01-02");
    await page.fill(due, "2028-02-29"); // as by the calendar of the browser
    await becomes(async () => (await rita.get(`/v1/cards/${card.id}`)).due, (day) => day === "2028-02-29");
    assert.equal(saves, 2);
  });

  test("what is refused stays to be sent again, and Enter confirms a name", async () => {
    await newBoard([]);
    await rita.post(`/v1/boards/${board.id}/labels`, { name: "bug", color: "red" });
    await page.goto(`${server.url}/boards/${board.id}`);
    await choose("Labels and properties");
    const [name, property, options] = ["New label", "New property", "Options"].map((label) => page.getByLabel(label, { exact: true }));
    await name.fill("bug");
    await name.press("Enter");
    await page.waitForSelector(".dialog .failure");
    assert.equal(await name.inputValue(), "bug");
    await name.fill("defect");
    await name.press("Enter");
    await page.waitForSelector("[aria-label='Name of the label defect']");
    assert.equal(await name.inputValue(), "");
    await page.selectOption("label:has-text('Kind of value') + select", "select");
    await property.fill("Size");
    await options.fill("small, large");
    await refused("**/properties", 503, "busy", async () => {
      await property.press("Enter");
      await page.waitForSelector(".dialog .failure:has-text('busy')");
    });
    assert.deepEqual([await property.inputValue(), await options.inputValue()], ["Size", "small, large"]);
    await property.press("Enter");
    await page.waitForSelector("[aria-label='Name of the property Size']");
    assert.deepEqual([await property.inputValue(), await options.inputValue()], ["", ""]);
    await page.fill("[aria-label='Name of the label bug']", "beetle");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await becomes(async () => (await rita.get(`/v1/boards/${board.id}`)).labels.map((label) => label.name), (names) => names.includes("beetle"));
  });

  test("a dialog sends what was changed in it, and nothing else", async () => {
    await newBoard([]);
    await page.goto(`${server.url}/boards/${board.id}`);
    await page.click(`[aria-label='About ${columns[0].name}']`);
    await page.click("[role=menuitem]:has-text('Edit the column')");
    await page.waitForSelector(".dialog form");
    const place = `/v1/boards/${board.id}/columns`;
    await rita.send("PATCH", `${place}/${columns[0].id}`, { name: "Wishes", wip_limit: 7 });
    await page.waitForSelector("h2:has-text('Wishes')", { state: "attached" });
    await page.selectOption(".dialog label:has-text('Color') + select", "red");
    await page.click(".dialog .go");
    await page.waitForSelector(".dialog", { state: "detached" });
    const [{ name, color, wip_limit }] = (await rita.get(place)).results;
    assert.deepEqual({ name, color, wip_limit }, { name: "Wishes", color: "red", wip_limit: 7 });
    await choose("Name and description");
    await rita.send("PATCH", `/v1/boards/${board.id}`, { name: "Deliveries" });
    await page.waitForSelector("h1:has-text('Deliveries')", { state: "attached" });
    await page.fill(".dialog textarea", "What is wanted");
    await page.click(".dialog .go");
    await page.waitForSelector(".dialog", { state: "detached" });
    const now = await rita.get(`/v1/boards/${board.id}`);
    assert.deepEqual([now.name, now.description], ["Deliveries", "What is wanted"]);
  });

  test("a card is shown on its own board, and says when it cannot be restored", async () => {
    const [stranger] = await newBoard(["A stranger"]);
    const home = board.id;
    await rita.post(`/v1/cards/${stranger.id}:archive`);
    await newBoard([]);
    await page.goto(`${server.url}/boards/${board.id}?card=${stranger.id}`);
    await page.waitForURL(`**/boards/${home}?card=${stranger.id}`);
    await refused("**/v1/cards/*:restore", 409, "The column is full", async () => {
      await page.click(".away-note >> text=Restore");
      await page.waitForSelector(".toast:has-text('The column is full')");
    });
    assert.deepEqual(page.complaints, []);
  });

  test("a board that is shown again is in its own workspace", async () => {
    await rita.post("/v1/orgs", { name: "🚀 Rockets" });
    const [card] = await newBoard(["one"]);
    await page.goto(`${server.url}/boards/${board.id}`);
    await page.waitForSelector(".tile");
    await page.click(".switcher");
    await page.click("[role=menuitem]:has-text('Rockets')");
    await heading(page, "Boards");
    await page.goBack();
    await page.click(".tile");
    await page.waitForSelector(".card-panel .properties");
    assert.equal(await page.evaluate(() => sessionStorage.getItem("workboard.workspace")), org());
    await page.fill("[aria-label='Title']", "changed");
    await page.keyboard.press("Enter");
    await becomes(async () => (await rita.get(`/v1/cards/${card.id}`)).title, (title) => title === "changed");
  });
});
