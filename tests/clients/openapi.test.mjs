// The document at /openapi.json, before the tools that other people point at it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { Server } from "./support/server.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const generated = here + "generated/";
const file = generated + "openapi.json";
let server, document;

function run(program, ...words) {
  const done = spawnSync(process.execPath, [here + "node_modules/" + program, ...words], {
    cwd: here,
    encoding: "utf8",
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1" },
  });
  assert.equal(done.status, 0, done.stdout + done.stderr);
  return done.stdout;
}

before(async () => {
  server = await Server.start();
  const answer = await fetch(server.url + "/openapi.json");
  assert.equal(answer.status, 200);
  document = await answer.json();
  mkdirSync(generated, { recursive: true });
  writeFileSync(file, JSON.stringify(document, null, 2));
});
after(() => server?.end());

test("it is OpenAPI 3.1 of interface version 0.0.0, served by the server and from where it says", async () => {
  assert.match(document.openapi, /^3\.1\./);
  assert.equal(document.info.version, "0.0.0");
  assert.equal(await server.command("version"), `workboard ${document.info["x-server-version"]}\n`);
  assert.deepEqual(document.servers.map((each) => each.url), [server.url]);
});

test("every body has an example", () => {
  let seen = 0;
  for (const methods of Object.values(document.paths))
    for (const { operationId, requestBody } of Object.values(methods)) {
      if (!requestBody) continue;
      seen += 1;
      assert.ok("example" in requestBody.content["application/json"], operationId);
    }
  assert.ok(seen > 50);
});

// It holds each example against its schema, too.
test("redocly finds no error", () => {
  run("@redocly/cli/bin/cli.js", "lint", "--config", "redocly.yaml", file);
});

test("spectral finds no error by its OpenAPI rules", () => {
  run("@stoplight/spectral-cli/dist/index.js", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "error", file);
});

test("openapi-typescript makes types that a client compiles against", () => {
  run("openapi-typescript/bin/cli.js", file, "--output", generated + "schema.d.ts");
  run("typescript/bin/tsc", "--project", "tsconfig.json");
});
