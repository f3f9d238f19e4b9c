// The main task of every page, done by keys alone: no mouse and no touch is used here, from signing in on.
import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { faults } from "./support/axe.mjs";
import { Chromium } from "./support/chromium.mjs";
import { Rest, Server, makeMember, makeQueue, makeWorkspace, mintToken } from "./support/server.mjs";
import { becomes, heading, password, tabTo } from "./support/visits.mjs";

const heard = [];
const site = createServer((request, answer) => {
  heard.push(request.url);
  answer.writeHead(204).end();
});
let server, chromium, ada, bob, page;

before(async () => {
  await once(site.listen(0, "127.0.0.1"), "listening");
  server = await Server.start([
    "server.workers=8", "mail.most_attempts=1", "webhooks.allow_private_targets=true",
    "operators.accounts=ada@example.com", "automations.scripts=label-results.lua", "feedback.survey_account_days=0", "feedback.survey_active_days=0",
  ]);
  chromium = await Chromium.start();
  ada = await makeWorkspace(server);
  bob = await makeMember(server, ada, "bob@example.com", "Bob");
});
after(async () => {
  await chromium?.end();
  await server?.end();
  site.close();
});

const type = (text) => page.keyboard.type(text);
async function press(...keys) {
  for (const key of keys) await page.keyboard.press(key);
}
/** Goes on to something that is called so, and presses it. */
async function pick(name, key = "Enter") {
  await tabTo(page, name);
  await press(key);
}
/** To another page, from wherever one is. */
async function go(key, title) {
  await page.evaluate(() => document.activeElement.blur());
  await press("g", key);
  await heading(page, title);
}

test("signing in, a survey and a new board", async () => {
  page = await chromium.open(server.url + "/login");
  page.setDefaultTimeout(20_000);
  await page.waitForSelector("input[name=email]:focus");
  await type("ada@example.com");
  await press("Tab");
  await type(password);
  await press("Enter");
  await heading(page, "Boards");

  await page.waitForSelector(".survey");
  // All scores are one stop, and the arrow keys go through them.
  await tabTo(page, "0");
  await press(...Array(9).fill("ArrowRight"));
  assert.equal(await page.textContent(".scores label:has(:checked)"), "9");
  await press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Why?");
  const { width, height } = page.viewportSize();
  for (const [colorScheme, size] of [["light", { width, height }], ["dark", { width: 390, height: 844 }], ["light", { width: 390, height: 844 }], ["dark", { width, height }]]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize(size);
    assert.deepEqual(await faults(page), [], `${colorScheme}, ${size.width} pixels`);
    assert.ok(await page.$eval(".survey", ({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth), `what it asks fits into ${size.width} pixels`);
    if (process.env.WORKBOARD_SCREENSHOTS) await page.screenshot({ path: `${process.env.WORKBOARD_SCREENSHOTS}/survey.${colorScheme}.${size.width}.png` });
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  await type("It is quick");
  await pick("Send");
  await page.waitForSelector(".toast:has-text('Thank you')");
  const { surveys } = await ada.get("/v1/me/surveys");
  assert.equal(surveys.find(({ key }) => key === "nps").reason, "already_answered");
  await Promise.all([page.waitForResponse((answer) => answer.url().endsWith("/v1/me/surveys")), page.reload()]);
  await heading(page, "Boards");
  assert.equal(await page.locator(".survey").count(), 0, "nobody is asked twice");

  await press("n");
  await page.waitForSelector(".dialog input:focus");
  await type("By keys");
  await press("Enter");
  await heading(page, "By keys");
  await press("n");
  await page.waitForSelector(".add-card textarea:focus");
  await type("First");
  await press("Enter", "Escape");
  const { results: [card] } = await becomes(() => ada.get("/v1/cards"), ({ results }) => results.length === 1);
  assert.equal(card.title, "First");
});

test("the palette finds cards and what can be done, and ? lists the keys", async () => {
  await press("Control+k");
  await page.waitForSelector("[role=combobox]:focus");
  await type("audit");
  await page.waitForSelector("[role=option][aria-selected=true]:has-text('Audit')");
  await press("Enter");
  await heading(page, "Audit");
  await press("Control+k");
  await page.waitForSelector("[role=combobox]:focus");
  await type("first");
  await page.waitForSelector("[role=option]:has-text('First')");
  await press("Enter");
  await heading(page, "First");
  await press("?");
  await page.waitForSelector(".keys dt:has-text('Write a comment')");
  await press("Escape");
  await page.waitForSelector(".keys", { state: "detached" });
  await press("Escape");
  await page.waitForSelector(".card-panel", { state: "detached" });
});

test("the inbox says at once what is new; it is read, opened and emptied", async () => {
  const { results: [board] } = await bob.get("/v1/boards");
  const { id } = await ada.get("/v1/me");
  const assign = (title) => bob.post(`/v1/boards/${board.id}/cards`, { column_id: board.column_ids[0], title, assignees: [id] });
  const unread = async () => (await ada.get("/v1/notifications/count")).unread_count;
  await assign("For Ada");
  await page.waitForSelector(".sidebar .tag:has-text('1')");
  await go("i", "Inbox");
  await tabTo(page, /For Ada/);
  await press("e");
  await becomes(unread, (count) => count === 0);
  await page.waitForSelector("h2:has-text('All is read')");
  await assign("To be opened");
  await page.waitForSelector("[data-notice]:has-text('To be opened')");
  await pick(/To be opened/);
  await heading(page, "To be opened");
  await becomes(unread, (count) => count === 0);
  await assign("One");
  await assign("Two");
  await page.waitForSelector(".sidebar .tag:has-text('2')");
  await go("i", "Inbox");
  await press("Shift+E");
  await becomes(unread, (count) => count === 0);
});

test("people are invited, many at once, and each says what became of it", async () => {
  await go("m", "Members");
  await press("n");
  await page.waitForSelector(".dialog textarea:focus");
  await type("Carla <carla@example.com>, bob@example.com");
  await pick("Invite 2");
  await page.waitForSelector(".dialog li:has-text('carla@example.com is invited')");
  await page.waitForSelector(".dialog li:has-text('is a member already')");
  await press("Escape");
  await page.waitForSelector("td:has-text('carla@example.com')");
});

test("an agent gets a token, works with it, and is stopped", async () => {
  await go("a", "Agents");
  await press("n");
  await page.waitForSelector(".dialog input:focus");
  await type("Robot");
  await press("Enter");
  await page.waitForSelector(".dialog .sample");
  const token = await page.textContent(".dialog .sample >> nth=0");
  await press("Escape");
  assert.equal(await page.locator(".dialog").count(), 1, "what is shown once does not go by accident");
  await pick("I have stored it", "Space");
  await pick("Done");
  const robot = new Rest(server, { Authorization: `Bearer ${token}` });
  assert.equal((await robot.get("/v1/me")).name, "Robot");
  await pick(/Robot$/);
  await heading(page, "Robot");
  await pick("Disable the agent");
  await page.waitForSelector(".dialog input:focus");
  await type("It repeats itself");
  await press("Enter");
  await page.waitForSelector("text=It repeats itself");
  await assert.rejects(robot.get("/v1/me"), /401|403/);
  await pick("Enable the agent");
  await page.waitForSelector("text=Disable the agent");
  assert.equal((await robot.get("/v1/me")).name, "Robot");
});

test("a webhook is made, tried, and its deliveries are there to be read", async () => {
  await go("h", "Webhooks");
  await press("n");
  await page.waitForSelector(".dialog input:focus");
  await type(`http://127.0.0.1:${site.address().port}/hook`);
  await press("Enter");
  await page.waitForSelector(".dialog .sample:has-text('whsec')");
  await pick("I have stored it");
  await pick(/127\.0\.0\.1/);
  await page.waitForSelector("text=Send a test");
  await pick("Send a test");
  await page.waitForSelector("td:has-text('succeeded')");
  assert.ok(heard.includes("/hook"));
});

test("a card whose attempts are used up goes back into the queue, and the script that labels results ran", async () => {
  const { board_id, column_id } = await makeQueue(ada, ["Too hard"]);
  const worker = new Rest(server, { Authorization: `Bearer ${await mintToken(ada, "agent")}` });
  const { lease, lease_token, card } = await worker.post(`/v1/boards/${board_id}/columns/${column_id}:claim-next`, {});
  await worker.post(`/v1/leases/${lease.id}:fail`, { lease_token, error: "No idea", retryable: false });
  const state = async () => (await ada.get(`/v1/cards/${card.id}`)).queue.state;
  assert.equal(await state(), "exhausted");
  await go("q", "Queues");
  await page.waitForSelector("text=No idea");
  await pick(/^Requeue [A-Z]/);
  await type("The parts are here now");
  await press("Enter");
  await becomes(state, (now) => now === "ready");
  const { results: comments } = await ada.get(`/v1/comments?card_id=${card.id}`);
  assert.equal(comments.at(-1).rich_text[0].plain_text, "The parts are here now");

  const again = await worker.post(`/v1/boards/${board_id}/columns/${column_id}:claim-next`, {});
  await worker.post(`/v1/leases/${again.lease.id}:complete`, { lease_token: again.lease_token });
  await go("l", "Automations");
  await pick("label-results.lua");
  await pick("lease.completed");
  await page.waitForSelector("details[open] li:has-text('update_card')");
});

test("a mail that could not be sent is sent again", async () => {
  const folder = join(server.folder, "mail");
  const aside = join(server.folder, "mail-aside");
  renameSync(folder, aside);
  writeFileSync(folder, "no folder"); // nothing can be written below it
  await ada.post(`/v1/orgs/${ada.headers["X-Svc-Org"]}/invitations`, { email: "dora@example.com" });
  await go("o", "Mail");
  await page.waitForSelector("tr:has-text('dora@example.com'):has-text('failed')");
  rmSync(folder);
  if (existsSync(aside)) renameSync(aside, folder);
  await pick("Requeue the mail to dora@example.com");
  await page.waitForSelector("tr:has-text('dora@example.com'):has-text('sent')");
  assert.match(await server.mailTo("dora@example.com"), /invit/i);
});

test("the audit record is narrowed to what one looks for", async () => {
  await go("r", "Audit");
  await tabTo(page, "Action");
  await type("disable_agent");
  await page.waitForFunction(() => {
    const all = [...document.querySelectorAll("tbody summary")].map((each) => each.textContent);
    return all.length > 0 && all.every((each) => each === "disable_agent");
  });
  const [file] = await Promise.all([page.waitForEvent("download"), pick("Export")]);
  const entries = readFileSync(await file.path(), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  assert.ok(entries.length > 0 && entries.every(({ action, hash }) => action === "disable_agent" && /^[0-9a-f]{64}$/.test(hash)));
});

test("what was deleted is restored from the trash", async () => {
  const { results: [card] } = await ada.get("/v1/cards?text=First");
  await ada.send("DELETE", `/v1/cards/${card.id}`);
  await go("t", "Archive and trash");
  await pick("Trash");
  await pick(new RegExp(`^Restore ${card.key}$`));
  await becomes(async () => (await ada.get(`/v1/cards/${card.id}`)).in_trash, (gone) => gone === false);
  await page.waitForSelector(`td:has-text("${card.key}")`, { state: "detached" });

  // The same for a program.
  await press("g", "c");
  await page.waitForSelector(".call");
  await pick(/restore_card/);
  await page.waitForSelector(`.call .sample:has-text("/v1/cards/${card.id}:restore")`);
  await pick("As MCP call");
  const shown = JSON.parse(await page.textContent(".call[open] .sample"));
  assert.deepEqual(shown.params, { name: "restore_card", arguments: { card_id: card.id } });
  await press("Escape");
});

test("operators see what the server has, and its numbers; others do not", async () => {
  await go("s", "Server");
  await page.waitForSelector("dt:has-text('Mails that wait to be sent')");
  await page.waitForSelector("td:has-text('store-local')");
  await assert.rejects(bob.get("/v1/operator/status"), /404/);
});

test("feedback is sent, and the theme chosen", async () => {
  await go("f", "Feedback");
  await tabTo(page, "Tell more");
  await type("Keys are fine");
  await pick("Send");
  await page.waitForSelector("tr:has-text('Keys are fine')");
  await go("p", "Your account");
  await tabTo(page, "Theme");
  await press("d");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await becomes(async () => (await ada.get("/v1/me/preferences")).theme, (theme) => theme === "dark");
  assert.deepEqual(page.complaints, []);
});
