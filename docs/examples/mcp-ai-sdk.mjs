import { createMCPClient } from "@ai-sdk/mcp";

const client = await createMCPClient({
  transport: {
    type: "http",
    url: process.env.WORKBOARD + "/v1/mcp/http",
    headers: { Authorization: `Bearer ${process.env.WORKBOARD_TOKEN}`, "X-MCP-Toolsets": "worker" },
  },
});
const tools = await client.tools(); // for generateText({ model, tools, … })
const queues = await tools.list_queues.execute({}, { toolCallId: "1", messages: [] });
console.log(Object.keys(tools).length, queues.structuredContent.results[0].column_name);
await client.close();
