// A worker: claims cards, does what they ask for, and completes them.
//   WORKBOARD=https://boards.example.com WORKBOARD_TOKEN=svc_… node mcp-worker.mjs "To do"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [column_id = "To do"] = process.argv.slice(2);
const client = new Client({ name: "worker", version: "1.0.0" });
await client.connect(
  new StreamableHTTPClientTransport(new URL(process.env.WORKBOARD + "/v1/mcp/http"), {
    requestInit: {
      headers: { Authorization: `Bearer ${process.env.WORKBOARD_TOKEN}`, "X-MCP-Toolsets": "worker" },
    },
  }),
);

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  return result.structuredContent;
}

/** The work itself: here a model would read the brief, and use the other tools. */
async function work(brief) {
  return { words: brief.split(/\s+/).length };
}

for (;;) {
  const { claimed, card, lease, lease_token } = await call("claim_next_card", { column_id, wait_seconds: 1 });
  if (!claimed) break;
  const by = { lease_id: lease.id, lease_token };
  try {
    const { markdown } = await call("get_card_context", { card_id: card.id });
    await call("complete_lease", { ...by, result: await work(markdown) });
    console.log(`${card.key} is done`);
  } catch (problem) {
    await call("fail_lease", { ...by, error: String(problem).slice(0, 500) });
  }
}
await client.close();
