// The main task of every page for people who are signed in, done by keys alone, from signing in on.
import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { faults } from "../support/axe.mjs";
import { OnlyKeys, coverage } from "../support/keys.mjs";
import { Rest, makeQueue, mintToken } from "../support/server.mjs";
import { becomes, heading, password } from "../support/visits.mjs";

export default (house) => describe("by keys alone", { concurrency: false }, () => {
  const heard = [];
  const site = createServer((request, answer) => {
    heard.push(request.url);
    answer.writeHead(204).end();
  });
  let server, olga, ben, page, type, press, tabTo, pick, go;

  before(async () => {
    await once(site.listen(0, "127.0.0.1"), "listening");
    ({ server } = house);
    ({ olga, ben } = house.people);
  });
  after(() => site.close());
  const task = coverage.task;

  task(["/login", "/boards", "/boards/:id"], "signing in, a survey, a new board and cards on it that are moved", async () => {
    page = await house.chromium.open(server.url + "/login");
    ({ type, press, tabTo, pick, go } = new OnlyKeys(page));
    await page.waitForSelector("input[name=email]:focus");
    await type(olga.email);
    await press("Tab");
    await type(password);
    await press("Enter");
    await heading(page, "Boards");

    await page.waitForSelector(".survey");
    // All scores are one stop, and the arrow keys go through them.
    await tabTo("0");
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
    const { surveys } = await olga.get("/v1/me/surveys");
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
    const { results: [card] } = await becomes(() => olga.get("/v1/cards"), ({ results }) => results.length === 1);
    assert.equal(card.title, "First");
    await tabTo(/First/);
    await press("Space", "ArrowRight", "Space");
    await becomes(async () => (await olga.get(`/v1/cards/${card.id}`)).column_id, (column) => column !== card.column_id);
  });

  task(["/cards/:id"], "a card is written, commented on, and left", async () => {
    const { results: [{ id }] } = await olga.get("/v1/cards");
    await tabTo(/First/);
    await press("Enter");
    await heading(page, "First");
    await tabTo("Text of the card");
    await type("Written by keys");
    await press("Enter");
    await type("/quote");
    await page.waitForSelector(".slash-menu [aria-selected=true]");
    await press("Enter");
    await type("and quoted");
    await becomes(async () => (await olga.get(`/v1/cards/${id}/markdown`)).markdown.trim(), (text) => text === "Written by keys\n\n> and quoted");
    await press("Escape");
    await tabTo("Write a comment");
    await type("Said by keys");
    await press("Control+Enter");
    await page.waitForSelector(".comment-text:has-text('Said by keys')");
    await press("Escape", "Escape");
    await page.waitForSelector(".card-panel", { state: "detached" });
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
    const { results: [{ id }] } = await olga.get("/v1/boards");
    const { results: [{ key }] } = await olga.get(`/v1/cards?board_id=${id}&page_size=1`);
    await press("Control+k");
    await page.waitForSelector("[role=combobox]:focus");
    await type(key.toLowerCase());
    await page.waitForSelector(`[role=option][aria-selected=true]:has-text('${key} ')`);
    await press("Escape");
    await press("?");
    await page.waitForSelector(".keys dt:has-text('Write a comment')");
    await press("Escape");
    await page.waitForSelector(".keys", { state: "detached" });
    await press("Escape");
    await page.waitForSelector(".card-panel", { state: "detached" });
  });

  task(["/inbox"], "the inbox says at once what is new; it is read, opened and emptied", async () => {
    const { results: [board] } = await ben.get("/v1/boards");
    const { id } = await olga.get("/v1/me");
    const assign = (title) => ben.post(`/v1/boards/${board.id}/cards`, { column_id: board.column_ids[0], title, assignees: [id] });
    const unread = async () => (await olga.get("/v1/notifications/count")).unread_count;
    await assign("For Olga");
    await page.waitForSelector(".sidebar .tag:has-text('1')");
    await go("i", "Inbox");
    await tabTo(/For Olga/);
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

  task(["/members"], "people are invited, many at once, and each says what became of it", async () => {
    await go("m", "Members");
    await press("n");
    await page.waitForSelector(".dialog textarea:focus");
    await type("Carla <carla@example.com>, ben@example.com");
    await pick("Invite 2");
    await page.waitForSelector(".dialog li:has-text('carla@example.com is invited')");
    await page.waitForSelector(".dialog li:has-text('is a member already')");
    await press("Escape");
    await page.waitForSelector("td:has-text('carla@example.com')");
  });

  task(["/agents", "/agents/:id"], "an agent gets a token, works with it, and is stopped", async () => {
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
    await page.waitForSelector("button:text-is('Enable the agent')[aria-disabled=false]");
    await pick("Enable the agent");
    await page.waitForSelector("text=Disable the agent");
    assert.equal((await robot.get("/v1/me")).name, "Robot");
  });

  task(["/webhooks", "/webhooks/:id"], "a webhook is made, tried, and its deliveries are there to be read", async () => {
    await go("h", "Webhooks");
    await press("n");
    await page.waitForSelector(".dialog input:focus");
    await type(`http://127.0.0.1:${site.address().port}/hook`);
    await press("Enter");
    await page.waitForSelector(".dialog .sample:has-text('whsec')");
    await pick("I have stored it", "Space");
    await pick("Done");
    await pick(/127\.0\.0\.1/);
    await page.waitForSelector("text=Send a test");
    await pick("Send a test");
    await page.waitForSelector("td:has-text('succeeded')");
    assert.ok(heard.includes("/hook"));
  });

  task(["/queues", "/automations"], "a card whose attempts are used up goes back into the queue, and the script that labels results ran", async () => {
    const { board_id, column_id } = await makeQueue(olga, ["Too hard"]);
    const worker = new Rest(server, { Authorization: `Bearer ${await mintToken(olga, "agent")}` });
    const { lease, lease_token, card } = await worker.post(`/v1/boards/${board_id}/columns/${column_id}:claim-next`, {});
    await worker.post(`/v1/leases/${lease.id}:fail`, { lease_token, error: "No idea", retryable: false });
    const state = async () => (await olga.get(`/v1/cards/${card.id}`)).queue.state;
    assert.equal(await state(), "exhausted");
    // Counted now, as it is every ten minutes.
    await server.doNow("queue.sample_depths.find");
    await becomes(async () => (await olga.get(`/v1/boards/${board_id}/columns/${column_id}/queue/depths`)).samples.length, (count) => count > 0);
    await go("q", "Queues");
    await page.waitForSelector("text=No idea");
    await page.waitForSelector(".day-chart figcaption:has-text('needing attention 1, at most 1')");
    await pick(/^Requeue [A-Z]/);
    await type("The parts are here now");
    await press("Enter");
    await becomes(state, (now) => now === "ready");
    const { results: comments } = await olga.get(`/v1/comments?card_id=${card.id}`);
    assert.equal(comments.at(-1).rich_text[0].plain_text, "The parts are here now");

    const again = await worker.post(`/v1/boards/${board_id}/columns/${column_id}:claim-next`, {});
    await worker.post(`/v1/leases/${again.lease.id}:complete`, { lease_token: again.lease_token });
    await go("l", "Automations");
    await pick("label-results.lua");
    await pick("lease.completed");
    await page.waitForSelector("details[open] li:has-text('update_card')");
  });

  task(["/outbox"], "a mail that could not be sent is sent again", async () => {
    const folder = join(server.folder, "mail");
    const aside = join(server.folder, "mail-aside");
    renameSync(folder, aside);
    writeFileSync(folder, "no folder"); // nothing can be written below it
    await olga.post(`/v1/orgs/${olga.headers["X-Svc-Org"]}/invitations`, { email: "dora@example.com" });
    await go("o", "Mail");
    await page.waitForSelector("tr:has-text('dora@example.com'):has-text('failed')");
    rmSync(folder);
    if (existsSync(aside)) renameSync(aside, folder);
    await pick("Requeue the mail to dora@example.com");
    await page.waitForSelector("tr:has-text('dora@example.com'):has-text('sent')");
    assert.match(await server.mailTo("dora@example.com"), /invit/i);
  });

  task(["/audit"], "the audit record is narrowed to what one looks for", async () => {
    await go("r", "Audit");
    await tabTo("Action");
    await type("disable_agent");
    await page.waitForFunction(() => {
      const all = [...document.querySelectorAll("tbody summary")].map((each) => each.textContent);
      return all.length > 0 && all.every((each) => each === "disable_agent");
    });
    const [file] = await Promise.all([page.waitForEvent("download"), pick("Export")]);
    const entries = readFileSync(await file.path(), "utf8").trim().split("\n").map((line) => JSON.parse(line));
    assert.ok(entries.length > 0 && entries.every(({ action, hash }) => action === "disable_agent" && /^[0-9a-f]{64}$/.test(hash)));
  });

  task(["/trash"], "what was deleted is restored from the trash", async () => {
    const { results: [card] } = await olga.get("/v1/cards?text=First");
    await olga.send("DELETE", `/v1/cards/${card.id}`);
    await go("t", "Archive and trash");
    await pick("Trash");
    await pick(new RegExp(`^Restore ${card.key}$`));
    await becomes(async () => (await olga.get(`/v1/cards/${card.id}`)).in_trash, (gone) => gone === false);
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

  task(["/server"], "operators see what the server has, and its numbers; others do not", async () => {
    await go("s", "Server");
    await pick("All numbers");
    await page.waitForSelector("dt:has-text('Mails that wait to be sent')");
    for (const title of ["Database", "Jobs", "Events", "Queues", "Mail outbox", "Webhooks"]) await page.waitForSelector(`.lag h3:text-is("${title}")`);
    await page.waitForSelector("tr:has(td:has-text('store-local')) .tag:has-text('well')");
    await page.waitForSelector("tr:has(td:has-text('mail-file')):has-text('mails become files') .tag:has-text('warning')");
    await page.waitForSelector("tr:has(td:has-text('automations')):has-text('--set automations.scripts')");
    await tabTo("Find a setting");
    await type("most_attempts");
    await page.waitForSelector("tr:has(td:text-is('mail.most_attempts')):has-text('--set mail.most_attempts')");
    await assert.rejects(ben.get("/v1/operator/status"), /404/);
  });

  task(["/feedback", "/account"], "feedback is sent, and the theme chosen", async () => {
    await go("f", "Feedback");
    await tabTo("Tell more");
    await type("Keys are fine");
    await pick("Send");
    await page.waitForSelector("tr:has-text('Keys are fine')");
    await go("p", "Your account");
    await tabTo("Theme");
    await press("d");
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    await becomes(async () => (await olga.get("/v1/me/preferences")).theme, (theme) => theme === "dark");
    assert.deepEqual(page.complaints, []);
  });
});
