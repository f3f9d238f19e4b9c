// How quick the console is on an idle machine: boards of 3,000 and 10,000 cards, and a long text. Part of `./test long`,
// as its bars are times.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { LargeBoard, dragAcross, elementsOf, perColumn, sizesOf } from "./support/large_board.mjs";
import { becomes } from "./support/visits.mjs";

const large = new LargeBoard();
before(() => large.begin({ ownDatabase: true })); // one that waits for the disk
after(() => large.end());

/** Milliseconds from asking for the board until a key moves the focus in it: the middle of three. */
async function timeToUse(page) {
  const times = [];
  for (let round = 0; round < 3; round += 1) {
    const started = Date.now();
    await page.goto(large.address);
    await page.waitForSelector(".tile");
    await page.focus(".tile[tabindex='0']");
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.activeElement?.closest("li")?.getAttribute("aria-posinset") === "2");
    times.push(Date.now() - started);
  }
  return times.sort((a, b) => a - b)[1];
}
/** The same, of as many as three goes until one is within the bound: the processors may be somebody else's for some seconds. */
async function leastTimeToUse(page, bound) {
  let least = Infinity;
  for (let tries = 0; tries < 3 && least > bound; tries += 1) least = Math.min(least, await timeToUse(page));
  return least;
}
/** Of the times that a page has collected, how many there are, their middle and what 95 of 100 keep, in milliseconds. */
async function waitsIn(page) {
  const waits = (await page.evaluate(() => window.waits)).sort((a, b) => a - b);
  return { count: waits.length, p50: waits[waits.length >> 1], p95: waits[Math.floor(waits.length * 0.95)] };
}

test("a board of 3,000 cards can be used soon, stays small, and drags smoothly", async () => {
  const page = await large.open();
  const ready = await leastTimeToUse(page, 1_500);
  await becomes(() => sizesOf(page), (all) => all.every((each) => each === perColumn), 60);
  const nodes = await elementsOf(page);
  await page.evaluate(() => {
    window.waits = [];
    addEventListener("pointermove", (event) => {
      if (event.buttons) requestAnimationFrame(() => setTimeout(() => window.waits.push(performance.now() - event.timeStamp)));
    }, true);
  });
  const drag = async () => {
    await page.evaluate(() => { window.waits = []; });
    await dragAcross(page);
    return waitsIn(page);
  };
  let { count, p50, p95 } = await drag();
  for (let tries = 1; tries < 3 && p95 > 50; tries += 1) ({ count, p50, p95 } = await drag());
  console.log(JSON.stringify({ ready, nodes, moves: count, p50: Math.round(p50), p95: Math.round(p95) }));
  assert.ok(ready <= 1_500, `ready after ${ready} ms`);
  assert.ok(nodes <= 1_000, `${nodes} elements`);
  assert.ok(count > 20 && p95 <= 50, `95 % of moves are drawn within ${p95} ms`);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

/** Frames a second while nothing happens. */
async function framesOfRest(page) {
  await page.evaluate(() => (window.frames_ = 0));
  const started = Date.now();
  await new Promise((done) => setTimeout(done, 1_000));
  return ((await page.evaluate(() => window.frames_)) * 1_000) / (Date.now() - started);
}

/** Fifty cards at a time, to and fro, 200 a second for four seconds: how many were moved, and frames drawn, a second. */
async function paceOfMoves(page, cards) {
  await page.evaluate(() => (window.frames_ = 0));
  const started = Date.now();
  let moved = 0;
  for (let round = 0; round < 16; round += 1) {
    const to = large.columns[1 + ((round >> 1) % 2)].id;
    await large.owner.post("/v1/cards:batch", { operations: cards.slice(50 * (round % 2), 50 * (round % 2) + 50).map(({ id }) => ({ move: { card_id: id, column_id: to } })) });
    moved += 50;
    await new Promise((done) => setTimeout(done, Math.max(0, started + moved * 5 - Date.now())));
  }
  const seconds = (Date.now() - started) / 1000;
  const frames = await page.evaluate(() => window.frames_);
  const pace = { moves: moved / seconds, frames: frames / seconds };
  console.log(JSON.stringify({ moves_a_second: Math.round(pace.moves), frames_a_second: Math.round(pace.frames) }));
  return pace;
}

test("200 moves a second by others leave the board smooth", async () => {
  const page = await large.open();
  await page.goto(large.address);
  const sizes = () => sizesOf(page);
  await becomes(sizes, (all) => all.reduce((sum, each) => sum + each, 0) === 3 * perColumn, 30);
  await page.waitForSelector(".live.live");
  const { results: cards } = await large.owner.get(`/v1/cards?column_id=${large.columns[0].id}&page_size=100`);
  await page.evaluate(() => {
    const note = () => { window.frames_ += 1; requestAnimationFrame(note); };
    requestAnimationFrame(note);
  });
  const [before] = await sizes();
  // The processors may be somebody else's for some seconds: the best of three.
  // Frames are half of those of a board where nothing happens, or as many as films have.
  let pace, quiet;
  const isSmooth = () => pace.frames >= Math.min(30, quiet / 2);
  for (let tries = 0; tries < 3 && !(pace?.moves >= 150 && isSmooth()); tries += 1) {
    quiet = await framesOfRest(page);
    pace = await paceOfMoves(page, cards);
  }
  assert.ok(pace.moves >= 150, `the server made ${pace.moves} moves a second`);
  assert.ok(isSmooth(), `${pace.frames} frames a second, ${quiet} at rest`);
  await becomes(sizes, ([now]) => now === before - 100);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

/** What 95 of 100 keys take until they show, in milliseconds. */
async function timeOfKeys(page) {
  await page.evaluate(() => { window.waits = []; });
  await page.keyboard.press("End");
  await page.keyboard.type(" and then some more words that somebody writes without a rest, on and on", { delay: 25 });
  const { count, p50, p95 } = await waitsIn(page);
  console.log(JSON.stringify({ keys: count, p50: Math.round(p50), p95: Math.round(p95) }));
  return count > 50 ? p95 : Infinity;
}

test("words appear as they are typed, in a text of 2,000 blocks", async () => {
  const markdown = Array.from({ length: 2_000 }, (_, at) => `Paragraph ${at} of a long text`).join("\n\n");
  const card = await large.owner.post(`/v1/boards/${large.board.id}/cards`, { column_id: large.columns[0].id, title: "Long", markdown });
  const page = await large.open();
  await page.goto(`${large.server.url}/cards/${card.id}`);
  await page.waitForFunction(() => document.querySelectorAll(".editor .line").length === 2_000);
  await page.click(".editor .line >> nth=1");
  await page.evaluate(() => {
    addEventListener("keydown", (event) => requestAnimationFrame(() => setTimeout(() => window.waits.push(performance.now() - event.timeStamp))), true);
  });
  // The processors may be somebody else's for some seconds: the best of three.
  let p95 = Infinity;
  for (let tries = 0; tries < 3 && p95 > 50; tries += 1) p95 = await timeOfKeys(page);
  assert.ok(p95 <= 50, `95 % of keys show within ${p95} ms`);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("a board of 10,000 cards can be used within twice the time, and stays as small", async () => {
  await large.addCards(2_334);
  const page = await large.open();
  const ready = await leastTimeToUse(page, 3_000);
  await becomes(() => sizesOf(page), (all) => all.reduce((sum, each) => sum + each, 0) >= 10_000, 60);
  const nodes = await elementsOf(page);
  console.log(JSON.stringify({ cards: 10_000, ready, nodes }));
  assert.ok(ready <= 3_000, `ready after ${ready} ms`);
  assert.ok(nodes <= 1_000, `${nodes} elements`);
  assert.deepEqual(page.complaints, []);
});
