// The suites of the protocol's authors, which say what a server of a revision has to do. With the
// plugin that has what they expect beside the product, each runs in full.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { conform, faults, folderOfSuite, passed } from "./support/conformance.mjs";
import { Forwarder } from "./support/forwarder.mjs";
import { Server, freePort, makeWorkspace, mintToken } from "./support/server.mjs";

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

/** The scenarios that the revision requires of servers. */
function required(revision) {
  const text = readFileSync(`${folderOfSuite}requirements/${revision}.yaml`, "utf8");
  const list = /^server:\n((?: +- .*\n|\n| *#.*\n)*)/m.exec(text)[1];
  return [...list.matchAll(/^ +- (\S+)/gm)].map((each) => each[1]);
}

for (const [revision, scenarios] of [["2025-11-25", 30], ["2026-07-28", 37]])
  test(`every scenario of ${revision} passes`, async () => {
    const { code, said, found } = await conform(["server", "--url", forwarder.url + "/v1/mcp/http", "--requirements", revision]);
    const all = required(revision);
    assert.equal(all.length, scenarios);
    let count = 0;
    for (const scenario of all) {
      const checks = found.get(scenario) ?? [];
      assert.deepEqual(faults(checks), [], scenario);
      assert.ok(passed(checks) > 0, `${scenario} checked nothing:\n${said}`);
      count += passed(checks);
    }
    assert.equal(code, 0, said);
    console.log(`${revision}: ${all.length} scenarios, ${count} checks passed`);
  });
