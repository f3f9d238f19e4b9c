// The reference at /docs, in a browser: what it says of operations, and that they are tried from there.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Chromium } from "./support/chromium.mjs";
import { Server, makeWorkspace, mintToken } from "./support/server.mjs";
import { becomes, enter } from "./support/visits.mjs";

let server, chromium, owner, document;
const patience = 60_000; // with other suites beside it; by itself a page takes two seconds

before(async () => {
  server = await Server.start();
  chromium = await Chromium.start();
  owner = await makeWorkspace(server);
  document = await (await fetch(server.url + "/openapi.json")).json();
});
after(async () => {
  await chromium?.end();
  await server?.end();
});

/** The operation, opened by its address. */
async function show(page, tag, operation) {
  await page.goto("about:blank");
  await page.goto(`${server.url}/docs#/${tag}/${operation}`);
  const shown = page.locator(`#operations-${tag}-${operation}`);
  await shown.locator(".opblock-body").waitFor({ timeout: patience });
  return shown;
}

/** Tries it as it stands there; the status and the answer. */
async function attempt(shown) {
  const [tryOut, execute, clear] = [".try-out__btn", ".execute", ".btn-clear"].map((each) => shown.locator(each));
  if (!(await execute.count())) await tryOut.click();
  if (await clear.count()) await clear.click(); // what was answered before
  await execute.click();
  const row = shown.locator(".live-responses-table tbody tr").first();
  await row.waitFor();
  const status = Number((await row.locator(".response-col_status").textContent()).slice(0, 3));
  return { status, text: await row.locator(".highlight-code").textContent() };
}

describe("the reference", { concurrency: 2 }, () => {
  test("operations stand below their modules, with what they do, an example and their errors", async () => {
    const page = await chromium.open("about:blank");
    const shown = await show(page, "boards", "create_card");
    const operation = document.paths["/v1/boards/{board_id}/cards"].post;
    // An operation is drawn a part at a time.
    const text = await becomes(() => shown.textContent(), (all) => all.includes("PAR-1"));
    assert.ok(text.includes(operation.summary) && text.includes("Access:"), text.slice(0, 400));
    assert.ok(text.includes("Pack the teapot"), "the example of the request");
    assert.ok(text.includes("PAR-1"), "the example of the answer");
    for (const status of ["201", "404", "422"]) assert.ok(await shown.locator(`tr.response[data-code="${status}"]`).count(), status);
    const conflict = shown.locator('tr.response[data-code="409"]');
    assert.equal(await conflict.locator('a[href$="/docs/errors#wip_limit_reached"]').count(), 1);
    const examples = await conflict.locator(".examples-select-element option").allTextContents();
    assert.ok(examples.includes("wip_limit_reached") && examples.includes("external_key_taken"), String(examples));
    // Schemas stand elsewhere in the document, and are drawn here.
    const created = shown.locator('tr.response[data-code="201"]');
    await created.locator('.tab button[data-name="model"]').click();
    await created.locator(".json-schema-2020-12__title", { hasText: /^Card$/ }).waitFor();
    assert.ok(await created.locator('[data-json-schema-level="1"]').count() > 20, "its fields");

    // What is further down is drawn when one gets there; who went past too soon begins at the top again.
    const tags = new Set();
    const look = async () => {
      for (const tag of await page.evaluate(() => {
        const { scrollHeight } = document.documentElement;
        if (scrollY + innerHeight >= scrollHeight - 1) scrollTo(0, 0);
        else scrollBy(0, innerHeight);
        return [...document.querySelectorAll(".opblock-tag")].map((each) => each.dataset.tag);
      })) tags.add(tag);
      return [...tags];
    };
    await becomes(look, (all) => all.length >= document.tags.length, patience / 1_000);
    assert.deepEqual([...tags].sort(), document.tags.map((each) => each.name).sort());
    // Swagger UI warns of its own way of writing addresses.
    assert.deepEqual(page.complaints.filter((each) => !each.startsWith("Deprecated: escaping deep link")), []);
  });

  test("who is signed in reads and writes from there", async () => {
    const page = await chromium.open(server.url);
    await enter(page, server, "ada@example.com");
    const me = await attempt(await show(page, "account", "get_me"));
    assert.equal(me.status, 200, me.text);
    assert.ok(me.text.includes("Ada"), me.text);
    const made = await attempt(await show(page, "boards", "create_board"));
    assert.equal(made.status, 201, made.text);
    const { results } = await owner.get("/v1/boards");
    assert.deepEqual(results.map((each) => each.name), ["Parcels"]);
  });

  test("who is not gets a 401, and with a token acts as its bearer", async () => {
    const page = await chromium.open(server.url);
    const shown = await show(page, "account", "get_me");
    assert.equal((await attempt(shown)).status, 401);
    await page.locator(".auth-wrapper button.authorize").first().click();
    await page.locator(".auth-container", { hasText: "bearer" }).locator("input").fill(await mintToken(owner, "agent"));
    await page.locator(".auth-container", { hasText: "bearer" }).locator("button.authorize").click();
    await page.click(".btn-done");
    await becomes(async () => {
      if (await shown.count()) return true;
      await page.mouse.wheel(0, 300);
      return false;
    }, (is) => is);
    if (!(await shown.locator(".opblock-body").count())) await shown.locator(".opblock-summary-control").click();
    const me = await attempt(shown);
    assert.equal(me.status, 200, me.text);
    assert.ok(me.text.includes("Robot"), me.text);
  });
});
