// What fields hold: it is changed as it was meant, in all of its parts, wherever the page comes from.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { makeBoard } from "../support/boards.mjs";
import { plainHost } from "../support/chromium.mjs";
import { becomes, heading, holdBack, password, picture, says, signIn } from "../support/visits.mjs";

export default (house) => describe("values", { concurrency: false }, () => {
  let server, dora, dan, page;

  before(async () => {
    ({ server } = house);
    ({ dora, dan } = house.people);
    page = await house.chromium.open(server.url + "/boards", { person: dora, timezoneId: "America/New_York" });
  });

  async function openCard(title, { properties = [], ...more } = {}) {
    const made = await makeBoard(dora, [title], more);
    for (const each of properties) await dora.post(`/v1/boards/${made.board.id}/properties`, each);
    [made.card] = made.cards;
    made.now = () => dora.get(`/v1/cards/${made.card.id}`);
    made.come = async () => {
      await page.goto(`${server.url}/cards/${made.card.id}`);
      await heading(page, title);
      await page.waitForSelector(".live.live");
    };
    await made.come();
    return made;
  }
  const field = (name) => `.properties div:has(> dt:has-text("${name}"))`;

  test("by plain HTTP, from another machine, cards are made and links are copied", async () => {
    const { board, columns } = await makeBoard(dora, []);
    const there = `http://${plainHost}:${new URL(server.url).port}`;
    const plain = await house.chromium.open(`${there}/boards/${board.id}`, { person: dora });
    assert.equal(await plain.evaluate(() => isSecureContext), false);
    await plain.waitForSelector(`[data-column="${columns[0].id}"]`);
    await plain.keyboard.press("n");
    await plain.keyboard.type("From the kitchen");
    await plain.keyboard.press("Enter");
    await becomes(() => dora.get(`/v1/cards?board_id=${board.id}`), ({ results }) => results[0]?.title === "From the kitchen");
    await plain.keyboard.press("Escape");
    await plain.click(".tile:has-text('From the kitchen')");
    await heading(plain, "From the kitchen");
    await plain.click(".editor");
    await plain.keyboard.type("Written there");
    await becomes(async () => (await dora.get(`/v1/cards?board_id=${board.id}`)).results[0].block_count, (count) => count === 1);
    await plain.click("[aria-label='About this card']");
    await plain.click("[role=menuitem]:has-text('Copy the link')");
    await plain.waitForSelector(".toast:has-text('The link is copied')");
    await plain.context().close();
  });

  test("options of a list are chosen and taken away again, beside what others choose", async () => {
    const { card, now } = await openCard("Listed", { properties: [{ name: "Parts", type: "multi_select", options: ["lid", "pot", "spout"].map((name) => ({ name })) }] });
    const chosen = async () => ((await now()).properties.Parts?.multi_select ?? []).map(({ name }) => name).join(" ");
    const press = (name) => page.click(`${field("Parts")} button:has-text("${name}")`);
    await press("lid");
    await press("pot");
    await becomes(chosen, (all) => all === "lid pot");
    await press("lid");
    await becomes(chosen, (all) => all === "pot");
    // What another chooses while this is on its way stays.
    const letGo = await holdBack(page, "**/v1/cards/*");
    await press("lid");
    await dora.send("PATCH", `/v1/cards/${card.id}`, { properties: { Parts: { multi_select: [{ name: "pot" }, { name: "spout" }] } } });
    letGo();
    await becomes(chosen, (all) => all.split(" ").sort().join(" ") === "lid pot spout");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.waitForSelector(`${field("Parts")} [aria-pressed=true]:has-text("spout")`);
    for (const each of ["lid", "pot", "spout"]) {
      await press(each);
      await becomes(chosen, (all) => !all.includes(each));
    }
  });

  test("options are renamed, left out and added, unless others have changed them meanwhile", async () => {
    const { board, card, now } = await openCard("Optional", { properties: [{ name: "Parts", type: "multi_select", options: ["lid", "pot"].map((name) => ({ name })) }] });
    await dora.send("PATCH", `/v1/cards/${card.id}`, { properties: { Parts: { multi_select: [{ name: "lid" }, { name: "pot" }] } } });
    await page.goto(`${server.url}/boards/${board.id}`);
    // What is in a menu is found by its words.
    await page.waitForSelector(".tile");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("labels and prop");
    await page.waitForSelector("[role=option][aria-selected=true]:has-text('Labels and properties')");
    await page.keyboard.press("Enter");
    await page.click("[aria-label='Edit the property Parts']");
    await page.fill("[aria-label='Option 1']", "cap");
    await page.click("[aria-label='Remove pot']");
    await page.waitForSelector(".dialog :text('Cards that have pot lose it.')");
    await page.click("text=Add an option");
    await page.fill("[aria-label='Option 2']", "spout");
    await page.click(".dialog >> text=Save");
    await page.waitForSelector(".dialog :text('Some of several: cap, spout')");
    const options = async () => (await dora.get(`/v1/boards/${board.id}`)).properties[0].options.map(({ name }) => name);
    assert.deepEqual(await options(), ["cap", "spout"]);
    assert.deepEqual((await now()).properties.Parts.multi_select.map(({ name }) => name), ["cap"]);
    await page.click("[aria-label='Edit the property Parts']");
    await page.fill("[aria-label='Option 1']", "hat");
    await dora.send("PATCH", `/v1/cards/${card.id}`, { properties: { Parts: { multi_select: [{ name: "cap" }, { name: "handle" }] } } });
    await page.click(".dialog >> text=Save");
    await page.waitForSelector(".dialog .failure:has-text('changed')");
    assert.deepEqual(await options(), ["cap", "spout", "handle"]);
  });

  test("the day of a span is moved with its hour and its end", async () => {
    const { card, now, come } = await openCard("Spanned", { properties: [{ name: "Trip", type: "date" }] });
    await dora.send("PATCH", `/v1/cards/${card.id}`, { properties: { Trip: { date: { start: "2026-06-19T08:30:00Z", end: "2026-06-21T17:00:00Z" } } } });
    await come();
    await page.fill(`${field("Trip")} input`, "2026-07-01");
    const trip = await becomes(async () => (await now()).properties.Trip.date, ({ start }) => !start.startsWith("2026-06-19"));
    assert.deepEqual([trip.start, trip.end].map((each) => new Date(each).toISOString()), ["2026-07-01T08:30:00.000Z", "2026-07-03T17:00:00.000Z"]);
  });

  test("a title that nobody has written over is the one that others give it", async () => {
    const { card, now } = await openCard("Before");
    await page.focus(".card-title textarea");
    await dora.send("PATCH", `/v1/cards/${card.id}`, { title: "Renamed elsewhere" });
    await page.waitForSelector(".card-title .unseen:text-is('Renamed elsewhere')", { state: "attached" });
    await page.keyboard.press("Tab");
    await heading(page, "Renamed elsewhere");
    await page.focus(".card-title textarea");
    await page.keyboard.press("End");
    await page.keyboard.type(", and here");
    await page.keyboard.press("Tab");
    await becomes(async () => (await now()).title, (title) => title === "Renamed elsewhere, and here");
  });

  test("replies to a comment that was deleted stay one discussion", async () => {
    const { card, come } = await openCard("Discussed");
    const { id } = await dora.post("/v1/comments", { parent: { card_id: card.id }, markdown: "First" });
    for (const markdown of ["one", "two", "three"]) await dora.post("/v1/comments", { discussion_id: id, markdown });
    await dora.send("DELETE", `/v1/comments/${id}`);
    await come();
    await page.waitForSelector(".comment-text:text-is('three')");
    assert.deepEqual(await page.$$eval(".comments > ol > li", (all) => all.map((each) => each.querySelectorAll(".comment").length)), [3]);
  });

  test("a card is watched, and no longer, and what happens to it is told meanwhile", async () => {
    const { card, come } = await openCard("Watched");
    const watches = async () => (await dora.get(`/v1/cards/${card.id}/watchers/me`)).watching;
    await page.click("[aria-label='Watch this card'][aria-pressed=false]");
    await becomes(watches, (on) => on);
    await dan.post("/v1/comments", { parent: { card_id: card.id }, markdown: "Look here" });
    await becomes(() => dora.get("/v1/notifications?page_size=100"), ({ results }) => results.some(({ target }) => target?.card_id === card.id));
    await come();
    await page.click("[aria-label='Watch this card'][aria-pressed=true]");
    await becomes(watches, (on) => !on);
    await page.waitForSelector("[aria-label='Watch this card'][aria-pressed=false]");
  });

  test("files that came with a comment show", async () => {
    const { card, come } = await openCard("Illustrated");
    const form = await dora.post("/v1/files:presign", { filename: "shot.png", content_type: "image/png", size_bytes: picture.length });
    const body = new FormData();
    for (const [name, value] of Object.entries(form.upload_url_fields)) body.append(name, value);
    body.append("file", new Blob([picture], { type: "image/png" }));
    assert.ok((await fetch(new URL(form.upload_url, server.url), { method: "POST", body })).ok);
    await dora.post(`/v1/files/${form.id}:commit`);
    await dora.post("/v1/comments", { parent: { card_id: card.id }, markdown: "Look", attachments: [{ file_id: form.id }] });
    await come();
    await page.waitForFunction(() => document.querySelector(".comment-files img")?.naturalWidth === 8);
    assert.deepEqual(page.complaints, []);
  });

  test("whoever has not confirmed the address is sent the mail again where they sign in", async () => {
    const body = { email: "iris@example.com", password, name: "Iris" };
    await fetch(`${server.url}/v1/auth/signup`, { method: "POST", headers: { "Content-Type": "application/json", "X-Board-Version": "2026-06-19" }, body: JSON.stringify(body) });
    const hers = await house.chromium.open(server.url + "/login");
    await signIn(hers, server, body.email);
    await says(hers, "not confirmed yet");
    await hers.click("text=Send the mail again");
    await says(hers, "Another mail is on its way to iris@example.com");
    await hers.context().close();
  });

  test("access is granted as it was chosen, and to nobody twice", async () => {
    const { board } = await openCard("Granted", { visibility: "private" });
    await page.goto(`${server.url}/boards/${board.id}`);
    await page.click("[aria-label='About this board']");
    await page.click("[role=menuitem]:has-text('Access')");
    const { id } = await dan.get("/v1/me");
    await page.selectOption(".dialog form select >> nth=0", id);
    await page.selectOption(".dialog form select >> nth=1", "viewer");
    await page.click(".dialog >> text=Grant >> nth=-1");
    await becomes(() => dora.get(`/v1/boards/${board.id}/access-grants`), ({ results }) => results.some(({ principal, role }) => principal.id === id && role === "viewer"));
    await page.waitForSelector(`.dialog option[value="${id}"]`, { state: "detached" });
    // A board that is no longer for them to see goes while they look at it.
    const his = await house.chromium.open(`${server.url}/boards/${board.id}`, { person: dan });
    await his.waitForSelector(".live.live");
    await his.waitForSelector(".tile:has-text('Granted')");
    await page.click(".dialog >> text=Revoke");
    await his.waitForSelector("h1:has-text('Nothing here')");
    await his.context().close();
  });

  test("the address of a shared board is not left until it is stored", async () => {
    const { board } = await openCard("Shared");
    await page.goto(`${server.url}/boards/${board.id}`);
    await page.click("[aria-label='About this board']");
    await page.click("[role=menuitem]:has-text('Share')");
    const letGo = await holdBack(page, "**/share-links", { times: 1 });
    await page.click(".dialog >> text=Make a link");
    await page.waitForSelector(".dialog [aria-label=Close][aria-disabled=true]");
    await page.keyboard.press("Escape");
    letGo();
    await page.waitForSelector(".dialog .sample:has-text('/shared/')");
    await page.keyboard.press("Escape");
    await page.waitForTimeout(200);
    assert.equal(await page.isVisible(".dialog .sample"), true);
    await page.check(".dialog >> text=I have stored it");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".dialog", { state: "detached" });
    assert.deepEqual(page.complaints, []);
  });
});
