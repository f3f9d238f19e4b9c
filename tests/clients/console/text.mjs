// A card's text in the console: blocks of the server, written by keys, pasted, undone; while answers are slow or lost and
// others write in it, too.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { until } from "../support/until.mjs";
import { heading } from "../support/visits.mjs";

const batches = "**/v1/cards/*/blocks:batch";
const plain = (content) => ({ paragraph: { rich_text: [{ text: { content } }] } });

export default (house) => describe("a card's text", { concurrency: false }, () => {
  let server, chromium, owner, page, board, column;

  before(async () => {
    ({ server, chromium } = house);
    owner = house.people.cleo;
    board = await owner.post("/v1/boards", { name: "Texts" });
    [column] = (await owner.get(`/v1/boards/${board.id}/columns`)).results;
    page = await chromium.open(server.url + "/boards", { person: owner });
  });

  async function openCard(title, more = {}) {
    const card = await owner.post(`/v1/boards/${board.id}/cards`, { column_id: column.id, title, ...more });
    await page.unrouteAll();
    page.complaints.length = 0;
    await page.goto(`${server.url}/cards/${card.id}`);
    await heading(page, title);
    await page.waitForSelector(".editor");
    await page.waitForSelector(".live.live");
    return card;
  }
  const markdownOf = async (card) => (await owner.get(`/v1/cards/${card.id}/markdown`)).markdown.trim();
  async function becomes(card, expected) {
    let found;
    await until(async () => (found = await markdownOf(card)) === expected, 20);
    assert.equal(found, expected);
  }
  const blocksOf = async (card) => (await owner.get(`/v1/blocks/${card.id}/children?depth=10&page_size=100`)).results;
  const append = (card, ...children) => owner.send("PATCH", `/v1/blocks/${card.id}/children`, { children });
  /** The editor knows where the cursor is. */
  const heard = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20))));
  /** Keys by their names, and words behind a "=". */
  const type = async (...keys) => {
    for (const key of keys) {
      await (key.length > 1 && !key.startsWith("=") ? page.keyboard.press(key) : page.keyboard.type(key.replace(/^=/, "")));
      if (/^(Shift\+)?(Home|End|Arrow\w+)$/.test(key)) await heard();
    }
  };
  const saved = () => page.waitForSelector(".saving.saved", { state: "attached" });
  const failed = () => page.waitForSelector(".saving.failed");
  const at = async (line) => {
    await page.click(typeof line === "number" ? `.editor .line >> nth=${line}` : `.editor .line >> text=${line}`);
    await heard();
  };
  const says = () => page.textContent(".saving");
  const paste = (text, type = "text/plain") => page.evaluate(([words, kind]) => {
    const data = new DataTransfer();
    data.setData(kind, words);
    document.querySelector(".editor").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, [text, type]);

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

  test("what is not read here is kept as it is", async () => {
    const text = "before\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n<details>\n<summary>More</summary>\n\nHidden words\n</details>";
    const card = await openCard("Kept", { markdown: text });
    const original = await markdownOf(card);
    await page.waitForSelector(".editor .whole.table td >> text=2");
    await page.click(".editor .line >> nth=0");
    await type("End", "= all");
    await becomes(card, original.replace("before", "before all"));
  });

  test("a block that is changed and moved before it is sent is sent as both", async () => {
    const card = await openCard("Both", { markdown: "one\n\ntwo\n\n- [ ] three" });
    await at(1);
    await type("End", "= more", "Alt+Shift+ArrowUp");
    await becomes(card, "two more\n\none\n\n- [ ] three");
    await at(2);
    await type("Control+Enter", "Alt+Shift+ArrowUp", "Alt+Shift+ArrowUp");
    await becomes(card, "- [x] three\n\ntwo more\n\none");
    await saved();
    assert.deepEqual(page.complaints, []);
  });

  test("where answers take longer than pauses, every word is there once, and one batch is under way at a time", async () => {
    const card = await openCard("Slow", { markdown: "begin" });
    let [now, most] = [0, 0];
    const waits = [900, 200, 1_100, 0, 700];
    await page.route(batches, async (route) => {
      most = Math.max(most, (now += 1));
      const answer = await route.fetch();
      await new Promise((done) => setTimeout(done, waits.shift() ?? 0));
      now -= 1;
      await route.fulfill({ response: answer });
    });
    await at(0);
    await type("End");
    const words = Array.from({ length: 7 }, (_, count) => ` w${count}`);
    for (const word of words) {
      await type("=" + word);
      await new Promise((done) => setTimeout(done, 500));
    }
    await becomes(card, "begin" + words.join(""));
    await saved();
    assert.equal(most, 1);
    assert.equal(await page.textContent(".editor .line"), "begin" + words.join(""));
  });

  test("words that are written while others are sent, or without a network, are sent although the card is closed", async () => {
    const card = await openCard("Closed", { markdown: "begin" });
    const slowly = async (route) => {
      await new Promise((done) => setTimeout(done, 400));
      await route.continue().catch(() => {});
    };
    await page.route(batches, slowly);
    await at(0);
    const sent = page.waitForRequest(/blocks:batch/);
    await type("End", "= first");
    await sent;
    await type("= second", "Escape", "Escape");
    await page.waitForSelector(".card-panel", { state: "detached" });
    await becomes(card, "begin first second");
    // The same where another one was faster.
    await page.unrouteAll();
    await page.route(batches, slowly);
    await page.goto(`${server.url}/cards/${card.id}`);
    await page.waitForSelector(".editor");
    await at(0);
    await type("End", "= third", "Escape", "Escape");
    const [block] = await blocksOf(card);
    await owner.send("PATCH", `/v1/blocks/${block.id}`, plain("So begin first second"));
    await becomes(card, "So begin first second third");
    await page.unrouteAll();
    await page.route(batches, (route) => route.abort(), { times: 2 });
    await page.goto(`${server.url}/cards/${card.id}`);
    await page.waitForSelector(".editor");
    await at(0);
    await type("End", "= fourth");
    await failed();
    await type("Escape", "Escape");
    await page.waitForSelector(".card-panel", { state: "detached" });
    await becomes(card, "So begin first second third fourth");
  });

  test("what could not be sent is there again after a reload, when the card is opened once more, and when one is signed in again", async () => {
    const card = await openCard("Begun", { markdown: "begin\n\nlast" });
    const fails = () => page.route(batches, (route) => route.abort());
    const openBeside = async () => {
      await page.click(".board-side .tile:has-text('Begun')");
      await page.waitForSelector(".editor .line");
    };
    await fails();
    await at(0);
    await type("End", "= one", "Enter", "=new");
    await failed();
    await page.unrouteAll();
    await page.reload();
    await page.waitForSelector(".editor .line");
    await becomes(card, "begin one\n\nnew\n\nlast");
    await saved();
    await fails();
    await at(0);
    await type("End", "= two");
    await failed();
    await type("Escape", "Escape");
    await page.waitForSelector(".card-panel", { state: "detached" });
    await openBeside();
    await page.waitForSelector(".editor .line:has-text('begin one two')");
    await at(1);
    await type("End", "= too");
    await page.unrouteAll();
    await becomes(card, "begin one two\n\nnew too\n\nlast");
    await saved();
    await page.route(batches, (route) => route.fulfill({ status: 401, json: { object: "error", status: 401, code: "unauthorized", message: "Sign in." } }), { times: 1 });
    await at("last");
    await type("End", "= three");
    await failed();
    await page.reload();
    await becomes(card, "begin one two\n\nnew too\n\nlast three");
    await page.waitForFunction((id) => !Object.keys(sessionStorage).some((key) => key.endsWith(id)), card.id);
    // What was sent as the page was left is not sent once more, whatever others have made of it since.
    await at("last");
    await type("End", "= four");
    await page.evaluate(() => new Promise((done) => { addEventListener("pagehide", done); dispatchEvent(new Event("pagehide")); }));
    await page.goto(`${server.url}/boards`);
    await becomes(card, "begin one two\n\nnew too\n\nlast three four");
    const blocks = await blocksOf(card);
    await owner.send("PATCH", `/v1/blocks/${blocks[2].id}`, plain("four times three, at last"));
    await page.goto(`${server.url}/cards/${card.id}`);
    await page.waitForSelector(".editor .line:has-text('four times three, at last')");
    await page.waitForFunction((id) => !Object.keys(sessionStorage).some((key) => key.endsWith(id)), card.id);
    assert.equal(await markdownOf(card), "begin one two\n\nnew too\n\nfour times three, at last");
  });

  test("one's own words stay where the card is read while they are sent, and undo and selection where others write", async () => {
    const card = await openCard("Others", { markdown: "alpha\n\nbeta" });
    let hold = true;
    await page.route("**/v1/blocks/*/children*", async (route) => {
      const answer = await route.fetch();
      if (hold) await new Promise((done) => setTimeout(done, 900)); // it is older than what is written meanwhile
      await route.fulfill({ response: answer });
    });
    await page.route(batches, async (route) => {
      await append(card, plain("theirs")); // whereupon the page reads
      await new Promise((done) => setTimeout(done, 500));
      await route.continue();
    }, { times: 1 });
    await at(0);
    await type("End", "= mine");
    await becomes(card, "alpha mine\n\nbeta\n\ntheirs");
    await page.waitForSelector(".editor .line:has-text('theirs')");
    hold = false;
    assert.equal(await page.textContent(".editor .line >> nth=0"), "alpha mine");
    // Undo is of one's own words, and what is selected stays so.
    await at(1);
    await type("Home", "Shift+End");
    const [first] = await blocksOf(card);
    await owner.send("PATCH", `/v1/blocks/${first.id}`, plain("So alpha mine"));
    await page.waitForSelector(".editor .line:has-text('So alpha mine')");
    assert.equal(await page.evaluate(() => String(getSelection())), "beta");
    await type("Control+z");
    await becomes(card, "So alpha\n\nbeta\n\ntheirs");
    // Also where they write above and below at once.
    await at(1);
    await type("End", "= own");
    await becomes(card, "So alpha\n\nbeta own\n\ntheirs");
    await saved();
    const [above, , below] = await blocksOf(card);
    const update = ({ id }, content) => ({ op: "update", id, block: plain(content) });
    await owner.post(`/v1/cards/${card.id}/blocks:batch`, { operations: [update(above, "Alder"), update(below, "Cedar")] });
    await page.waitForSelector(".editor .line:has-text('Cedar')");
    await type("Control+z");
    await becomes(card, "Alder\n\nbeta\n\nCedar");
    assert.deepEqual(page.complaints, []);
  });

  test("what is cut and pasted is what it was, with what is below it", async () => {
    const text = "# Head\n\n- [x] done\n- [ ] open\n  - below\n    1. deeper\n\n> Said\n\n```sh\nls -l\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nlast **bold** word";
    const card = await openCard("Moved", { markdown: text });
    const before = await markdownOf(card);
    await page.waitForSelector(".editor .whole.table");
    await at(0);
    await type("Control+a", "Control+x");
    await becomes(card, "");
    await type("Control+v");
    await becomes(card, before);
    await page.reload();
    await page.waitForSelector(".editor .whole.table");
    await at(1);
    await type("Home", "Shift+ArrowDown", "Shift+End", "Control+c", "Control+z");
    await at("last");
    await type("End", "Enter", "Control+v");
    await until(async () => (await markdownOf(card)).split("- [x] done").length === 3);
    assert.match(await markdownOf(card), /word\n\n- \[x\] done\n- \[ \] open$/);
    await saved();
    assert.deepEqual(page.complaints, []);
  });

  test("nothing stands below what takes nothing, and what is shown as one may be written over", async () => {
    const card = await openCard("Below", { markdown: "- item\n  - child\n\nlast" });
    await at(0);
    await type("Home", "Backspace", "=# ");
    await becomes(card, "# item\n\n- child\n\nlast");
    await at("last");
    await type("End", "Enter", "=/div");
    await page.waitForSelector(".slash-menu [aria-selected=true]");
    await type("Enter");
    await becomes(card, "# item\n\n- child\n\nlast\n\n---\n\n<!-- empty -->");
    await page.click(".editor .whole.divider");
    await type("Enter", "=behind");
    await becomes(card, "# item\n\n- child\n\nlast\n\n---\n\nbehind\n\n<!-- empty -->");
    await page.click(".editor .whole.divider");
    await type("=instead");
    await becomes(card, "# item\n\n- child\n\nlast\n\ninstead\n\nbehind\n\n<!-- empty -->");
    await saved();
    assert.deepEqual(page.complaints, []);
  });

  test("what the server does not take holds back nothing else, and links that it does not take are words", async () => {
    const card = await openCard("Refused", { markdown: "one\n\ntwo" });
    await at("two");
    await type("End", "Enter");
    await paste('<p>Call <a href="tel:12">us</a>, <a href="https://user:word@example.com/">there</a> or <a href="https://example.com/x">here</a></p>', "text/html");
    await becomes(card, "one\n\ntwo\n\nCall us, there or [here](<https://example.com/x>)");
    await type("Enter");
    await paste('<div class="group" data-pm-slice="0 0 []"><div data-block="x"><div data-whole=\'{"type":"nonsense"}\'></div></div></div>', "text/html");
    await at("one");
    await type("End", "= more");
    await failed();
    await until(async () => (await markdownOf(card)).startsWith("one more\n\ntwo"));
    assert.match(await markdownOf(card), /^one more\n\ntwo/);
    await page.click(".editor .whole");
    await type("Backspace");
    await saved();
    page.complaints.length = 0; // of what was refused
  });

  test("a new line behind one that somebody deletes meanwhile is kept", async () => {
    const card = await openCard("Behind", { markdown: "first\n\nlast" });
    const [first] = await blocksOf(card);
    await page.route(batches, async (route) => {
      await owner.send("DELETE", `/v1/blocks/${first.id}`);
      await route.continue();
    }, { times: 1 });
    await at("first");
    await type("End", "Enter", "=new");
    await until(async () => /new/.test(await markdownOf(card)));
    await saved();
    assert.equal((await markdownOf(card)).split(/\n+/).sort().join(), "last,new");
    page.complaints.length = 0; // of what was refused
  });

  test("long texts, and texts that are longer than a request may be, are saved whole, and are nobody else's change", async () => {
    const long = "x".repeat(1_999) + "😀" + "y".repeat(800);
    const card = await openCard("Long", { markdown: "begin" });
    await at(0);
    await type("End", "Enter");
    await paste(long);
    await becomes(card, `begin\n\n${long}`);
    await owner.post("/v1/comments", { parent: { card_id: card.id }, markdown: "Seen" });
    await page.waitForSelector(".comment-text >> text=Seen");
    assert.equal(await says(), "");
    const items = Array.from({ length: 80 }, (_, count) => `- ${count} ${"words ".repeat(5_000)}`);
    await paste(items.join("\n"));
    await until(async () => (await owner.get(`/v1/cards/${card.id}`)).block_count === 82, 30);
    await saved();
    assert.deepEqual(page.complaints, []);
  });
});
