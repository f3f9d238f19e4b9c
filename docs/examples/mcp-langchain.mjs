import { MultiServerMCPClient } from "@langchain/mcp-adapters";

const client = new MultiServerMCPClient({
  mcpServers: {
    workboard: {
      url: process.env.WORKBOARD + "/v1/mcp/http",
      headers: { Authorization: `Bearer ${process.env.WORKBOARD_TOKEN}`, "X-MCP-Toolsets": "worker" },
    },
  },
});
const tools = await client.getTools(); // for createAgent({ model, tools })
const { structuredContent } = await tools.find((each) => each.name === "list_queues").invoke({});
console.log(tools.length, structuredContent.results[0].column_name);
await client.close();
