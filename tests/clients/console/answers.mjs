// What those who look after a workspace do while answers are slow, refused or lost, and others change the same things: it
// is done once, what is shown is so, and nothing that was written goes.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { Rest, makeQueue, mintToken } from "../support/server.mjs";
import { deferred } from "../support/until.mjs";
import { becomes, heading, holdBack, refusal } from "../support/visits.mjs";

export default (house) => describe("answers", { concurrency: false }, () => {
  let server, mona, max, page;

  before(async () => {
    ({ server } = house);
    ({ mona, max } = house.people);
    page = await house.chromium.open(server.url + "/boards", { person: mona });
    await heading(page, "Boards");
  });
  async function show(path, title) {
    await page.unrouteAll({ behavior: "ignoreErrors" });
    const subscribed = page.waitForEvent("websocket").then((socket) => socket.waitForEvent("framereceived", ({ payload }) => String(payload).includes('"subscribed"')));
    await page.goto(server.url + path);
    await heading(page, title);
    await subscribed; // what happens from now on is heard
  }
  const org = () => mona.headers["X-Svc-Org"];
  const refused = refusal(503, "service_unavailable");
  /** The first such call is refused, or done and its answer lost. */
  const once = (address, method, how) => {
    let isFirst = true;
    return page.route(address, async (route) => {
      if (route.request().method() !== method || !isFirst) return route.fallback();
      isFirst = false;
      if (how === "refused") return route.fulfill(refused);
      await route.fetch();
      return route.abort();
    });
  };
  const focused = (words) => page.waitForFunction((its) => document.activeElement?.textContent.includes(its), words);
  /** The worker takes a card and fails at it. */
  async function failNext(worker, board_id, column_id, how) {
    const { lease, lease_token, card } = await worker.post(`/v1/boards/${board_id}/columns/${column_id}:claim-next`, {});
    await worker.post(`/v1/leases/${lease.id}:fail`, { lease_token, ...how });
    return card;
  }
  const agentCalled = async (name) => (await mona.get("/v1/agents")).results.find((each) => each.name === name).id;
  const namesOf = async (path) => (await mona.get(path)).results.map(({ name }) => name);

  test("an agent whose token was refused is made once, and a token whose answer was lost is the one that is shown", async () => {
    await show("/agents", "Agents");
    await once("**/v1/tokens", "POST", "refused");
    await page.click("text=New agent");
    await page.fill(".dialog input", "Dup");
    await page.click("text=Create the agent");
    await page.waitForSelector(".dialog .failure:has-text('Not now.')");
    await page.fill(".dialog input", "Once");
    await page.click("text=Create the agent");
    await page.waitForSelector(".dialog:has-text('Once and its token')");
    assert.deepEqual(await namesOf("/v1/agents"), ["Once"]);
    await page.check("text=I have stored it");
    await page.click(".dialog >> text=Done");
    await focused("New agent");

    const id = await agentCalled("Once");
    await show(`/agents/${id}`, "Once");
    await once("**/v1/tokens", "POST", "lost");
    await page.click("text=New token");
    await page.fill(".dialog input", "Second");
    await page.click("text=Create the token");
    await page.waitForSelector(".dialog .failure");
    await page.click("text=Create the token");
    await page.waitForSelector(".dialog .sample");
    assert.equal((await namesOf(`/v1/tokens?agent_id=${id}`)).filter((name) => name === "Second").length, 1);
  });

  test("what is shown once is neither left while it is on its way nor said to be copied where it is not", async () => {
    const id = await agentCalled("Once");
    await show(`/agents/${id}`, "Once");
    await page.context().setOffline(true);
    await page.click("text=New token");
    await page.fill(".dialog input", "Nowhere");
    await page.click("text=Create the token");
    await page.waitForSelector(".dialog .failure");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".dialog", { state: "detached" });
    await page.context().setOffline(false);
    await page.route("**/v1/tokens", async (route) => {
      await page.keyboard.press("Escape");
      await route.continue();
    });
    await page.click("text=New token");
    await page.fill(".dialog input", "Third");
    await page.click("text=Create the token");
    await page.waitForSelector(".dialog .sample");
    const token = await page.textContent(".dialog .sample >> nth=0");
    // Pages that come by plain HTTP have no clipboard.
    await page.evaluate(() => {
      Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
      document.execCommand = () => false;
    });
    await page.click(".dialog button:text-is('Copy') >> nth=0");
    await page.waitForSelector(".dialog button:text-is('Press Ctrl C')");
    assert.equal(await page.evaluate(() => String(getSelection())), token);
    assert.equal(await page.locator("text=Copied").count(), 0);
  });

  test("one's own role is asked about, and a role shows as chosen while it is on its way", async () => {
    await show("/members", "Members");
    await page.selectOption("[aria-label='Role of Mona']", "viewer");
    await page.waitForSelector(".dialog:has-text('Your role: viewer')");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".dialog", { state: "detached" });
    assert.equal(await page.inputValue("[aria-label='Role of Mona']"), "owner");
    const roleOf = async (person) => (await person.get("/v1/me/memberships")).results.find(({ org_id }) => org_id === org()).role;
    assert.equal(await roleOf(mona), "owner");
    const letGo = await holdBack(page, "**/members/*");
    await page.selectOption("[aria-label='Role of Max']", "viewer");
    assert.equal(await page.inputValue("[aria-label='Role of Max']"), "viewer");
    letGo();
    await becomes(() => roleOf(max), (role) => role === "viewer");
    await show("/members", "Members");
    await once("**/members/*", "PATCH", "refused");
    await page.selectOption("[aria-label='Role of Max']", "admin");
    await page.waitForSelector(".failure:has-text('Not now.')");
    assert.equal(await page.inputValue("[aria-label='Role of Max']"), "viewer");
  });

  test("people whose address is none are not dropped, and a mail that is sent again says the same", async () => {
    await page.click("text=Invite people");
    await page.fill(".dialog textarea >> nth=0", "eve@example.com, dan.example.com");
    await page.fill(".dialog textarea >> nth=1", "Come along.");
    await page.click(".dialog .go");
    await page.waitForSelector(".dialog li:has-text('dan.example.com'):has-text('is no e-mail address')");
    assert.equal(await page.inputValue(".dialog textarea >> nth=0"), "dan.example.com");
    await page.keyboard.press("Escape");
    await page.click("[aria-label='Resend to eve@example.com']");
    await page.waitForSelector("td:has-text('eve@example.com'):has-text('sent 2 times')");
    const [{ message }] = (await mona.get(`/v1/orgs/${org()}/invitations?status=pending`)).results;
    assert.equal(message, "Come along.");
  });

  test("a profile keeps what another tab has written, and what is being written", async () => {
    await show("/account", "Your account");
    await page.fill(".field:has-text('About you') textarea", "I bake.");
    await mona.send("PATCH", "/v1/me/profile", { job_title: "Baker" });
    await page.fill(".field:has-text('Where you are') input", "Lisbon");
    await page.press(".field:has-text('Where you are') input", "Enter");
    await page.waitForSelector(".toast:has-text('Your profile is saved')");
    const { bio, location, job_title } = await mona.get("/v1/me/profile");
    assert.deepEqual({ bio, location, job_title }, { bio: "I bake.", location: "Lisbon", job_title: "Baker" });
    await page.waitForFunction(() => [...document.querySelectorAll("input")].some(({ value }) => value === "Baker"));
    assert.equal(await page.evaluate(() => document.activeElement.value), "Lisbon");
  });

  test("preferences are as they were chosen last, and of those that are refused only these go back", async () => {
    await once("**/v1/me/preferences", "PATCH", "refused");
    await page.selectOption(".field:has-text('Theme') select", "dark");
    await page.selectOption(".field:has-text('Hours') select", "h12");
    await page.selectOption(".field:has-text('Weeks begin on') select", "sunday");
    await page.waitForSelector(".toast:has-text('Not now.')");
    await becomes(() => mona.get("/v1/me/preferences"), ({ theme, time_format, week_start }) => theme === "system" && time_format === "h12" && week_start === "sunday");
    await becomes(() => page.$$eval(".form-grid select", (all) => all.map(({ value }) => value)), (all) => all.includes("system") && all.includes("h12") && all.includes("sunday"));
  });

  test("a list has what was made while it was read, and before it was subscribed to", async () => {
    const other = await house.chromium.openBeside(page, "about:blank");
    const read = deferred(), subscribed = deferred();
    await other.routeWebSocket(/\/v1\/ws/, (socket) => {
      const beyond = socket.connectToServer();
      socket.onMessage(async (message) => { await subscribed.promise; beyond.send(message); });
    });
    await other.route("**/v1/agents?*", async (route) => {
      const response = await route.fetch();
      await read.promise;
      await route.fulfill({ response });
    }, { times: 1 });
    await other.goto(server.url + "/agents");
    await heading(other, "Agents");
    // Made here, while the list is on its way as it was before.
    await other.keyboard.press("n");
    await other.fill(".dialog input", "Made meanwhile");
    await other.keyboard.press("Enter");
    await other.check(".dialog input[type=checkbox]");
    await other.click(".dialog >> text=Done");
    read.resolve();
    await other.waitForSelector("td:has-text('Made meanwhile')");
    // Made elsewhere, before anybody would have said so.
    await mona.post("/v1/agents", { name: "Made elsewhere" });
    subscribed.resolve();
    await other.waitForSelector("td:has-text('Made elsewhere')");
    assert.deepEqual(other.complaints, []);
    await other.close();
  });

  test("who signs out everywhere is asked first", async () => {
    const { ivo } = house.people; // whose sessions end here
    const other = await house.chromium.open(server.url + "/account", { person: ivo });
    const ask = () => other.click("text=Sign out everywhere…");
    await ask();
    await other.waitForSelector(".dialog:has-text('this one too')");
    await other.keyboard.press("Escape");
    await other.waitForSelector(".dialog", { state: "detached" });
    assert.equal((await ivo.get("/v1/me")).name, "Ivo");
    await ask();
    await other.click(".dialog .danger");
    await other.waitForURL("**/login");
    await assert.rejects(ivo.get("/v1/me"), /401/);
    await other.context().close();
  });

  test("a list that could not be read again is read at another try, and what was deleted is said to be gone", async () => {
    await show("/members", "Members");
    await page.route("**/members?*", (route) => route.fulfill(refused)); // also when it is tried again by itself
    await max.send("PATCH", "/v1/me/profile", { name: "Maximilian" });
    await mona.send("PATCH", `/v1/orgs/${org()}/members/${(await max.get("/v1/me")).id}`, { role: "member" });
    await page.waitForSelector(".panel .failure");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.click(".panel .failure >> text=Try again");
    await page.waitForSelector("td:has-text('Maximilian')");

    const id = await agentCalled("Once");
    await show(`/agents/${id}`, "Once");
    await page.click("text=Disable the agent");
    await page.waitForSelector(".dialog:has-text('Disable Once')");
    await mona.post(`/v1/agents/${id}:disable`, {});
    await page.waitForSelector(".toast:has-text('Once is disabled already')");
    await mona.post(`/v1/agents/${id}:enable`, {});
    await page.waitForSelector("text=Disable the agent");
    assert.equal(await page.locator(".dialog").count(), 0);
    await mona.send("DELETE", `/v1/agents/${id}`);
    await page.waitForSelector(".failure");
    await page.waitForSelector("text=Disable the agent", { state: "detached" });
  });

  test("cards go back into their queue although one of them has a worker by now, each with one comment", async () => {
    const { board_id, column_id } = await makeQueue(mona, ["One", "Two", "Three"]);
    const worker = new Rest(server, { Authorization: `Bearer ${await mintToken(mona, "agent")}` });
    const cards = [];
    for (let count = 0; count < 3; count += 1) cards.push(await failNext(worker, board_id, column_id, { error: "No idea", retryable: false }));
    await show("/queues", "Queues");
    await once(`**/v1/cards/${cards[2].id}:requeue`, "POST", "refused");
    await page.click("text=Requeue all…");
    await page.fill(".dialog input", "The oven is repaired");
    // Another is quicker with one of them; what is written stays.
    await mona.post(`/v1/cards/${cards[1].id}:requeue`);
    const taken = await worker.post(`/v1/boards/${board_id}/columns/${column_id}:claim-next`, {});
    assert.equal(taken.card.id, cards[1].id);
    await page.waitForFunction(() => document.querySelectorAll(".stuck li").length === 2, null, { timeout: 30_000 });
    assert.equal(await page.inputValue(".dialog input"), "The oven is repaired");
    await page.click(".dialog .go");
    await page.waitForSelector(".dialog .failure:has-text('Not now.')");
    await page.click(".dialog .go");
    await page.waitForSelector(".dialog .failure:has-text('Not now.')", { state: "detached" });
    await page.waitForSelector(`.dialog .failure li:has-text('${cards[1].key}')`);
    for (const { id } of [cards[0], cards[2]]) {
      await becomes(() => mona.get(`/v1/cards/${id}`), ({ queue }) => queue.state === "ready");
      assert.equal((await mona.get(`/v1/comments?card_id=${id}`)).results.length, 1);
    }
    await page.keyboard.press("Escape");
    await page.waitForSelector(".dialog", { state: "detached" });
    await page.waitForFunction(() => document.activeElement !== document.body);
  });

  test("a card whose pause is over is ready on the board, although nothing says so", async () => {
    const { board_id, column_id } = await makeQueue(mona, ["Wait"]);
    await mona.send("PATCH", `/v1/boards/${board_id}/columns/${column_id}`, { queue: { backoff_seconds: 3, backoff_max_seconds: 3 } });
    const worker = new Rest(server, { Authorization: `Bearer ${await mintToken(mona, "agent")}` });
    await failNext(worker, board_id, column_id, { error: "Busy" });
    await page.goto(`${server.url}/boards/${board_id}`);
    await page.waitForSelector(".tile:has-text('waits after a failure')");
    await page.waitForSelector(".tile:has-text('Wait'):not(:has-text('waits after a failure'))");
    await page.waitForSelector(".queue-strip:has-text('1 ready')");
  });

  test("a dialog over another gives the focus back to that", async () => {
    const board = await mona.post("/v1/boards", { name: "Labels" });
    for (const name of ["bug", "wish"]) await mona.post(`/v1/boards/${board.id}/labels`, { name, color: "red" });
    await show(`/boards/${board.id}`, "Labels");
    await page.click("[aria-label='About this board']");
    await page.click("[role=menuitem]:has-text('Labels')");
    await page.click("[aria-label='Delete the label bug']");
    await page.click(".dialog >> text=/^Delete$/");
    await page.waitForFunction(() => document.querySelectorAll(".dialog").length === 1 && document.querySelector(".dialog").contains(document.activeElement));
    await page.keyboard.press("Escape");
    await page.waitForSelector(".dialog", { state: "detached" });
  });

  test("to sign out is said to have failed, and tried again", async () => {
    await once("**/v1/auth/logout", "POST", "refused");
    await page.click("button:text-is('Sign out')");
    await page.waitForSelector(".toast:has-text('Not now.')");
    await page.click("button:text-is('Sign out')");
    await page.waitForURL("**/login");
  });
});
