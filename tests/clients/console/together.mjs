// Several at once: people in browsers of their own, tabs of one person, agents; and a network that fails.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { makeBoard } from "../support/boards.mjs";
import { Rest, mintToken } from "../support/server.mjs";
import { becomes } from "../support/visits.mjs";

export default (house) => describe("several at once", { concurrency: false }, () => {
  let server, wire, chromium, tina, bob, board, columns;

  before(async () => {
    ({ server, wire, chromium } = house);
    ({ tina, bob } = house.people);
  });

  async function newBoard(titles) {
    let cards;
    ({ board, columns, cards } = await makeBoard(tina, titles));
    return cards;
  }
  async function comeTo(path, person, wait = ".tile") {
    const page = await chromium.open(wire.url + path, { person, hasClock: true });
    await page.waitForSelector(wait);
    await page.waitForSelector(".live.live");
    return page;
  }
  const shows = (page, column, titles) =>
    page.waitForFunction(
      ([id, wanted]) => JSON.stringify([...document.querySelectorAll(`[data-column="${id}"] .tile .title`)].map((each) => each.textContent)) === wanted,
      [columns[column].id, JSON.stringify(titles)],
    );
  async function drag(page, title, column) {
    const from = await page.locator(".tile", { hasText: title }).boundingBox();
    const to = await page.locator(`[data-column="${columns[column].id}"] .column-cards`).boundingBox();
    await page.mouse.move(from.x + 30, from.y + 12);
    await page.mouse.down();
    await page.mouse.move(to.x + 60, to.y + 40, { steps: 10 });
    await page.waitForSelector(".tile.ghost");
    await page.mouse.up();
  }

  test("two people see each other, and each other's moves, comments and words as they happen", async () => {
    const [one] = await newBoard(["one", "two", "three"]);
    const [hers, his] = await Promise.all([tina, bob].map((person) => comeTo(`/boards/${board.id}`, person)));
    await hers.waitForSelector(".board-head .whos:has-text('Bob')");
    await his.waitForSelector(".board-head .whos:has-text('Tina')");
    await drag(hers, "one", 1);
    await shows(his, 1, ["one"]);
    await his.focus(".tile:has-text('two')");
    for (const key of ["Space", "ArrowRight", "Space"]) await his.keyboard.press(key);
    await shows(hers, 0, ["three"]);
    await becomes(async () => (await tina.get(`/v1/cards?column_id=${columns[1].id}`)).results.length, (count) => count === 2);
    await his.goto(`${wire.url}/cards/${one.id}`);
    await his.waitForSelector(".editor");
    await hers.click(".tile:has-text('one')");
    await hers.waitForSelector(".card-panel .editor");
    await hers.click(".new-comment textarea");
    await hers.keyboard.type("Hello, @bo");
    await hers.waitForSelector(".mentions [aria-selected=true]:has-text('Bob')");
    await hers.keyboard.press("Enter");
    await hers.keyboard.type("look");
    await hers.keyboard.press("Control+Enter");
    const { results: [comment] } = await becomes(() => tina.get(`/v1/comments?card_id=${one.id}`), ({ results }) => results.length === 1);
    assert.deepEqual(comment.rich_text.map(({ type, plain_text }) => [type, plain_text]), [["text", "Hello, "], ["mention", "@Bob"], ["text", " look"]]);
    await his.waitForSelector(".comment-text:has-text('Hello, @Bob look') .mention");
    await his.waitForSelector(".sidebar .tag:has-text('1')"); // he is told
    await his.click(".editor");
    await his.keyboard.type("Written by Bob");
    await hers.waitForSelector(".editor .line:has-text('Written by Bob')");
    assert.deepEqual([...hers.complaints, ...his.complaints], []);
    for (const page of [hers, his]) await page.context().close();
  });

  test("two tabs that are written in at once, in one block and in others, lose no word", async () => {
    const [card] = await newBoard(["Shared"]);
    await tina.send("PATCH", `/v1/cards/${card.id}/markdown`, { markdown: "First line.\n\nSecond line." });
    const left = await comeTo(`/cards/${card.id}`, tina, ".editor .line");
    const right = await left.context().newPage();
    await right.goto(`${wire.url}/cards/${card.id}`);
    await right.waitForSelector(".editor .line:has-text('Second')");
    await right.waitForSelector(".live.live");
    const words = { left: [], right: [] };
    const write = async (page, name) => {
      for (const line of [0, 1]) {
        await page.click(`.editor .line >> nth=${line}`);
        await page.keyboard.press(name === "left" ? "End" : "Home");
        for (let at = 0; at < 6; at += 1) {
          const word = `${name}${line}${at}`;
          words[name].push(word);
          await page.keyboard.type(name === "left" ? ` ${word}` : `${word} `, { delay: 25 });
          if (at % 2) await new Promise((done) => setTimeout(done, 500)); // some of it is sent in between
        }
      }
    };
    await Promise.all([write(left, "left"), write(right, "right")]);
    const all = [...words.left, ...words.right];
    const text = async () => (await tina.get(`/v1/cards/${card.id}/markdown`)).markdown;
    const kept = await becomes(text, (found) => all.every((word) => found.includes(word)), 60);
    for (const word of [...all, "First line.", "Second line."]) assert.equal(kept.split(word).length, 2, `${word} is there once: ${kept}`);
    const shown = (page) => page.$$eval(".editor .line", (lines) => lines.map((each) => each.textContent).join("\n\n"));
    for (const page of [left, right]) await becomes(() => shown(page), (found) => found === kept.trim(), 60);
    assert.deepEqual(left.complaints, []);
    await left.context().close();
  });

  test("a network that fails for a minute is said, nothing that is written meanwhile goes, and what was missed comes", async () => {
    const [card, other] = await newBoard(["Kept", "Renamed meanwhile"]);
    const page = await comeTo(`/boards/${board.id}?card=${card.id}`, tina, ".card-panel .editor");
    await page.click(".editor");
    await page.keyboard.type("Before");
    await becomes(async () => (await tina.get(`/v1/cards/${card.id}/markdown`)).markdown.trim(), (text) => text === "Before");
    wire.cut(); // perhaps before the answer has come
    await page.context().setOffline(true); // which the browser notices
    await page.waitForSelector(".live.lost");
    await page.keyboard.type(" and meanwhile");
    await page.waitForSelector(".saving.failed:has-text('Not saved')");
    await tina.send("PATCH", `/v1/cards/${other.id}`, { title: "Another name" });
    await tina.post(`/v1/boards/${board.id}/cards`, { column_id: columns[0].id, title: "New meanwhile" });
    await page.clock.fastForward("01:00");
    await page.keyboard.type(" and still");
    wire.mend();
    await page.context().setOffline(false);
    await becomes(async () => (await tina.get(`/v1/cards/${card.id}/markdown`)).markdown.trim(), (text) => text === "Before and meanwhile and still", 30);
    await page.waitForSelector(".live.live");
    await page.waitForSelector(".saving.saved", { state: "attached" });
    await page.keyboard.press("Escape");
    await page.goto(`${wire.url}/boards/${board.id}`);
    await shows(page, 0, ["Kept", "Another name", "New meanwhile"]);
    await page.context().close();
  });

  test("a board that was cut off shows by itself what happened, and a move that failed is reverted", async () => {
    const [one] = await newBoard(["one", "two"]);
    const page = await comeTo(`/boards/${board.id}`, tina);
    wire.cut();
    await page.waitForSelector(".live.lost");
    await drag(page, "two", 2);
    await page.waitForSelector(".toast:has-text('does not answer')");
    await shows(page, 0, ["one", "two"]);
    await tina.post(`/v1/cards/${one.id}:move`, { column_id: columns[1].id });
    wire.mend();
    const isLive = async () => {
      await page.clock.fastForward("00:45"); // the longest pause between attempts
      return page.isVisible(".live.live");
    };
    await becomes(isLive, (live) => live, 60);
    await shows(page, 1, ["one"]);
    await page.context().close();
  });

  test("an agent's claim, its failure and its completion show as they happen", async () => {
    await newBoard(["Work for a robot"]);
    const [, queue, done] = columns;
    await tina.send("PATCH", `/v1/boards/${board.id}/columns/${queue.id}`, { queue: { enabled: true, on_complete_column_id: done.id } });
    const { results: [card] } = await tina.get(`/v1/cards?board_id=${board.id}`);
    await tina.post(`/v1/cards/${card.id}:move`, { column_id: queue.id });
    const page = await comeTo(`/boards/${board.id}`, tina);
    const robot = new Rest(server, { Authorization: `Bearer ${await mintToken(tina, "agent")}` });
    const claim = () => robot.post(`/v1/boards/${board.id}/columns/${queue.id}:claim-next`, {});
    const first = await claim();
    await page.waitForSelector(".tile .who.agent");
    await page.waitForSelector(`[data-column="${queue.id}"] .queue-strip:has-text('1 leased')`);
    await robot.post(`/v1/leases/${first.lease.id}:fail`, { lease_token: first.lease_token, error: "Not yet", retry_after_seconds: 0 });
    await page.waitForSelector(".tile .who.agent", { state: "detached" });
    const second = await becomes(() => claim().catch((error) => error), (given) => given?.lease);
    await page.waitForSelector(".tile .tag:has-text('try 2')");
    await robot.post(`/v1/leases/${second.lease.id}:complete`, { lease_token: second.lease_token, comment: "Done by a robot" });
    await shows(page, 2, ["Work for a robot"]);
    await page.click(".tile:has-text('Work for a robot')");
    await page.waitForSelector(".comment-text:has-text('Done by a robot')");
    await page.click("#tab-attempts");
    await page.waitForSelector(".attempts:has-text('Not yet')");
    assert.deepEqual(page.complaints, []);
  });
});
