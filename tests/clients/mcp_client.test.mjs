// The newer client of the protocol's authors, which asks the server what it speaks and then needs
// no session.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { Server, makeQueue, makeWorkspace, mintToken } from "./support/server.mjs";

let server, token, queue;

before(async () => {
  server = await Server.start();
  const person = await makeWorkspace(server);
  queue = await makeQueue(person, ["Water the plants"]);
  token = await mintToken(person, "agent");
});
after(() => server?.end());

async function connect(options) {
  const client = new Client({ name: "test", version: "1.0.0" }, options);
  const transport = new StreamableHTTPClientTransport(new URL(server.url + "/v1/mcp/http"), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return { client, transport };
}

test("it settles on the stateless protocol, and the tools are the same", async () => {
  const modern = await connect({ versionNegotiation: { mode: "auto" } });
  assert.equal(modern.client.getNegotiatedProtocolVersion(), "2026-07-28");
  assert.equal(modern.transport.sessionId, undefined);

  const old = await connect();
  assert.equal(old.client.getNegotiatedProtocolVersion(), "2025-11-25");
  assert.deepEqual((await modern.client.listTools()).tools, (await old.client.listTools()).tools);
  await modern.client.close();
  await old.client.close();
});

test("work is claimed and completed over a restart without any session", async () => {
  const { client } = await connect({ versionNegotiation: { mode: "auto" } });
  const claim = await client.callTool({ name: "claim_next_card", arguments: queue });
  assert.equal(claim.structuredContent.card.title, "Water the plants");
  await server.stop();
  await server.start();
  const { lease, lease_token } = claim.structuredContent;
  const done = await client.callTool({
    name: "complete_lease",
    arguments: { lease_id: lease.id, lease_token },
  });
  assert.equal(done.structuredContent.lease.state, "completed");
  await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), { code: -32602 });
  await client.close();
});
