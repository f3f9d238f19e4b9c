// The worker that docs/mcp.md shows, as it stands there.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, readFileSync, rmSync } from "node:fs";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { Server, makeQueue, makeWorkspace, mintToken } from "./support/server.mjs";

const example = new URL("../../docs/examples/mcp-worker.mjs", import.meta.url);
// Beside the packages that it imports.
const here = new URL("./mcp-worker.copied.mjs", import.meta.url);

let server, person, queue;

before(async () => {
  server = await Server.start();
  person = await makeWorkspace(server);
  queue = await makeQueue(person, ["Pack the parcel", "Call the courier"]);
  copyFileSync(example, here);
});
after(async () => {
  rmSync(here, { force: true });
  await server?.end();
});

test("it fits on a page", () => {
  assert.ok(readFileSync(example, "utf8").trimEnd().split("\n").length <= 40);
});

test("it completes what is in the queue", async () => {
  const env = { ...process.env, WORKBOARD: server.url, WORKBOARD_TOKEN: await mintToken(person, "agent") };
  const { stdout } = await promisify(execFile)(process.execPath, [here.pathname, "To do"], { env });
  assert.deepEqual(stdout.trim().split("\n"), ["DEL-1 is done", "DEL-2 is done"]);
  for (const key of ["DEL-1", "DEL-2"]) {
    const { queue: place, lease } = await person.get(`/v1/cards/${key}`);
    assert.equal(lease, null);
    assert.notEqual(place.state, "leased");
  }
});
