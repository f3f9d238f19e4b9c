// What is written in fields and dialogs, and what is pressed: it is saved as it was meant, takes back nothing that
// others did, and is not lost when it is refused.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { makeBoard } from "../support/boards.mjs";
import { deferred } from "../support/until.mjs";
import { becomes, heading, refusal } from "../support/visits.mjs";

export default (house) => describe("fields and dialogs", { concurrency: false }, () => {
  let server, dora, dan, page, other, board, columns;

  before(async () => {
    ({ server } = house);
    ({ dora, dan } = house.people);
    await setRole("member");
    page = await house.chromium.open(server.url + "/boards", { person: dora });
    other = await house.chromium.open(server.url + "/boards", { person: dan });
  });

  const org = () => dora.headers["X-Svc-Org"];
  async function setRole(role) {
    const { results } = await dora.get(`/v1/orgs/${org()}/members`);
    await dora.send("PATCH", `/v1/orgs/${org()}/members/${results.find(({ user }) => user.email === "dan@example.com").user_id}`, { role });
  }
  async function newBoard(titles, more = {}) {
    let cards;
    ({ board, columns, cards } = await makeBoard(dora, titles, more));
    return cards;
  }
  const change = (card, body) => dora.send("PATCH", `/v1/cards/${card.id}`, body);
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
    await page.route(address, (route) => route.fulfill(refusal(status, "refused", message)));
    await act();
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
  /** Has such calls wait for a while before they go on. */
  const slowly = (where, address, milliseconds) => where.route(address, (route) => setTimeout(() => route.continue(), milliseconds));
  const focused = (where) => where.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent);

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
    await becomes(async () => (await dora.get(`/v1/cards/${card.id}`)).due, (day) => day === "2026-12-24");
    await change(card, { due: "2027-01-02" });
    await valueBecomes(due, "2027-01-02");
    // What is no day, or is none of ours, is not saved.
    await page.focus(due);
    await page.keyboard.type("03040006");
    await page.keyboard.press("Enter");
    await valueBecomes(due, "2027-01-02");
    await page.fill(due, "2028-02-29"); // as by the calendar of the browser
    await becomes(async () => (await dora.get(`/v1/cards/${card.id}`)).due, (day) => day === "2028-02-29");
    assert.equal(saves, 2);
  });

  test("what is due is late when its day is over, also while it is shown", async () => {
    const [card] = await newBoard(["one"]);
    await change(card, { due: new Date().toISOString().slice(0, 10) });
    const night = await house.chromium.open(`${server.url}/boards/${board.id}`, { person: dora, hasClock: true });
    await night.waitForSelector(".tile .facts-line");
    assert.equal(await night.locator(".tile .late").count(), 0);
    await night.clock.fastForward("24:02:00");
    await night.waitForSelector(".tile .late");
    await night.context().close();
  });

  test("what is refused stays to be sent again, and Enter confirms a name", async () => {
    await newBoard([]);
    await dora.post(`/v1/boards/${board.id}/labels`, { name: "bug", color: "red" });
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
    await becomes(async () => (await dora.get(`/v1/boards/${board.id}`)).labels.map((label) => label.name), (names) => names.includes("beetle"));
  });

  test("a dialog sends what was changed in it, and nothing else", async () => {
    await newBoard([]);
    await page.goto(`${server.url}/boards/${board.id}`);
    await page.click(`[aria-label='About ${columns[0].name}']`);
    await page.click("[role=menuitem]:has-text('Edit the column')");
    await page.waitForSelector(".dialog form");
    const place = `/v1/boards/${board.id}/columns`;
    await dora.send("PATCH", `${place}/${columns[0].id}`, { name: "Wishes", wip_limit: 7 });
    await page.waitForSelector("h2:has-text('Wishes')", { state: "attached" });
    await page.selectOption(".dialog label:has-text('Color') + select", "red");
    await page.click(".dialog .go");
    await page.waitForSelector(".dialog", { state: "detached" });
    const [{ name, color, wip_limit }] = (await dora.get(place)).results;
    assert.deepEqual({ name, color, wip_limit }, { name: "Wishes", color: "red", wip_limit: 7 });
    await choose("Name and description");
    await dora.send("PATCH", `/v1/boards/${board.id}`, { name: "Deliveries" });
    await page.waitForSelector("h1:has-text('Deliveries')", { state: "attached" });
    await page.fill(".dialog textarea", "What is wanted");
    await page.click(".dialog .go");
    await page.waitForSelector(".dialog", { state: "detached" });
    const now = await dora.get(`/v1/boards/${board.id}`);
    assert.deepEqual([now.name, now.description], ["Deliveries", "What is wanted"]);
  });

  test("a board in the trash says so, and comes back", async () => {
    await newBoard(["one"]);
    await page.goto(`${server.url}/boards/${board.id}`);
    await page.waitForSelector(".tile");
    await dora.send("DELETE", `/v1/boards/${board.id}`);
    await page.waitForSelector(".board-head .tag:text-is('in the trash')");
    await page.reload();
    await page.waitForSelector(".board-head .tag:text-is('in the trash')");
    assert.equal(await page.locator(".board-head:has-text('you may read it')").count(), 0);
    await page.click(".board-head button:text-is('Restore')");
    await becomes(async () => (await dora.get(`/v1/boards/${board.id}`)).in_trash, (is) => is === false);
    await page.waitForSelector(".new-column");
  });

  test("a card is shown on its own board, and says when it cannot be restored", async () => {
    const [stranger] = await newBoard(["A stranger"]);
    const home = board.id;
    await dora.post(`/v1/cards/${stranger.id}:archive`);
    await newBoard([]);
    await page.goto(`${server.url}/boards/${board.id}?card=${stranger.id}`);
    await page.waitForURL(`**/boards/${home}?card=${stranger.id}`);
    await refused("**/v1/cards/*:restore", 409, "The column is full", async () => {
      await page.click(".away-note >> text=Restore");
      await page.waitForSelector(".toast:has-text('The column is full')");
    });
    assert.deepEqual(page.complaints, []);
  });

  test("the palette says why it finds nothing, and what was chosen in it stays so", async () => {
    await page.goto(server.url + "/boards");
    await heading(page, "Boards");
    await refused("**/v1/search", 429, "Too many searches", async () => {
      await page.keyboard.press("Control+k");
      await page.fill("[role=combobox]", "zebra crossing");
      await page.waitForSelector(".dialog .failure:has-text('Too many searches')");
      assert.equal(await page.locator(".dialog:has-text('Nothing fits')").count(), 0);
    });
    const answer = deferred();
    const result = { object: "card", id: board.id, key: "ORD-1", title: "Show this", highlight: [] };
    await page.route("**/v1/search", async (route) => {
      await answer.promise;
      await route.fulfill({ contentType: "application/json", body: JSON.stringify({ object: "list", results: [result], next_cursor: null }) });
    });
    await page.fill("[role=combobox]", "show");
    await page.waitForSelector("[role=option]:has-text('Show the keys')");
    await page.keyboard.press("ArrowDown");
    const chosen = await page.textContent("[role=option][aria-selected=true]");
    answer.resolve();
    await page.waitForSelector("[role=option]:has-text('Show this')");
    assert.equal(await page.textContent("[role=option][aria-selected=true]"), chosen);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  test("a board that is shown again is in its own workspace", async () => {
    await dora.post("/v1/orgs", { name: "🚀 Rockets" });
    const [card] = await newBoard(["one"]);
    await page.goto(`${server.url}/boards/${board.id}`);
    await page.waitForSelector(".tile");
    await page.click(".switcher");
    await page.click("[role=menuitem]:has-text('Rockets')");
    await heading(page, "Boards");
    const mark = await page.textContent(".switcher .mark");
    await page.goBack();
    await page.click(".tile");
    await page.waitForSelector(".card-panel .properties");
    assert.equal(await page.evaluate(() => sessionStorage.getItem("workboard.workspace")), org());
    await page.fill("[aria-label='Title']", "changed");
    await page.keyboard.press("Enter");
    await becomes(async () => (await dora.get(`/v1/cards/${card.id}`)).title, (title) => title === "changed");
    assert.equal(mark, "🚀");
  });

  test("what is pressed while something runs is done after it, and the focus stays in the list", async () => {
    const { id } = await dan.get("/v1/me");
    await newBoard([]);
    await dan.post("/v1/notifications:readAll");
    for (const title of ["first", "second", "third"]) await dora.post(`/v1/boards/${board.id}/cards`, { column_id: columns[0].id, title, assignees: [id] });
    await becomes(async () => (await dan.get("/v1/notifications/count")).unread_count, (count) => count === 3);
    await slowly(other, "**/v1/notifications/*:read", 300);
    await other.goto(server.url + "/inbox");
    await other.focus("[data-notice='0']");
    for (const key of ["e", "j", "e"]) await other.keyboard.press(key);
    await becomes(async () => (await dan.get("/v1/notifications/count")).unread_count, (count) => count === 1);
    await other.waitForFunction(() => document.querySelectorAll("[data-notice]").length === 1);
    assert.match(await focused(other), /first/);
    await slowly(page, "**/members/*", 300);
    await page.goto(server.url + "/members");
    for (const role of ["admin", "member"]) await page.selectOption("[aria-label='Role of Dan']", role);
    const roleOf = async () => (await dan.get("/v1/me/memberships")).results.find(({ org_id }) => org_id === org()).role;
    const met = [];
    await becomes(async () => met[met.push(await roleOf()) - 1], () => met.includes("admin") && met.at(-1) === "member");
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  test("lists follow what others archive, and a board that was granted is among one's own", async () => {
    await newBoard([], { visibility: "private", name: "Secrets" });
    await other.goto(server.url + "/boards");
    await heading(other, "Boards");
    await other.click(".sidebar a[href='/members']");
    await heading(other, "Members");
    await dora.send("PUT", `/v1/boards/${board.id}/access-grants/${(await dan.get("/v1/me")).id}`, { role: "viewer" });
    await other.click(".sidebar a[href='/boards']");
    await other.waitForSelector("#main a:has-text('Secrets')");
    const cards = await newBoard(["apple", "banana"]);
    await dora.post(`/v1/cards/${cards[0].id}:archive`);
    await page.goto(server.url + "/trash");
    await page.waitForSelector("td:has-text('apple')");
    await page.waitForSelector(".live.live");
    await dora.post(`/v1/cards/${cards[1].id}:archive`);
    await page.waitForSelector("td:has-text('banana')");
    await page.focus(`[aria-label='Restore ${cards[1].key}']`);
    await page.keyboard.press("Enter");
    await page.waitForSelector("td:has-text('banana')", { state: "detached" });
    assert.equal(await focused(page), `Restore ${cards[0].key}`);
  });

  test("nothing is offered that would be refused", async () => {
    const { id } = await dora.post("/v1/webhooks", { url: "https://example.com/hook", name: "Shop", events: ["card.*"] });
    await page.goto(`${server.url}/webhooks/${id}`);
    await refused("**/v1/webhooks/*:test", 409, "Not just now", async () => {
      await page.click("text=Send a test");
      await page.waitForSelector("#main .failure");
    });
    await page.click("text=Delete…");
    await page.waitForSelector(".dialog form");
    assert.equal(await page.locator(".failure").count(), 0);
    await setRole("viewer");
    await other.goto(server.url + "/webhooks");
    await other.waitForSelector("#main .failure");
    assert.equal(await other.locator("#main button:has-text('New webhook')").count(), 0);
    await other.goto(`${server.url}/boards/${board.id}`);
    await other.click("[aria-label='About this board']");
    assert.equal(await other.getAttribute("[role=menuitem]:has-text('Duplicate')", "aria-disabled"), "true");
    assert.deepEqual([...page.complaints, ...other.complaints], []);
  });
});
