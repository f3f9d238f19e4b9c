// A board followed by the example of docs/examples/live: in Chromium, and by the WebSocket client
// from npm; and by the browser's own EventSource.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import WebSocket from "ws";

import { follow } from "../../docs/examples/live/follow.mjs";
import { Chromium } from "./support/chromium.mjs";
import { Server, makeWorkspace } from "./support/server.mjs";
import { heading, signIn } from "./support/visits.mjs";

const example = (name) => readFileSync(fileURLToPath(new URL(`../../docs/examples/live${name}`, import.meta.url)));
const types = { "/board.html": "text/html", "/follow.mjs": "text/javascript" };

/** Another site, which has the example: one that the server's settings name. */
const site = createServer(({ url }, answer) => {
  const { pathname } = new URL(url, "http://site");
  if (!types[pathname]) return answer.writeHead(404).end();
  answer.writeHead(200, { "Content-Type": types[pathname] }).end(example(pathname));
});
const siteUrl = () => `http://127.0.0.1:${site.address().port}`;

let server, chromium, owner, board, column;

before(async () => {
  await once(site.listen(0, "127.0.0.1"), "listening");
  server = await Server.start([`live.allowed_origins=${siteUrl()}`]);
  chromium = await Chromium.start();
  owner = await makeWorkspace(server);
  board = await owner.post("/v1/boards", { name: "Deliveries" });
  column = board.column_ids[0];
});
after(async () => {
  await chromium?.end();
  await server?.end();
  site.close();
});

const makeCard = (title) => owner.post(`/v1/boards/${board.id}/cards`, { column_id: column, title });

async function eventually(condition) {
  for (let tries = 0; tries < 600; tries += 1) {
    if (await condition()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.fail("it never came true: " + condition);
}

async function signedIn() {
  const page = await chromium.open(server.url + "/login");
  await signIn(page, server, "ada@example.com");
  await heading(page, "Boards");
  return page;
}

test("a page shows what happens, also after the server was away", async () => {
  const page = await signedIn();
  await page.goto(`${siteUrl()}/board.html?${new URLSearchParams({ server: server.url, board: board.id })}`);
  const shows = (text) => eventually(async () => (await page.textContent("#events")).includes(text));
  await eventually(async () => {
    await makeCard("Until it follows");
    return (await page.textContent("#events")).includes("Until it follows");
  });
  await makeCard("A teapot");
  await shows("card.created by Ada: A teapot");

  await server.stop();
  await server.start();
  await makeCard("While it was away");
  await makeCard("Two umbrellas");
  await shows("Two umbrellas");
  const lines = (await page.textContent("#events")).split("card.created").filter((line) => line.includes("While it was away"));
  assert.equal(lines.length, 1, "once");
  // That the server was away is said by the browser itself.
  assert.deepEqual(page.complaints.filter((each) => !/^WebSocket connection .*ERR_CONNECTION_REFUSED/.test(each)), []);
});

test("the browser's EventSource follows a board by the cookie", async () => {
  const page = await signedIn();
  await page.evaluate((id) => {
    window.heard = [];
    const source = new EventSource(`/v1/sse?board_id=${id}&kinds=card.created`);
    source.onopen = () => (window.isOpen = true);
    source.addEventListener("card.created", ({ data }) => window.heard.push(JSON.parse(data).data.changes.title));
  }, board.id);
  await page.waitForFunction(() => window.isOpen);
  await eventually(async () => {
    await makeCard("By SSE");
    return (await page.evaluate(() => window.heard)).includes("By SSE");
  });
});

test("a program from elsewhere follows with tickets, over a restart, without loss or repeat", async () => {
  const heard = [], made = [];
  const ticket = async () => (await owner.post("/v1/ws-tickets")).ticket;
  const stop = follow(server.url, board.id, { event: (event) => heard.push(event) }, { after: 0, ticket, Socket: WebSocket });
  const titles = () => heard.filter(({ kind }) => kind === "card.created").map(({ data }) => data.changes.title);
  for (let i = 0; i < 20; i += 1) {
    made.push(`Parcel ${i}`);
    await makeCard(made.at(-1));
    if (i === 10) {
      await server.stop();
      await server.start();
    }
  }
  await eventually(() => titles().includes("Parcel 19"));
  assert.deepEqual(titles().filter((title) => title.startsWith("Parcel")), made);
  const sequences = heard.map(({ sequence }) => sequence);
  assert.deepEqual(sequences, [...new Set(sequences)].sort((a, b) => a - b));
  stop();
});

test("a page of another site is refused the cookie", async () => {
  const status = (headers) =>
    new Promise((done) => {
      const socket = new WebSocket(server.url.replace("http", "ws") + "/v1/ws", { headers });
      socket.on("unexpected-response", (_, response) => done(response.statusCode));
      socket.on("open", () => done(101));
      socket.on("error", () => {});
    });
  assert.equal(await status({}), 401);
  assert.equal(await status({ Origin: "https://evil.example", Cookie: owner.cookies() }), 403);
  assert.equal(await status({ Origin: server.url, Cookie: owner.cookies() }), 101);
  assert.equal(await status({ Origin: siteUrl(), Cookie: owner.cookies() }), 101);
});
