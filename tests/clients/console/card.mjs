// A card in the console: its properties, dependencies, comments, history.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { deferred, untilEqual } from "../support/until.mjs";
import { becomes as itBecomes, heading, holdBack } from "../support/visits.mjs";
import { type as typeOn } from "../support/writing.mjs";

export default (house) => describe("a card", { concurrency: false }, () => {
  let server, chromium, owner, page, board, column;

  before(async () => {
    ({ server, chromium } = house);
    owner = house.people.cleo;
    board = await owner.post("/v1/boards", { name: "Writing" });
    [column] = (await owner.get(`/v1/boards/${board.id}/columns`)).results;
    page = await chromium.open(server.url + "/boards", { person: owner });
  });

  async function openCard(title, more = {}) {
    const card = await owner.post(`/v1/boards/${board.id}/cards`, { column_id: column.id, title, ...more });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    page.complaints.length = 0;
    await page.goto(`${server.url}/cards/${card.id}`);
    await heading(page, title);
    await page.waitForSelector(".editor");
    return card;
  }
  const type = (...keys) => typeOn(page, ...keys);
  /** What was written as a comment has been sent. */
  const isEmpty = () => page.waitForFunction(() => document.querySelector("textarea[aria-label='Write a comment']").value === "");

  test("a card is beside its board, or a page of its own, as the address says", async () => {
    await openCard("Shown alone");
    await page.waitForSelector(".board-side");
    await page.keyboard.press("f");
    await page.waitForSelector(".board-side", { state: "hidden" });
    assert.match(page.url(), /[?&]as=page/);
    await page.reload();
    await page.waitForSelector(".card-panel h1:has-text('Shown alone')");
    assert.equal(await page.isVisible(".board-side"), false);
    await page.click("[aria-label='As a page']");
    await page.waitForSelector(".board-side");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".card-panel", { state: "detached" });
    assert.doesNotMatch(page.url(), /as=|card=/);
  });

  test("a comment whose answer was lost is there once when it is sent again, and twice when that is meant", async () => {
    const card = await openCard("Said once");
    const comments = async () => (await owner.get(`/v1/comments?card_id=${card.id}`)).results;
    await page.route("**/v1/comments", async (route) => {
      await route.fetch();
      await route.abort();
    }, { times: 1 });
    await page.fill(".new-comment textarea", "Said");
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".new-comment :text('does not answer')");
    assert.equal((await comments()).length, 1);
    await page.focus(".new-comment textarea");
    await page.keyboard.press("Control+Enter");
    await isEmpty();
    assert.equal((await comments()).length, 1);
    await page.fill(".new-comment textarea", "Said");
    await page.keyboard.press("Control+Enter");
    await isEmpty();
    assert.equal((await comments()).length, 2);
    // Who reloads the page meanwhile has it in the box once more.
    const arrived = deferred();
    await page.route("**/v1/comments", async (route) => arrived.resolve(await route.fetch()), { times: 1 });
    await page.fill(".new-comment textarea", "Said before the reload");
    await page.keyboard.press("Control+Enter");
    await arrived.promise;
    await page.reload();
    await page.waitForFunction(() => document.querySelector(".new-comment textarea")?.value === "Said before the reload");
    await page.focus(".new-comment textarea");
    await page.keyboard.press("Control+Enter");
    await isEmpty();
    assert.equal((await comments()).length, 3);
  });

  test("what is written while a comment is on its way is there, and is sent after it", async () => {
    const card = await openCard("Said at once");
    const comments = async () => (await owner.get(`/v1/comments?card_id=${card.id}`)).results.map(({ rich_text }) => rich_text.map(({ plain_text }) => plain_text).join("")).toSorted();
    const box = page.locator("textarea[aria-label='Write a comment']");
    // The list is long in coming: the next one does not wait for it.
    let letGo = await holdBack(page, "**/v1/comments?*");
    await box.focus();
    for (const each of ["One", "Two"]) {
      await type("=" + each, "Control+Enter");
      await isEmpty();
    }
    await untilEqual(comments, ["One", "Two"]);
    letGo();
    await page.waitForSelector(".comment-text:text-is('Two')");
    await page.unroute("**/v1/comments?*");
    // Nor does it lose what follows while the one before is on its way.
    const sent = page.waitForRequest("**/v1/comments");
    letGo = await holdBack(page, "**/v1/comments", { times: 1 });
    await type("=Three", "Control+Enter");
    await sent;
    await type("= and four");
    letGo();
    await page.waitForFunction(() => document.querySelector("textarea[aria-label='Write a comment']").value === "and four");
    await untilEqual(comments, ["One", "Three", "Two"]);
    await type("Control+Enter", "Control+Enter");
    await page.waitForSelector(".comment-text:text-is('and four')");
    assert.deepEqual(await comments(), ["One", "Three", "Two", "and four"]);
    assert.deepEqual(page.complaints, []);
  });

  test("title, properties and dependencies are changed where they stand", async () => {
    const other = await owner.post(`/v1/boards/${board.id}/cards`, { column_id: column.id, title: "Has to be first" });
    const label = await owner.post(`/v1/boards/${board.id}/labels`, { name: "calm", color: "blue" });
    await owner.post(`/v1/boards/${board.id}/properties`, { name: "Effort", type: "number" });
    const card = await openCard("Changed");
    const now = () => owner.get(`/v1/cards/${card.id}`);
    const comesTo = (fits) => itBecomes(now, fits);
    await page.fill(".card-title textarea", "Changed for good");
    await page.press(".card-title textarea", "Enter");
    await comesTo(({ title }) => title === "Changed for good");
    await page.selectOption(".properties select >> nth=0", "high");
    await comesTo(({ priority }) => priority === "high");
    await page.fill(".properties input[type=date] >> nth=0", "2026-12-24");
    await comesTo(({ due }) => due === "2026-12-24");
    await page.click(".properties >> [aria-haspopup] >> nth=1");
    await page.click("[role=menuitem] >> text=calm");
    await comesTo(({ labels }) => labels.some(({ id }) => id === label.id));
    await page.fill(".properties div:has(dt:text-is('Effort')) input", "3");
    await page.keyboard.press("Tab");
    await comesTo(({ properties }) => properties.Effort?.number === 3);
    await page.click(".dependencies >> text=Add");
    await page.fill(".dialog input", "Has to be");
    await page.click(".dialog li button");
    await comesTo(({ blocked, blocked_by }) => blocked && blocked_by.includes(other.id));
    await page.waitForSelector(".dependencies .tag.bad");
    assert.deepEqual(page.complaints, []);
  });

  test("comments are written by keys, answered and resolved; the history says what was and what is", async () => {
    const card = await openCard("Discussed");
    await page.keyboard.press("c");
    await page.waitForSelector(".new-comment textarea:focus");
    await type("=This is **bold**", "Control+Enter");
    await page.waitForSelector(".comment-text strong:text-is('bold')");
    await page.click("text=Reply");
    await type("=An answer", "Control+Enter");
    await page.waitForFunction(() => document.querySelectorAll(".comment").length === 2);
    // What is written goes into the comment, and Escape leaves it as it was.
    const change = async () => {
      await page.click(".comment:has-text('An answer') >> role=button[name='About this comment']");
      await page.click("role=menuitem[name='Change']");
      await page.waitForSelector("textarea[aria-label='Edit the comment']:focus");
    };
    await change();
    await type("= nobody sees", "Escape");
    await page.waitForSelector(".comment-text:text-is('An answer')");
    assert.equal(await page.isVisible(".card-panel"), true);
    await change();
    await type("= and more", "Control+Enter");
    await page.waitForSelector(".comment-text:text-is('An answer and more')");
    await page.click("text=Resolve");
    await page.waitForSelector(".tag:has-text('resolved by Cleo')");
    // A deletion asks first: it cannot be undone.
    await page.click(".comment:has-text('An answer') >> role=button[name='About this comment']");
    await page.click("role=menuitem[name='Delete…']");
    await page.click(".dialog >> text=Cancel");
    assert.equal(await page.locator(".comment").count(), 2);
    await page.click(".comment:has-text('An answer') >> role=button[name='About this comment']");
    await page.click("role=menuitem[name='Delete…']");
    await page.click(".dialog .danger");
    await page.waitForFunction(() => document.querySelectorAll(".comment").length === 1);
    await owner.send("PATCH", `/v1/cards/${card.id}`, { title: "Discussed at length" });
    await heading(page, "Discussed at length");
    await page.click("#tab-history");
    await page.waitForSelector(".difference del:text-is('Discussed')");
    await page.waitForSelector(".difference ins:text-is('Discussed at length')");
    await page.click(".history >> text=Versions");
    await page.waitForSelector(".happening:has-text('Version 2') .difference:has(del:text-is('Discussed')):has(ins:text-is('Discussed at length'))");
    await page.click(".happening:has-text('Version 1') >> text=Restore this version");
    await heading(page, "Discussed");
    assert.deepEqual(page.complaints, []);
  });

  test("keys of an input method are its own: Enter takes its word and saves nothing, Escape closes nothing", async () => {
    const card = await openCard("Word");
    const session = await page.context().newCDPSession(page);
    const compose = (text) => session.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
    // An input method takes what its keys would write, and their codes.
    const pressInIt = (key, windowsVirtualKeyCode = 229) => session.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key, code: key, windowsVirtualKeyCode });
    const titles = () => owner.get(`/v1/cards/${card.id}`).then(({ title }) => title);
    await page.focus(".card-title textarea");
    await type("End");
    await compose("すし");
    await pressInIt("Enter");
    await session.send("Input.insertText", { text: "寿司" });
    assert.equal(await page.locator(".card-title textarea:focus").inputValue(), "Word寿司");
    await type("Enter");
    await itBecomes(titles, (title) => title === "Word寿司");
    await page.click("[aria-label^='Add a card to'] >> nth=0");
    await compose("きゅう");
    await pressInIt("Enter");
    await pressInIt("Escape");
    await session.send("Input.insertText", { text: "九" });
    assert.equal(await page.inputValue(".add-card textarea:focus"), "九");
    await type("Enter");
    await page.waitForSelector(".tile:has-text('九')");
    await page.focus(".new-comment textarea");
    await type("=@");
    await page.waitForSelector(".mentions");
    await compose("クレオ");
    await pressInIt("Enter");
    await session.send("Input.insertText", { text: "玉子" });
    assert.equal(await page.inputValue(".new-comment textarea"), "@玉子");
    // A phone's keyboard composes each word, and takes no Enter.
    await page.focus(".card-title textarea");
    await compose("鮪");
    await pressInIt("Enter", 13);
    await itBecomes(titles, (title) => title.includes("鮪"));
    assert.deepEqual(page.complaints, []);
  });

  test("while a comment is on its way, what is cancelled or half written is not sent, and another box keeps its own", async () => {
    const card = await openCard("Held back");
    await owner.post("/v1/comments", { parent: { card_id: card.id }, markdown: "First" });
    const comments = async () => (await owner.get(`/v1/comments?card_id=${card.id}`)).results.map(({ rich_text }) => rich_text.map(({ plain_text }) => plain_text).join("")).toSorted();
    let posts = 0;
    page.on("request", (request) => { posts += request.method() === "POST" && request.url().endsWith("/v1/comments"); });
    /** Writes and sends where the focus is; what is returned lets it go. */
    async function hold(words) {
      const letGo = await holdBack(page, "**/v1/comments", { times: 1 });
      const sent = page.waitForRequest("**/v1/comments");
      await type("=" + words, "Control+Enter");
      await sent;
      return letGo;
    }
    const said = (words) => page.waitForSelector(`.comment-text:text-is('${words}')`);
    const box = page.locator("textarea[aria-label='Write a comment']"), reply = page.locator("textarea[aria-label='Write a reply']");
    await said("First");
    await page.click("text=Reply");
    let letGo = await hold("A");
    await type("= and B", "Control+Enter", "Escape");
    letGo();
    await said("A");
    await page.click("text=Reply");
    assert.equal(await reply.inputValue(), "");
    // Another one in its place.
    letGo = await hold("C");
    await page.click("text=Reply");
    await page.click("text=Reply");
    await reply.fill("D");
    letGo();
    await said("C");
    assert.equal(await reply.inputValue(), "D");
    await type("Escape");
    // The same key once more says nothing of what is written then.
    await box.focus();
    letGo = await hold("E");
    await type("Control+Enter", "= and ha", "ArrowLeft", "ArrowLeft");
    letGo();
    await said("E");
    await page.waitForFunction(() => document.querySelector("textarea[aria-label='Write a comment']").value === "and ha");
    await type("=, ");
    assert.equal(await box.inputValue(), "and , ha");
    await box.fill("");
    // Out of sight meanwhile, it is not there again.
    await box.focus();
    letGo = await hold("F");
    await page.click("#tab-history");
    await page.click("#tab-comments");
    await page.waitForFunction(() => document.querySelector("textarea[aria-label='Write a comment']")?.value === "F");
    await box.focus();
    await type("Control+Enter");
    letGo();
    await isEmpty();
    await said("F");
    assert.deepEqual(await comments(), ["A", "C", "E", "F", "First"]);
    assert.equal(posts, 4);
    assert.deepEqual(page.complaints, []);
  });

  test("a comment that was begun is there again when one comes back, until it is sent or cancelled", async () => {
    const card = await openCard("Half said");
    const box = (label) => page.locator(`textarea[aria-label='${label}']`);
    await box("Write a comment").fill("Half of a");
    await openCard("Looked up meanwhile");
    assert.equal(await box("Write a comment").inputValue(), "");
    await page.goto(`${server.url}/cards/${card.id}`);
    await page.waitForFunction(() => document.querySelector("textarea[aria-label='Write a comment']")?.value === "Half of a");
    await box("Write a comment").focus();
    await type("End", "= sentence", "Control+Enter");
    await page.waitForSelector(".comment-text:text-is('Half of a sentence')");
    await isEmpty();
    await page.click("text=Reply");
    await type("=Never mind");
    await page.reload();
    await page.click("text=Reply");
    await page.waitForFunction(() => document.querySelector("textarea[aria-label='Write a reply']")?.value === "Never mind");
    await page.click(".new-comment >> text=Cancel");
    await page.reload();
    await page.click("text=Reply");
    assert.equal(await box("Write a reply").inputValue(), "");
    assert.equal(await box("Write a comment").inputValue(), "");
    assert.deepEqual(page.complaints, []);
  });
});
