// Clients that only know OAuth: both SDKs of the protocol's authors, with their own OAuth, a person in
// Chromium who lets them, and what becomes of the connection.
import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:https";
import { after, before, test } from "node:test";

import * as second from "@modelcontextprotocol/client";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { makeCertificate } from "./support/certificate.mjs";
import { Chromium } from "./support/chromium.mjs";
import { Callback, Provider } from "./support/oauth_client.mjs";
import { Server, freePort, makeWorkspace } from "./support/server.mjs";
import { fill, heading, password, says } from "./support/visits.mjs";

globalThis.crypto ??= webcrypto;  // node 18

let server, chromium, owner, callback, certificate, site, documents;

before(async () => {
  certificate = makeCertificate();
  server = await Server.start(["server.workers=8", `oauth.ca_file=${certificate.file}`, "oauth.allow_private_targets=true"]);
  chromium = await Chromium.start();
  owner = await makeWorkspace(server);
  await owner.post("/v1/boards", { name: "Deliveries" });
  callback = await Callback.start();
  documents = {};
  const port = await freePort();
  site = createServer({ key: certificate.key, cert: certificate.certificate }, (request, response) => {
    const found = documents[request.url];
    response.writeHead(found ? 200 : 404, { "Content-Type": "application/json" }).end(JSON.stringify(found ?? {}));
  });
  site.listen(port, "127.0.0.1");
  await once(site, "listening");
  site.url = `https://localhost:${port}`;
});
after(async () => {
  callback?.end();
  site?.close();
  certificate?.remove();
  await chromium?.end();
  await server?.end();
});

const endpoint = () => new URL(server.url + "/v1/mcp/http");
const sdks = {
  "1.x": {
    Client, Transport: StreamableHTTPClientTransport, Unauthorized: UnauthorizedError,
    finish: (transport, query) => transport.finishAuth(query.get("code")),
  },
  "2.x": {
    Client: second.Client, Transport: second.StreamableHTTPClientTransport, Unauthorized: second.UnauthorizedError,
    finish: (transport, query) => transport.finishAuth(query),
  },
};

/** A connected client; Unauthorized is thrown when a person has to be asked first. */
async function connect({ Client: Kind, Transport }, provider) {
  const client = new Kind({ name: "test", version: "1.0.0" });
  const transport = new Transport(endpoint(), { authProvider: provider });
  await client.connect(transport);
  return client;
}

/** Sets out, and gives the transport that is to be finished. */
async function setOut({ Client: Kind, Transport, Unauthorized }, provider) {
  const transport = new Transport(endpoint(), { authProvider: provider });
  await assert.rejects(new Kind({ name: "test", version: "1.0.0" }).connect(transport), Unauthorized);
  return transport;
}

/** The page that the client sent a person to, in a browser that signs in on the way. */
async function arrive(url) {
  const page = await chromium.open(String(url));
  await page.waitForSelector("#login");
  await fill(page, { email: "ada@example.com", password });
  return page;
}

/** Ends the one connection of this name that is there, as a person does it. */
async function revokeInConsole(page, name) {
  await page.goto(server.url + "/agents");
  await page.click('button:has-text("Connected clients only")');
  const revoke = `button[aria-label="Revoke ${name}"]`;
  await page.click(revoke);
  await page.click(".dialog .danger");
  await page.waitForSelector(revoke, { state: "detached" });
}

const tokens = async () => (await owner.get("/v1/tokens")).results;

for (const [name, sdk] of Object.entries(sdks)) {
  test(`SDK ${name} connects through the consent page, refreshes, and ends with its token`, async () => {
    const provider = new Provider(callback.url);
    const transport = await setOut(sdk, provider);
    const page = await arrive(provider.asked);
    await heading(page, "Connect Test client?");
    assert.match(await page.textContent("#asker"), /127\.0\.0\.1.*on this computer/);
    await page.selectOption("text=It acts as", "new");
    await page.fill("text=Name of the agent", `Helper ${name}`);
    await page.click('button:has-text("Allow")');
    const query = await callback.next();
    assert.equal(query.get("state"), provider.lastState);
    assert.equal(query.get("iss"), server.url);
    assert.deepEqual(page.complaints, []);

    await sdk.finish(transport, query);
    const client = await connect(sdk, provider);
    const { tools } = await client.listTools();
    assert.ok(tools.some((each) => each.name === "create_board"));
    const made = await client.callTool({ name: "create_board", arguments: { name: `By ${name}` } });
    assert.equal(made.structuredContent.created_by.principal_type, "agent");
    assert.equal(made.structuredContent.created_by.name, `Helper ${name}`);

    // An access token that is no longer good is refreshed by the client itself.
    const before = provider.saved;
    provider.saved = { ...before, access_token: before.access_token.replace(/.$/, (last) => (last === "A" ? "B" : "A")) };
    assert.equal((await client.callTool({ name: "list_boards", arguments: {} })).isError ?? false, false);
    assert.notEqual(provider.saved.refresh_token, before.refresh_token);

    const [token] = (await tokens()).filter((each) => each.client && each.status === "active");
    assert.equal(token.client.name, "Test client");
    await revokeInConsole(page, token.name);
    await assert.rejects(client.callTool({ name: "list_boards", arguments: {} }));
    await client.close();
    const answer = await fetch(server.url + "/oauth/token", {
      method: "POST",
      body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: before.refresh_token, client_id: provider.client.client_id }),
    });
    assert.equal((await answer.json()).error, "invalid_grant");
  });

  test(`SDK ${name} is known by the document that describes it`, async () => {
    const id = `${site.url}/${name}/client.json`;
    documents[`/${name}/client.json`] = {
      client_id: id, client_name: "Described client", redirect_uris: ["http://127.0.0.1/callback"], token_endpoint_auth_method: "none",
    };
    const provider = new Provider(callback.url, id);
    const transport = await setOut(sdk, provider);
    assert.equal(provider.asked.searchParams.get("client_id"), id);
    const page = await arrive(provider.asked);
    await heading(page, "Connect Described client?");
    assert.match(await page.textContent("#asker"), /described by localhost/);
    await page.check("text=It only reads");
    await page.click('button:has-text("Allow")');
    await sdk.finish(transport, await callback.next());
    assert.equal(provider.saved.scope, "read");
    const client = await connect(sdk, provider);
    const { tools } = await client.listTools();
    assert.ok(tools.every((each) => each.annotations.readOnlyHint));
    await client.close();
  });
}

test("who denies it sends the client away empty-handed", async () => {
  const provider = new Provider(callback.url);
  await setOut(sdks["1.x"], provider);
  const count = (await tokens()).length;
  const page = await arrive(provider.asked);
  await page.click('button:has-text("Deny")');
  const query = await callback.next();
  assert.equal(query.get("error"), "access_denied");
  assert.equal(query.get("state"), provider.lastState);
  assert.equal(query.get("code"), null);
  assert.equal((await tokens()).length, count);
});

test("what is not proven is shown, and leads nowhere", async () => {
  const provider = new Provider(callback.url);
  await setOut(sdks["1.x"], provider);
  const change = (member, value) => {
    const url = new URL(provider.asked);
    url.searchParams.set(member, value);
    return url.href;
  };
  const page = await arrive(change("redirect_uri", "https://evil.example/callback"));
  await heading(page, "This cannot be connected");
  assert.ok(!(await page.content()).includes("Back to the program"));
  for (const strange of [change("client_id", `${site.url}/nothing.json`), change("client_id", "unknown"), provider.asked.href + "&redirect_uri=https://evil.example/"]) {
    await page.goto(strange);
    await heading(page, "This cannot be connected");
    assert.equal(await page.locator("main button").count(), 0, strange);
  }
  // The client is proven and asks wrongly: a click leads back, and nothing else does.
  await page.goto(change("code_challenge_method", "plain"));
  await says(page, "PKCE");
  assert.ok(page.url().startsWith(server.url));
  await page.click("text=Back to the program");
  assert.equal((await callback.next()).get("error"), "invalid_request");
});
