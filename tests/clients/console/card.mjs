// A card in the console: its text as blocks of the server, its properties, comments, history.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { until } from "../support/until.mjs";
import { becomes as itBecomes, heading } from "../support/visits.mjs";

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
    await page.goto(`${server.url}/cards/${card.id}`);
    await heading(page, title);
    await page.waitForSelector(".editor");
    return card;
  }
  const markdownOf = async (card) => (await owner.get(`/v1/cards/${card.id}/markdown`)).markdown.trim();
  async function becomes(card, expected) {
    let found;
    await until(async () => (found = await markdownOf(card)) === expected, 30);
    assert.equal(found, expected);
  }
  const blocksOf = async (card) => (await owner.get(`/v1/blocks/${card.id}/children?depth=10&page_size=100`)).results;
  const type = async (...keys) => {
    for (const key of keys) await (key.length > 1 && !key.startsWith("=") ? page.keyboard.press(key) : page.keyboard.type(key.replace(/^=/, "")));
  };

  test("what is typed becomes blocks, which keep their ids when it changes", async () => {
    const card = await openCard("Typed");
    await page.click(".editor");
    await type("=# Plan", "Enter", "=First words", "Enter", "=[] buy bread", "Enter", "=and milk");
    await becomes(card, "# Plan\n\nFirst words\n\n- [ ] buy bread\n- [ ] and milk");
    const before = await blocksOf(card);
    assert.deepEqual(before.map((each) => each.type), ["heading_1", "paragraph", "to_do", "to_do"]);
    // Below the one above, and two places up.
    await type("Tab");
    await becomes(card, "# Plan\n\nFirst words\n\n- [ ] buy bread\n  - [ ] and milk");
    await type("Shift+Tab", "Alt+Shift+ArrowUp", "Alt+Shift+ArrowUp");
    await becomes(card, "# Plan\n\n- [ ] and milk\n\nFirst words\n\n- [ ] buy bread");
    const now = await blocksOf(card);
    assert.deepEqual(now.map(({ id }) => id), [0, 3, 1, 2].map((at) => before[at].id));
    await page.click(".editor .to_do input >> nth=0");
    await becomes(card, "# Plan\n\n- [x] and milk\n\nFirst words\n\n- [ ] buy bread");
    await page.reload();
    await page.waitForSelector(".editor .to_do.checked");
    assert.deepEqual(page.complaints, []);
  });

  test("the menu of the slash makes other blocks, and Markdown that is pasted becomes blocks", async () => {
    const card = await openCard("Slashed");
    await page.click(".editor");
    await type("=/quo");
    await page.waitForSelector(".slash-menu [aria-selected=true]:has-text('Quote')");
    await type("Enter", "=Said before");
    await becomes(card, "> Said before");
    await type("Enter");
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData("text/plain", "## Pasted\n\n- **one**\n  - two\n\n```sh\nls\n```");
      document.querySelector(".editor").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await becomes(card, "> Said before\n\n## Pasted\n\n- **one**\n  - two\n\n```sh\nls\n```");
    assert.deepEqual(page.complaints, []);
  });

  test("signs of Markdown make words bold, italic, struck and code as they are written", async () => {
    const card = await openCard("Marked");
    await page.click(".editor");
    await type("=Say **it well**, *softly*, ~~not~~ or by `1 * 2 * 3`; 2*3*4 and a * b * stay");
    await becomes(card, "Say **it well**, *softly*, ~~not~~ or by `1 * 2 * 3`; 2\\*3\\*4 and a \\* b \\* stay");
    const [{ paragraph }] = await blocksOf(card);
    assert.deepEqual(paragraph.rich_text.filter(({ annotations: { bold, italic, strikethrough, code } }) => bold || italic || strikethrough || code).map(({ plain_text }) => plain_text), ["it well", "softly", "not", "1 * 2 * 3"]);
    await type("Enter", "=**x**y");
    await page.waitForFunction(() => document.querySelectorAll(".editor strong").length === 2);
    assert.equal(await page.textContent(".editor strong >> nth=1"), "x", "what is written on is plain");
    assert.deepEqual(page.complaints, []);
  });

  test("what is chosen in the menu of the slash is in sight, however far down it is", async () => {
    await openCard("Long menu");
    await page.click(".editor");
    await type("=/", "ArrowUp");
    const isInSight = () => page.waitForFunction(() => {
      const [menu, line] = [".slash-menu", ".slash-menu [aria-selected=true]"].map((each) => document.querySelector(each).getBoundingClientRect());
      return line.top >= menu.top && line.bottom <= menu.bottom;
    });
    await page.waitForSelector(".slash-menu [aria-selected=true]:has-text('Picture')");
    await isInSight();
    await type("ArrowDown");
    await page.waitForSelector(".slash-menu [aria-selected=true]:has-text('Text')");
    await isInSight();
  });

  test("two who write at the same time both keep their words", async () => {
    const card = await openCard("Shared", { markdown: "alpha\n\nbeta" });
    await page.waitForSelector(".live.live");
    await page.click(".editor .line >> nth=1");
    await type("End", "= of mine");
    const [first] = await blocksOf(card);
    await owner.send("PATCH", `/v1/blocks/${first.id}`, { paragraph: { rich_text: [{ text: { content: "alpha of theirs" } }] } });
    await becomes(card, "alpha of theirs\n\nbeta of mine");
    await page.waitForSelector(".editor .line:has-text('alpha of theirs')");
    await page.waitForSelector(".editor .line:has-text('beta of mine')");
    // Both in one block: the last who writes wins it, and knows.
    await type("= too");
    await becomes(card, "alpha of theirs\n\nbeta of mine too");
    assert.deepEqual(page.complaints, []);
  });

  test("what was written and its answer lost is there once, whatever is written before the answer is had", async () => {
    const card = await openCard("Lost answers");
    await page.waitForSelector(".live.live");
    const batches = "**/v1/cards/*/blocks:batch";
    const keys = [];
    let lost = 2;
    await page.route(batches, async (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      const answer = await route.fetch();
      if (lost-- > 0) await route.abort();
      else await route.fulfill({ response: answer });
    });
    const failed = () => page.waitForSelector(".saving.failed");
    await page.click(".editor");
    await type("=one", "Enter", "=two");
    await failed();
    await type("= and more");
    await owner.send("PATCH", `/v1/blocks/${card.id}/children`, { children: [{ paragraph: { rich_text: [{ text: { content: "theirs" } }] } }] });
    await until(() => lost < 0, 30);
    await becomes(card, "one\n\ntwo and more\n\ntheirs");
    await page.waitForSelector(".editor .line:has-text('theirs')");
    assert.equal(new Set(keys.slice(0, 3)).size, 1, "the same batch, until it is answered");
    // Changed words, too, are not put in once more.
    lost = 1;
    await page.click(".editor .line >> nth=0");
    await type("End", "= changed");
    await failed();
    await type("= again");
    await becomes(card, "one changed again\n\ntwo and more\n\ntheirs");
    await page.unroute(batches);
    assert.equal(await page.$$eval(".editor .line", (lines) => lines.length), 3);
    page.complaints.length = 0; // of the calls that were cut
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
    const isEmpty = () => page.waitForFunction(() => document.querySelector(".new-comment textarea").value === "");
    await page.focus(".new-comment textarea");
    await page.keyboard.press("Control+Enter");
    await isEmpty();
    assert.equal((await comments()).length, 1);
    await page.fill(".new-comment textarea", "Said");
    await page.keyboard.press("Control+Enter");
    await isEmpty();
    assert.equal((await comments()).length, 2);
    page.complaints.length = 0; // of the call that was cut
  });

  test("what was deleted and comes back by undo is written once, also when it is changed afterwards", async () => {
    const card = await openCard("Undone", { markdown: "one\n\ntwo\n\nthree" });
    await page.click(".editor .line >> nth=0");
    await page.keyboard.press("Control+a");
    await type("Backspace");
    await becomes(card, "");
    await page.waitForSelector(".saving.saved", { state: "attached" });
    await page.keyboard.press("Control+z");
    await becomes(card, "one\n\ntwo\n\nthree");
    await page.waitForSelector(".saving.saved", { state: "attached" });
    await page.click(".editor .line >> nth=1");
    await page.waitForFunction(() => getSelection().isCollapsed);
    await type("End", "= changed");
    await becomes(card, "one\n\ntwo changed\n\nthree");
    await page.reload();
    await page.waitForSelector(".editor .line:has-text('two changed')");
    assert.deepEqual(page.complaints, []);
  });

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

  test("what is not read here is kept as it is", async () => {
    const text = "before\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n<details>\n<summary>More</summary>\n\nHidden words\n</details>";
    const card = await openCard("Kept", { markdown: text });
    const original = await markdownOf(card);
    await page.waitForSelector(".editor .whole.table td >> text=2");
    await page.click(".editor .line >> nth=0");
    await type("End", "= all");
    await becomes(card, original.replace("before", "before all"));
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
