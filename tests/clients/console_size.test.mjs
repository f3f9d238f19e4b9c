// What the console weighs: its files, and a board of 3,000 cards in a page.
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { LargeBoard, dragAcross, elementsOf, perColumn, sizesOf } from "./support/large_board.mjs";
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

const large = new LargeBoard();
before(() => large.begin());
after(() => large.end());

test("the files are within their budgets", async () => {
  const { server, chromium, owner, board } = large;
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

test("a board of 3,000 cards stays small, asks nobody else for anything, and the focus goes with the card that is dropped", async () => {
  const page = await large.open();
  const foreign = [];
  page.on("request", (request) => { if (!request.url().startsWith(large.server.url) && !/^(data|blob):/.test(request.url())) foreign.push(request.url()); });
  await page.goto(large.address);
  await becomes(() => sizesOf(page), (all) => all.length > 0 && all.every((each) => each === perColumn), 60);
  const nodes = await elementsOf(page);
  assert.ok(nodes <= 1_000, `${nodes} elements`);
  await dragAcross(page);
  await page.waitForFunction((id) => document.activeElement?.closest("[data-column]")?.dataset.column === id, large.columns[2].id);
  await page.keyboard.press("End");
  await page.waitForFunction((most) => {
    const item = document.activeElement?.closest("li");
    const [at, all] = ["aria-posinset", "aria-setsize"].map((name) => Number(item?.getAttribute(name)));
    return at === all && all > most;
  }, perColumn - 2);
  assert.ok(await elementsOf(page) <= 1_000, "at its other end");
  assert.deepEqual(foreign, []);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});
