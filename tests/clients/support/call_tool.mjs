// Calls one MCP tool with the protocol's own client and prints what it gave, as JSON:
//   node call_tool.mjs <url of the server> <token> <tool> <arguments as JSON>
// Ends with 1 when the tool refused.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, token, name, given] = process.argv.slice(2);
const client = new Client({ name: "call_tool", version: "1.0.0" });
await client.connect(
  new StreamableHTTPClientTransport(new URL(url + "/v1/mcp/http"), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  }),
);
const result = await client.callTool({ name, arguments: JSON.parse(given) });
console.log(result.structuredContent ? JSON.stringify(result.structuredContent) : result.content[0].text);
await client.close();
process.exitCode = result.isError ? 1 : 0;
