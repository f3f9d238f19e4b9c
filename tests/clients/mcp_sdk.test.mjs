// The MCP endpoint as the protocol's own TypeScript client meets it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

import { Server, makeQueue, makeWorkspace, mintToken } from "./support/server.mjs";

let server, token, queue;

before(async () => {
  server = await Server.start();
  const person = await makeWorkspace(server);
  queue = await makeQueue(person, ["Pack the parcel", "Call the courier", "Send the bill"]);
  token = await mintToken(person, "agent");
});
after(() => server?.end());

function transportWith(headers = {}) {
  return new StreamableHTTPClientTransport(new URL(server.url + "/v1/mcp/http"), {
    requestInit: { headers: { Authorization: `Bearer ${token}`, ...headers } },
  });
}

async function connect(headers) {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = transportWith(headers);
  await client.connect(transport);
  return { client, transport };
}

async function listTools(client) {
  const { tools, nextCursor } = await client.listTools();
  assert.equal(nextCursor, undefined);
  return tools;
}

test("it initializes and says who it is", async () => {
  const { client, transport } = await connect();
  assert.equal(client.getServerVersion().name, "workboard");
  assert.match(client.getInstructions(), /claim_next_card/);
  assert.deepEqual(Object.keys(client.getServerCapabilities()).sort(), ["completions", "prompts", "resources", "tools"]);
  assert.match(transport.sessionId, /^[\x21-\x7e]+$/);
  await client.ping();
  await client.close();
});

test("its tools are the manifest's, each with schema and hints", async () => {
  const { client } = await connect();
  const tools = await listTools(client);
  const manifest = await (await fetch(server.url + "/v1/mcp/manifest")).json();
  const offered = new Set(manifest.tools.map((each) => each.name));
  assert.ok(tools.length > 10);
  for (const tool of tools) {
    assert.ok(offered.has(tool.name), tool.name);
    assert.match(tool.name, /^[a-z]+(_[a-z]+)*$/);
    assert.equal(tool.inputSchema.type, "object");
    assert.equal(tool.inputSchema.additionalProperties, false);
    for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"])
      assert.equal(typeof tool.annotations[hint], "boolean", `${tool.name} ${hint}`);
  }
  await client.close();
});

test("a card is claimed and completed", async () => {
  const { client } = await connect();
  const claim = await client.callTool({ name: "claim_next_card", arguments: queue });
  assert.ok(!claim.isError, claim.content[0].text);
  assert.equal(claim.structuredContent.claimed, true);
  assert.deepEqual(JSON.parse(claim.content[0].text), claim.structuredContent);

  const { lease, lease_token } = claim.structuredContent;
  const done = await client.callTool({
    name: "complete_lease",
    arguments: { lease_id: lease.id, lease_token },
  });
  assert.ok(!done.isError, done.content[0].text);
  assert.equal(done.structuredContent.lease.state, "completed");
  await client.close();
});

test("wrong arguments are a result that names them, wrong tools an error", async () => {
  const { client } = await connect();
  const result = await client.callTool({ name: "claim_next_card", arguments: { wait_seconds: "x" } });
  assert.equal(result.isError, true);
  const named = JSON.parse(result.content[0].text).detail.map((each) => each.loc.at(-1)).sort();
  assert.deepEqual(named, ["board_id", "column_id", "wait_seconds"]);
  await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), { code: -32602 });
  await client.close();
});

test("a client can ask for tools that only read", async () => {
  const { client } = await connect({ "X-MCP-Readonly": "true" });
  for (const tool of await listTools(client)) assert.equal(tool.annotations.readOnlyHint, true);
  await assert.rejects(client.callTool({ name: "claim_next_card", arguments: queue }), { code: -32602 });
  await client.close();
});

test("a session outlives the server's restart", async () => {
  const { client, transport } = await connect();
  const before = transport.sessionId;
  await server.stop();
  await server.start();
  const boards = await client.callTool({ name: "list_boards", arguments: {} });
  assert.equal(boards.structuredContent.results[0].name, "Deliveries");
  assert.equal(transport.sessionId, before);
  await client.close();
});

test("a session that its client ends is gone", async () => {
  const { client, transport } = await connect();
  const session = transport.sessionId;
  await transport.terminateSession();
  const answer = await fetch(server.url + "/v1/mcp/http", {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "Mcp-Session-Id": session,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  assert.equal(answer.status, 404);
  await client.close();
});

test("a wrong token gets nowhere", async () => {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = transportWith({ Authorization: "Bearer svc_" + "x".repeat(43) });
  await assert.rejects(client.connect(transport), /401|Unauthorized/i);
});

test("resources are read, completed and followed", async () => {
  const { client } = await connect();
  const { resources } = await client.listResources();
  assert.equal(resources[0].title, "Deliveries");
  const board = await client.readResource({ uri: resources[0].uri });
  assert.match(board.contents[0].text, /^# DEL Deliveries\n/);
  const completed = await client.complete({ ref: { type: "ref/resource", uri: "svc://cards/{id}" }, argument: { name: "id", value: "DEL-" } });
  assert.ok(completed.completion.values.includes("DEL-1"));
  const prompts = await client.listPrompts();
  assert.equal(prompts.prompts.length, 3);
  const prompt = await client.getPrompt({ name: "summarize-board", arguments: { board: "DEL" } });
  assert.match(prompt.messages[1].content.resource.text, /DEL-1/);

  const told = new Promise((done) => client.setNotificationHandler(ResourceUpdatedNotificationSchema, done));
  await client.subscribeResource({ uri: "svc://cards/DEL-2" });
  await client.callTool({ name: "create_comment", arguments: { parent: { card_id: "DEL-2" }, markdown: "Soon." } });
  assert.equal((await told).params.uri, "svc://cards/DEL-2");
  await client.close();
});

test("the older transport leads to the same tools", async () => {
  const client = new Client({ name: "test", version: "1.0.0" });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(
    new SSEClientTransport(new URL(server.url + "/v1/mcp/sse"), {
      requestInit: { headers },
      eventSourceInit: { fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }) },
    }),
  );
  assert.equal(client.getServerVersion().name, "workboard");
  const { client: modern } = await connect();
  const names = async (of) => (await listTools(of)).map((each) => each.name);
  assert.deepEqual(await names(client), await names(modern));
  const boards = await client.callTool({ name: "list_boards", arguments: {} });
  assert.equal(boards.structuredContent.results[0].name, "Deliveries");
  await client.close();
  await modern.close();
});
