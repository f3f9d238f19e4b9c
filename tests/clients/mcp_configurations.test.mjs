// Configurations and programs of docs/mcp.md, as they stand there, with the clients that npm has.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, readFileSync, rmSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { newerNode } from "./support/node.mjs";
import { Server, makeQueue, makeWorkspace, mintToken } from "./support/server.mjs";

const page = readFileSync(new URL("../../docs/mcp.md", import.meta.url), "utf8");
const run = promisify(execFile);
let server, token;

before(async () => {
  server = await Server.start();
  const person = await makeWorkspace(server);
  await makeQueue(person, ["Water the plants"]);
  token = await mintToken(person, "agent");
});
after(() => server?.end());

/** The block of this language that has this in it, for this server and this token. */
function block(language, mark) {
  const blocks = [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].filter(([, name, text]) => name === language && text.includes(mark));
  assert.equal(blocks.length, 1, mark);
  return blocks[0][2].replaceAll("https://boards.example.com", server.url).replaceAll("svc_…", token);
}

test("what is read as mcpServers leads to the tools of workers", async () => {
  const program = `
    import { MultiServerMCPClient } from "@langchain/mcp-adapters";
    const client = new MultiServerMCPClient(${block("json", '"mcpServers"')});
    console.log(JSON.stringify((await client.getTools()).map((each) => each.name)));
    await client.close();`;
  const { stdout } = await run(newerNode, ["--input-type=module", "-e", program]);
  const names = JSON.parse(stdout);
  assert.equal(names.length, 12);
  assert.ok(names.includes("claim_next_card"));
});

for (const name of ["mcp-ai-sdk", "mcp-langchain"])
  test(`docs/examples/${name}.mjs runs`, async () => {
    const source = new URL(`../../docs/examples/${name}.mjs`, import.meta.url);
    const here = new URL(`./${name}.copied.mjs`, import.meta.url); // beside the packages that it imports
    copyFileSync(source, here);
    try {
      const env = { ...process.env, WORKBOARD: server.url, WORKBOARD_TOKEN: token };
      const { stdout } = await run(newerNode, [fileURLToPath(here)], { env });
      assert.equal(stdout.trim(), "12 To do");
    } finally {
      rmSync(here, { force: true });
    }
  });
