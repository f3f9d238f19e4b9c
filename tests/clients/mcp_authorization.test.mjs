// What the protocol's authors ask of an authorization server, in every revision that has such a thing: a
// client that registered itself, and a person in Chromium who lets it in.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Chromium } from "./support/chromium.mjs";
import { conform, faults, passed } from "./support/conformance.mjs";
import { Server, freePort, makeWorkspace } from "./support/server.mjs";
import { enter, heading } from "./support/visits.mjs";

const name = "Client of the suite";
let server, chromium, person;

before(async () => {
  server = await Server.start();
  await makeWorkspace(server);
  chromium = await Chromium.start();
  person = await chromium.open(server.url);
  await enter(person, server, "ada@example.com");
});
after(async () => {
  await chromium?.end();
  await server?.end();
});

/** The id of a client that has its codes sent to this port. */
async function register(port) {
  const answer = await fetch(server.url + "/oauth/register", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ client_name: name, redirect_uris: [`http://127.0.0.1:${port}/callback`], token_endpoint_auth_method: "none" }),
  });
  assert.equal(answer.status, 201);
  return (await answer.json()).client_id;
}

async function letIn(address) {
  await person.goto(address);
  await heading(person, `Connect ${name}?`);
  await person.click('button:has-text("Allow")');
}

/** Lets the client in once the suite has said where it is to be done. */
function whoLetsIn() {
  let done;
  return {
    heard(said) {
      const asked = /^http\S+\/oauth\/authorize\?\S+(?=\s)/m.exec(said);
      if (asked) done ??= letIn(asked[0]).catch((problem) => problem);
    },
    outcome: () => done,
  };
}

for (const revision of ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
  test(`every scenario of ${revision} for authorization servers passes`, async () => {
    const port = await freePort();
    const visit = whoLetsIn();
    const words = ["authorization", "--url", server.url, "--client-id", await register(port), "--port", String(port)];
    const { code, said, found } = await conform(
      [...words, "--resource", server.url + "/v1/mcp/http", "--spec-version", revision],
      visit.heard,
    );
    assert.equal(await visit.outcome(), undefined);
    assert.deepEqual([...found.keys()].sort(), ["authorization-code-grant", "authorization-server-metadata-endpoint"], said);
    for (const [scenario, checks] of found) {
      assert.deepEqual(faults(checks), [], scenario);
      assert.equal(passed(checks), checks.length, said);
    }
    assert.equal(code, 0, said);
  });
