// The rooms of those who look after a workspace, and of oneself: what they show, and what can be done there.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";

import { addresses } from "../support/console.mjs";
import { Rest, makeQueue } from "../support/server.mjs";
import { becomes, heading, password } from "../support/visits.mjs";

export default (house) => describe("rooms", { concurrency: false }, () => {
  const heard = [];
  const site = createServer(async (request, answer) => {
    let body = "";
    for await (const piece of request) body += piece;
    heard.push({ signature: request.headers["x-svc-signature"], body });
    answer.writeHead(204).end();
  });
  let server, rita, sam, page;

  before(async () => {
    await once(site.listen(0, "127.0.0.1"), "listening");
    ({ server } = house);
    ({ rita, sam } = house.people);
    page = await house.chromium.open(server.url + "/boards", { person: rita });
    await heading(page, "Boards");
  });
  after(() => site.close());
  /** By the sidebar, as people go. */
  const go = async (path, title) => {
    await page.click(`.sidebar li a[href="${path}"]`);
    await heading(page, title);
  };
  const org = () => rita.headers["X-Svc-Org"];

  test("an agent's page says what it may do, has done, has left, and cost", async () => {
    const agent = await rita.post("/v1/agents", { name: "Cook", budgets: { requests_per_day: 1_000 } });
    const { board_id, column_id } = await makeQueue(rita, ["Boil the eggs"]);
    await rita.send("PUT", `/v1/boards/${board_id}/access-grants/${agent.id}`, { role: "editor" });
    await go("/agents", "Agents");
    await page.click("#main a:has-text('Cook')");
    await page.waitForSelector(".rights:has-text('edits boards and cards'):has-text('Deliveries (editor)')");
    await page.click("#main button:text-is('New token')");
    await page.fill(".dialog input", "Stove");
    await page.click("text=Create the token");
    // What an agent's program is given is enough to work with.
    await page.waitForSelector(".dialog .sample:has-text('curl -s')");
    await page.click(".dialog button:text-is('MCP')");
    const { mcpServers: { workboard } } = JSON.parse(await page.textContent(".dialog .sample:has-text('mcpServers')"));
    const worker = new Rest(server, workboard.headers);
    assert.equal((await worker.get("/v1/me")).name, "Cook");
    await page.check("text=I have stored it");
    await page.click(".dialog >> text=Done");
    const { lease, lease_token } = await worker.post(`/v1/boards/${board_id}/columns/${column_id}:claim-next`, {});
    await worker.post(`/v1/leases/${lease.id}:complete`, { lease_token, cost: { amount: 0.25, currency: "EUR", input_tokens: 900, output_tokens: 80 } });
    await page.click("text=Edit…");
    await page.fill(".field:has-text('Requests a day') input", "40");
    await page.click(".dialog >> text=Save");
    await page.waitForSelector(".budget:has-text('Requests today'):has-text('/ 40') .bar");
    await becomes(() => rita.get(`/v1/agents/${agent.id}/activity`), ({ results }) => results.some(({ action }) => action === "complete_lease"));
    await page.reload();
    await page.waitForSelector(".numbers div:has-text('completed'):has-text('1')");
    await page.waitForSelector(".numbers div:has-text('cost'):has-text('0.25 EUR')");
    await page.waitForSelector("tr:has(td:text-is('complete_lease')) .tag:has-text('success')");
  });

  test("a delivery is sent again, and its signature is found right or wrong", async () => {
    const { id, secret } = await rita.post("/v1/webhooks", { url: `http://127.0.0.1:${site.address().port}/hook`, name: "Kitchen", events: ["card.*"] });
    await go("/webhooks", "Webhooks");
    await page.click("#main a:has-text('Kitchen')");
    await page.click("text=Send a test");
    await page.waitForSelector("td:has-text('succeeded')");
    await page.click("tbody >> text=Redeliver");
    await becomes(() => heard.length, (count) => count === 2);
    assert.equal(heard[0].body, heard[1].body);
    await page.click("text=Check a signature…");
    const [secretField, signature, body] = [0, 1, 2].map((at) => page.locator(".dialog .input").nth(at));
    await secretField.fill(secret);
    await signature.fill(heard[1].signature);
    await body.fill(heard[1].body);
    await page.click(".dialog .go");
    await page.waitForSelector(".dialog [role=status]:has-text('The signature is right')");
    await body.fill(heard[1].body + " ");
    await page.click(".dialog .go");
    await page.waitForSelector(".dialog [role=status]:has-text('is not that of this body')");
    await page.keyboard.press("Escape");
    await page.click("button:text-is('Pause')");
    await becomes(async () => (await rita.get(`/v1/webhooks/${id}`)).status, (status) => status === "paused");
  });

  test("members: seats, a role, an invitation that is mailed again and withdrawn", async () => {
    await rita.post(`/v1/orgs/${org()}/invitations`, { email: "uma@example.com" });
    await go("/members", "Members");
    await page.waitForSelector("text=/2 (of \\d+ )?seats are taken/");
    await page.selectOption("[aria-label='Role of Sam']", "viewer");
    await becomes(async () => (await sam.get("/v1/me/memberships")).results.find(({ org_id }) => org_id === org()).role, (role) => role === "viewer");
    await page.waitForSelector("td:has-text('uma@example.com'):has-text('sent once')");
    await page.click("[aria-label='Revoke the invitation of uma@example.com']");
    await page.waitForSelector("td:has-text('uma@example.com')", { state: "detached" });
  });

  test("a queue says why it gives nothing, and a lease is taken back", async () => {
    const { board_id, column_id } = await makeQueue(rita, ["Peel the onions"]);
    const worker = new Rest(server, { Authorization: `Bearer ${(await rita.post("/v1/tokens", { kind: "agent", name: "peeler", role: "member", agent: { name: "Peeler" } })).token}` });
    const { card } = await worker.post(`/v1/boards/${board_id}/columns/${column_id}:claim-next`, {});
    await go("/queues", "Queues");
    const queue = `[aria-labelledby="queue-${column_id}"]`;
    await page.click(`${queue} >> text=Would I get a card?`);
    await page.waitForSelector(`${queue} [role=status]:has-text('No card is ready')`);
    await rita.send("PATCH", `/v1/boards/${board_id}/columns/${column_id}`, { queue: { paused: true } });
    await page.waitForSelector(`${queue} .tag:has-text('paused')`);
    await page.waitForSelector("tr:has-text('Peel the onions') .countdown");
    await page.click("[aria-label='Revoke the lease of Peeler']");
    await becomes(async () => (await rita.get(`/v1/cards/${card.id}`)).lease, (lease) => lease === null);
    await page.waitForSelector("tr:has-text('Peel the onions')", { state: "detached" });
  });

  test("one's own sessions are listed and ended, and the console looks as one likes it", async () => {
    const other = new Rest(server);
    await other.post("/v1/auth/login", { email: rita.email, password });
    await page.click(".sidebar .me");
    await heading(page, "Your account");
    await page.waitForSelector("li:has-text('this browser')");
    await page.click("li:not(:has-text('this browser')) >> text=Sign out");
    await becomes(async () => (await other.exchange("GET", "/v1/me")).status, (status) => status === 401);
    await page.selectOption("label:text-is('Density') + select", "compact");
    await page.waitForFunction(() => document.documentElement.dataset.density === "compact");
    await page.selectOption("label:text-is('Time zone') + select", "Asia/Tokyo");
    await becomes(async () => (await rita.get("/v1/me/preferences")).timezone, (zone) => zone === "Asia/Tokyo");
  });

  test("a board that was archived comes back", async () => {
    const board = await rita.post("/v1/boards", { name: "Summer menu" });
    await rita.post(`/v1/boards/${board.id}:archive`);
    await go("/trash", "Archive and trash");
    await page.click("[aria-label='Restore Summer menu']");
    await becomes(async () => (await rita.get(`/v1/boards/${board.id}`)).is_archived, (is) => is === false);
  });

  test("what each page has called is there as curl, and as MCP call where it is a tool", async () => {
    const { tools } = await (await fetch(server.url + "/v1/mcp/manifest")).json();
    const isTool = new Set(tools.map(({ name }) => name));
    const outside = /^\/(login|signup|verify-email|reset-password|oauth\/authorize)$/;
    const pages = addresses().filter(({ path, needs }) => needs && !path.includes(":") && !outside.test(path));
    assert.ok(pages.length >= 12, JSON.stringify(pages));
    for (const { path, needs } of pages) {
      await page.goto(server.url + path);
      await page.waitForSelector("#main h1");
      await page.waitForFunction(() => !document.querySelector(".waiting"));
      await page.click(".sidebar .foot >> text=Calls");
      await page.check(".dialog input[type=checkbox]");
      if (needs.startsWith("create_")) { // a page that has asked nothing but what it lists
        await page.waitForSelector(".dialog .call");
      } else {
        const which = `:has(strong:text-is("${needs}"))`;
        await page.click(`.dialog .call${which} summary >> nth=0`);
        const call = page.locator(`.dialog .call[open]${which}`); // another may come before it
        await call.locator(".sample:has-text('curl -sS')").waitFor();
        const asMcp = call.locator("text=As MCP call"); // once the page knows what is a tool
        if (isTool.has(needs)) {
          await asMcp.click();
          assert.equal(JSON.parse(await call.locator(".sample").textContent()).params.name, needs);
        } else assert.equal(await asMcp.count(), 0, needs);
      }
      await page.keyboard.press("Escape");
      await page.waitForSelector(".dialog", { state: "detached" });
    }
    assert.deepEqual(page.complaints, []);
  });
});
