// What the console costs: its size, and a board of 3,000 cards on this machine.
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Chromium } from "./support/chromium.mjs";
import { Server, makeWorkspace } from "./support/server.mjs";
import { becomes } from "./support/visits.mjs";

const assets = join(process.env.WORKBOARD_BUILD, "share/www/assets");
const kib = 1024;
const sizeOf = (name) => {
  const packed = join(assets, `${name}.gz`);
  try {
    return statSync(packed).size;
  } catch {
    return statSync(join(assets, name)).size;
  }
};

let server, chromium, owner, board;
const perColumn = 1_000;

/** So many cards more in each column. */
async function addCards(count) {
  const { results: columns } = await owner.get(`/v1/boards/${board.id}/columns`);
  await Promise.all(columns.map(async (column, at) => {
    for (let from = 0; from < count; from += 100)
      await owner.post("/v1/cards:batch", {
        operations: Array.from({ length: Math.min(100, count - from) }, (_, index) => ({
          create: { board_id: board.id, column_id: column.id, title: `Card ${at} ${from + index}, with a title of some length`, priority: index % 4 ? "none" : "high" },
        })),
      });
  }));
}

/** Milliseconds from asking for the board until a key moves the focus in it: the middle of three. */
async function timeToUse(page) {
  const times = [];
  for (let round = 0; round < 3; round += 1) {
    const started = Date.now();
    await page.goto(`${server.url}/boards/${board.id}`);
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
const sizesOf = (page) => page.$$eval(".column-cards ul", (all) => all.map((each) => Number(each.querySelector("li")?.getAttribute("aria-setsize"))));
const elementsOf = (page) => page.evaluate(() => document.querySelectorAll("*").length);

before(async () => {
  server = await Server.start(["server.workers=8"], { ownDatabase: true }); // one that waits for the disk
  chromium = await Chromium.start();
  owner = await makeWorkspace(server);
  board = await owner.post("/v1/boards", { name: "Large" });
  await addCards(perColumn);
});
after(async () => {
  await chromium?.end();
  await server?.end();
});

test("the files are within their budgets", async () => {
  const names = readdirSync(assets).filter((name) => /\.(js|css)$/.test(name));
  const total = names.reduce((sum, name) => sum + sizeOf(name), 0);
  assert.ok(total <= 700 * kib, `all: ${total}`);
  // What each page loads before it shows, and what it adds to that.
  const loaded = async (page, path, wait) => {
    const seen = new Set();
    const note = (answer) => seen.add(new URL(answer.url()).pathname.split("/").pop());
    page.on("response", note);
    await page.goto(server.url + path);
    await page.waitForSelector(wait);
    await page.waitForLoadState("networkidle");
    page.off("response", note);
    return new Set([...seen].filter((name) => names.includes(name)));
  };
  const sum = (set) => [...set].reduce((all, name) => all + sizeOf(name), 0);
  const stranger = await chromium.open("about:blank");
  const first = await loaded(stranger, "/login", "#login");
  assert.ok(sum(first) <= 130 * kib, `first load: ${sum(first)}`);
  const page = await chromium.open(server.url + "/boards", { person: owner });
  const card = (await owner.get(`/v1/cards?board_id=${board.id}&page_size=1`)).results[0];
  for (const [path, wait] of [["/boards", ".board-card"], [`/boards/${board.id}`, ".tile"], [`/boards/${board.id}?card=${card.id}`, ".editor"], ["/agents", ".panel"], ["/account", "form"]]) {
    const all = await loaded(page, path, wait);
    const added = sum(new Set([...all].filter((name) => !first.has(name))));
    const limit = path.includes("card=") ? 260 : 130; // a card is a route within a route
    assert.ok(added <= limit * kib, `${path}: ${added}`);
  }
  for (const each of [stranger, page]) await each.context().close();
});

test("a board of 3,000 cards can be used soon, stays small, and drags smoothly", async () => {
  const page = await chromium.open(server.url + "/boards", { person: owner, viewport: { width: 1440, height: 900 } });
  const foreign = [];
  page.on("request", (request) => { if (!request.url().startsWith(server.url) && !/^(data|blob):/.test(request.url())) foreign.push(request.url()); });
  const ready = await leastTimeToUse(page, 1_500);
  await becomes(() => sizesOf(page), (all) => all.every((each) => each === perColumn), 60);
  const nodes = await elementsOf(page);
  await page.evaluate(() => {
    window.waits = [];
    addEventListener("pointermove", (event) => {
      if (event.buttons) requestAnimationFrame(() => setTimeout(() => window.waits.push(performance.now() - event.timeStamp)));
    }, true);
  });
  const boxes = await page.$$eval(".column-cards", (all) => all.map((each) => each.getBoundingClientRect().toJSON()));
  const drag = async () => {
    await page.evaluate(() => { window.waits = []; });
    await page.mouse.move(boxes[0].x + 60, boxes[0].y + 40);
    await page.mouse.down();
    for (let step = 0; step <= 60; step += 1) await page.mouse.move(boxes[0].x + 60 + ((boxes[2].x - boxes[0].x) * step) / 60, boxes[0].y + 60 + 300 * Math.abs(Math.sin(step / 8)));
    await page.mouse.up();
    await page.waitForSelector(".toast");
    return waitsIn(page);
  };
  let { count, p50, p95 } = await drag();
  for (let tries = 1; tries < 3 && p95 > 50; tries += 1) ({ count, p50, p95 } = await drag());
  console.log(JSON.stringify({ ready, nodes, moves: count, p50: Math.round(p50), p95: Math.round(p95) }));
  assert.ok(ready <= 1_500, `ready after ${ready} ms`);
  assert.ok(nodes <= 1_000, `${nodes} elements`);
  assert.ok(count > 20 && p95 <= 50, `95 % of moves are drawn within ${p95} ms`);
  // The focus goes with the card that was dropped.
  await page.waitForFunction((id) => document.activeElement?.closest("[data-column]")?.dataset.column === id, await page.$$eval("[data-column]", (all) => all[2].dataset.column));
  await page.keyboard.press("End");
  await page.waitForFunction((most) => {
    const item = document.activeElement?.closest("li");
    const [at, all] = ["aria-posinset", "aria-setsize"].map((name) => Number(item?.getAttribute(name)));
    return at === all && all > most;
  }, perColumn - 2);
  assert.deepEqual(foreign, []);
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
async function paceOfMoves(page, columns, cards) {
  await page.evaluate(() => (window.frames_ = 0));
  const started = Date.now();
  let moved = 0;
  for (let round = 0; round < 16; round += 1) {
    const to = columns[1 + ((round >> 1) % 2)].id;
    await owner.post("/v1/cards:batch", { operations: cards.slice(50 * (round % 2), 50 * (round % 2) + 50).map(({ id }) => ({ move: { card_id: id, column_id: to } })) });
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
  const page = await chromium.open(server.url + "/boards", { person: owner, viewport: { width: 1440, height: 900 } });
  await page.goto(`${server.url}/boards/${board.id}`);
  const sizes = () => sizesOf(page);
  await becomes(sizes, (all) => all.reduce((sum, each) => sum + each, 0) === 3 * perColumn, 30);
  await page.waitForSelector(".live.live");
  const { results: columns } = await owner.get(`/v1/boards/${board.id}/columns`);
  const { results: cards } = await owner.get(`/v1/cards?column_id=${columns[0].id}&page_size=100`);
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
    pace = await paceOfMoves(page, columns, cards);
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
  const { results: [column] } = await owner.get(`/v1/boards/${board.id}/columns`);
  const markdown = Array.from({ length: 2_000 }, (_, at) => `Paragraph ${at} of a long text`).join("\n\n");
  const card = await owner.post(`/v1/boards/${board.id}/cards`, { column_id: column.id, title: "Long", markdown });
  const page = await chromium.open(server.url + "/boards", { person: owner, viewport: { width: 1440, height: 900 } });
  await page.goto(`${server.url}/cards/${card.id}`);
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
  await addCards(2_334);
  const page = await chromium.open(server.url + "/boards", { person: owner, viewport: { width: 1440, height: 900 } });
  const ready = await leastTimeToUse(page, 3_000);
  await becomes(() => sizesOf(page), (all) => all.reduce((sum, each) => sum + each, 0) >= 10_000, 60);
  const nodes = await elementsOf(page);
  console.log(JSON.stringify({ cards: 10_000, ready, nodes }));
  assert.ok(ready <= 3_000, `ready after ${ready} ms`);
  assert.ok(nodes <= 1_000, `${nodes} elements`);
  assert.deepEqual(page.complaints, []);
});
