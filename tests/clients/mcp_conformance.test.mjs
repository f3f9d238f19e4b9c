// The suites of the protocol's authors, which say what a server of a revision has to do. With the
// plugin that has what they expect beside the product, each runs in full.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { Forwarder } from "./support/forwarder.mjs";
import { newerNode } from "./support/node.mjs";
import { Server, freePort, makeWorkspace, mintToken } from "./support/server.mjs";

const packages = fileURLToPath(new URL("node_modules/", import.meta.url));

let server, forwarder;

before(async () => {
  forwarder = await Forwarder.start(await freePort());
  server = await Server.start([
    `server.base_url=${forwarder.url}`,
    "plugins=mail-file,store-local,bus-postgres,mcp-conformance",
  ]);
  const person = await makeWorkspace(server);
  await mintToken(person, "agent"); // the agent that test_trigger_tool_change changes
  forwarder.lead(server, await mintToken(person, "integration", "admin"));
});
after(async () => {
  forwarder?.end();
  await server?.end();
});

/** What each scenario of a revision's suite found, by its name, with what the program said. */
async function run(revision) {
  const folder = mkdtempSync(join(tmpdir(), "workboard-conformance-"));
  try {
    const program = `${packages}@modelcontextprotocol/conformance/dist/index.js`;
    const words = [program, "server", "--url", forwarder.url + "/v1/mcp/http", "--requirements", revision, "-o", folder];
    const child = spawn(newerNode, words, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const out of [child.stdout, child.stderr]) out.on("data", (chunk) => (said += chunk));
    const [code] = await once(child, "close");
    const found = new Map();
    for (const name of readdirSync(folder)) {
      const scenario = /^server-(.*)-\d{4}-\d{2}-\d{2}T/.exec(name)[1];
      found.set(scenario, JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")));
    }
    return { code, said, found };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The scenarios that the revision requires of servers. */
function required(revision) {
  const text = readFileSync(`${packages}@modelcontextprotocol/conformance/requirements/${revision}.yaml`, "utf8");
  const list = /^server:\n((?: +- .*\n|\n| *#.*\n)*)/m.exec(text)[1];
  return [...list.matchAll(/^ +- (\S+)/gm)].map((each) => each[1]);
}

for (const [revision, scenarios] of [["2025-11-25", 30], ["2026-07-28", 37]])
  test(`every scenario of ${revision} passes`, async () => {
    const { code, said, found } = await run(revision);
    const all = required(revision);
    assert.equal(all.length, scenarios);
    let passed = 0;
    for (const scenario of all) {
      const checks = found.get(scenario) ?? [];
      const bad = checks.filter((each) => each.status === "FAILURE" || each.status === "WARNING");
      assert.deepEqual(bad, [], scenario);
      assert.ok(checks.some((each) => each.status === "SUCCESS"), `${scenario} checked nothing:\n${said}`);
      passed += checks.filter((each) => each.status === "SUCCESS").length;
    }
    assert.equal(code, 0, said);
    console.log(`${revision}: ${all.length} scenarios, ${passed} checks passed`);
  });
