// A client that is a page of another site, as the Inspector is: the protocol's SDK in Chromium, with nothing
// between it and the server but CORS.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { Chromium } from "./support/chromium.mjs";
import { Callback } from "./support/oauth_client.mjs";
import { Server, freePort, makeWorkspace } from "./support/server.mjs";
import { enter, heading } from "./support/visits.mjs";

const packages = fileURLToPath(new URL("node_modules", import.meta.url));
const imports = {
  "@modelcontextprotocol/client": "/@modelcontextprotocol/client/dist/index.mjs",
  "@modelcontextprotocol/client/_shims": "/@modelcontextprotocol/client/dist/shimsBrowser.mjs",
  "@modelcontextprotocol/core/internal": "/@modelcontextprotocol/core/dist/internal.mjs",
  eventsource: "/eventsource/dist/index.js",
  "eventsource-parser": "/eventsource-parser/dist/index.js",
  "eventsource-parser/stream": "/eventsource-parser/dist/stream.js",
  "pkce-challenge": "/pkce-challenge/dist/index.browser.js",
  "zod/v4": "/zod/v4/index.js",
};

/** The page's part: an SDK client whose person is asked elsewhere. */
const script = `
  import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
  const kept = {};
  const provider = (redirectUrl) => ({
    redirectUrl,
    clientMetadata: { client_name: "Page", redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" },
    state: () => crypto.randomUUID(),
    clientInformation: () => kept.client,
    saveClientInformation: (client) => { kept.client = client; },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => { kept.tokens = tokens; },
    redirectToAuthorization: (url) => { kept.asked = String(url); },
    saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
    codeVerifier: () => kept.verifier,
  });
  const connect = async (transport) => {
    const client = new Client({ name: "page", version: "1.0.0" });
    await client.connect(transport);
    return client;
  };
  /** Where a person is to be sent. */
  window.setOut = async (endpoint, redirectUrl) => {
    kept.transport = () => new StreamableHTTPClientTransport(new URL(endpoint), { authProvider: provider(redirectUrl) });
    kept.first = kept.transport();
    const problem = await connect(kept.first).then(() => undefined, (error) => error);
    if (!(problem instanceof UnauthorizedError)) throw problem ?? new Error("nobody was asked");
    return kept.asked;
  };
  /** The names of the tools. */
  window.arrive = async (query) => {
    await kept.first.finishAuth(new URLSearchParams(query));
    const client = await connect(kept.transport());
    const { tools } = await client.listTools();
    await client.close();
    return tools.map((each) => each.name);
  };
  window.ready = true;`;

const page = `<!doctype html><title>Client</title><script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">${script}</script>`;

let server, chromium, site, callback;

/** Another site: the page, and the packages that it is made of. */
async function openSite() {
  const self = createServer((request, response) => {
    const file = packages + request.url;
    if (request.url === "/") response.writeHead(200, { "Content-Type": "text/html" }).end(page);
    else if (/^\/[@\w/.-]+\.m?js$/.test(request.url) && existsSync(file))
      response.writeHead(200, { "Content-Type": "text/javascript" }).end(readFileSync(file));
    else response.writeHead(404).end();
  });
  self.listen(await freePort(), "127.0.0.1");
  await once(self, "listening");
  self.url = `http://127.0.0.1:${self.address().port}`;
  return self;
}

before(async () => {
  site = await openSite();
  server = await Server.start([`mcp.allowed_origins=${site.url}`]);
  await makeWorkspace(server);
  callback = await Callback.start();
  chromium = await Chromium.start();
});
after(async () => {
  await chromium?.end();
  callback?.end();
  site?.close();
  await server?.end();
});

async function openClient(address) {
  const client = await chromium.open(address);
  await client.waitForFunction(() => window.ready, undefined, { timeout: 20_000 }).catch(() => assert.fail(String(client.complaints)));
  return client;
}

test("a page of a site that is named connects by OAuth and lists the tools", async () => {
  const client = await openClient(site.url);
  const asked = await client.evaluate(([endpoint, back]) => window.setOut(endpoint, back), [server.url + "/v1/mcp/http", callback.url]);

  const person = await chromium.open(server.url);
  await enter(person, server, "ada@example.com");
  await person.goto(asked);
  await heading(person, "Connect Page?");
  await person.click('button:has-text("Allow")');

  const names = await client.evaluate((query) => window.arrive(query), String(await callback.next()));
  assert.ok(names.includes("list_boards"), String(names));
  assert.deepEqual(client.complaints, []);
});

test("a page of another site reads no answer", async () => {
  const other = await openSite();
  try {
    const client = await openClient(other.url);
    const outcome = await client.evaluate(
      (endpoint) =>
        fetch(endpoint, { method: "POST", headers: { "Content-Type": "application/json", Authorization: "Bearer svc_x" }, body: "{}" }).then(
          (answer) => answer.status,
          (problem) => problem.name,
        ),
      server.url + "/v1/mcp/http",
    );
    assert.equal(outcome, "TypeError");
  } finally {
    other.close();
  }
});
