// A card's text in the console: blocks of the server that are written by keys, pasted, moved and undone.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { until } from "../support/until.mjs";
import { Writing } from "../support/writing.mjs";

export default (house) => describe("a card's text", { concurrency: false }, () => {
  const writing = new Writing();
  const { openCard, markdownOf, becomes, blocksOf, append, type, at, paste, saved } = writing;
  let owner, page;

  before(async () => {
    page = await writing.begin(house, house.people.theo);
    ({ owner } = writing);
  });

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
    await paste("## Pasted\n\n- **one**\n  - two\n\n```sh\nls\n```");
    await becomes(card, "> Said before\n\n## Pasted\n\n- **one**\n  - two\n\n```sh\nls\n```");
    assert.deepEqual(page.complaints, []);
  });

  test("a slash between words is a slash, and a press with Ctrl follows a link", async () => {
    const card = await openCard("Per hour");
    await page.click(".editor");
    await type("=120 km / h", "Enter", "=1 /2", "Enter", "=more");
    await becomes(card, "120 km / h\n\n1 /2\n\nmore");
    await append(card, { paragraph: { rich_text: [{ text: { content: "there", link: { url: `${page.url()}?there` } } }] } });
    await page.waitForSelector(".editor a:text-is('there')");
    await page.click(".editor a:text-is('there')");
    const [opened] = await Promise.all([page.context().waitForEvent("page"), page.click(".editor a:text-is('there')", { modifiers: ["Control"] })]);
    await opened.waitForURL(/\?there$/);
    assert.equal(page.context().pages().length, 2);
    await opened.close();
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

  test("what was deleted and comes back by undo is written once, also when it is changed afterwards", async () => {
    const card = await openCard("Undone", { markdown: "one\n\ntwo\n\nthree" });
    await page.click(".editor .line >> nth=0");
    await page.keyboard.press("Control+a");
    await type("Backspace");
    await becomes(card, "");
    await saved();
    await page.keyboard.press("Control+z");
    await becomes(card, "one\n\ntwo\n\nthree");
    await saved();
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

  test("code is shown as its letters, and to look at it changes nothing of it", async () => {
    const card = await openCard("Code", { markdown: "before" });
    await append(card, { code: { language: "sql", rich_text: [{ text: { content: "SELECT " } }, { text: { content: "now()" }, annotations: { bold: true } }] } });
    await page.waitForSelector(".editor pre:has-text('SELECT now()')");
    await page.click(".editor .line >> nth=0");
    await type("End", "= all");
    await saved();
    await until(async () => (await markdownOf(card)).startsWith("before all"));
    const [, { code }] = await blocksOf(card);
    assert.deepEqual(code.rich_text.map(({ plain_text, annotations }) => [plain_text, annotations.bold]), [["SELECT ", false], ["now()", true]]);
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

  test("long texts, and texts that are longer than a request may be, are saved whole, and are nobody else's change", async () => {
    const long = "x".repeat(1_999) + "😀" + "y".repeat(800);
    const card = await openCard("Long", { markdown: "begin" });
    await at(0);
    await type("End", "Enter");
    await paste(long);
    await becomes(card, `begin\n\n${long}`);
    await owner.post("/v1/comments", { parent: { card_id: card.id }, markdown: "Seen" });
    await page.waitForSelector(".comment-text >> text=Seen");
    assert.equal(await page.textContent(".saving"), "");
    const items = Array.from({ length: 80 }, (_, count) => `- ${count} ${"words ".repeat(5_000)}`);
    await paste(items.join("\n"));
    await until(async () => (await owner.get(`/v1/cards/${card.id}`)).block_count === 82, 30);
    await saved();
    assert.deepEqual(page.complaints, []);
  });
});
