// Signing in with an outside provider on a server that takes no new accounts, or only by invitation
// (`auth.sign_up`), and as somebody whom the operator has shut out.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser, comeBack, setOut } from "./support/browser.mjs";
import { OutsideProvider, signInThere } from "./support/provider.mjs";
import { Server, makeWorkspace } from "./support/server.mjs";

const claims = (sub) => ({ sub, email: `${sub}@example.com`, email_verified: true, name: sub });
const people = Object.fromEntries(["ada", "bob", "cy", "dora", "eve"].map((sub) => [sub, claims(sub)]));
let server, provider, owner, org;

before(async () => {
  provider = await OutsideProvider.reserve();
  server = await Server.start(provider.settings);
  await provider.start(server, people);
  owner = await makeWorkspace(server);
  org = owner.headers["X-Svc-Org"];
});
after(async () => {
  provider?.end();
  await server?.end();
});

/** The reason why the person was not let in, or null. */
async function signIn(login) {
  const browser = new Browser();
  const { page } = await setOut(browser, server);
  const { reason } = await comeBack(browser, server, await signInThere(browser, page, login));
  const me = await browser.call(server, "GET", "/v1/me");
  assert.equal(me.status, reason ? 401 : 200);
  return reason;
}

const accounts = async () => (await server.command("user", "list")).trim().split("\n").sort();

test("while sign-up is open a newcomer gets an account", async () => {
  assert.equal(await signIn("bob"), null);
});

test("while it takes an invitation, only the invited and those who have an account come in", async () => {
  await owner.post(`/v1/orgs/${org}/invitations`, { email: "CY@example.com" });
  await server.restart("auth.sign_up=invited");
  const before = await accounts();
  assert.equal(await signIn("bob"), null);
  assert.equal(await signIn("eve"), "sign_up_closed");
  assert.deepEqual(await accounts(), before);
  assert.equal(await signIn("cy"), null);
  assert.equal((await accounts()).length, before.length + 1);
});

test("while it is off, only who has an account, or was added to a workspace before, comes in", async () => {
  await owner.post(`/v1/orgs/${org}/members`, { email: "dora@example.com" });
  await owner.post(`/v1/orgs/${org}/invitations`, { email: "eve@example.com" });
  await server.restart("auth.sign_up=off");
  const before = await accounts();
  for (const each of ["bob", "cy", "dora"]) assert.equal(await signIn(each), null, each);
  assert.equal(await signIn("eve"), "sign_up_closed");
  assert.equal((await accounts()).length, before.length);
});

test("who was shut out is told so, and comes in again once the operator says so", async () => {
  assert.match(await server.command("user", "disable", "bob@example.com"), /disabled the account/);
  assert.equal(await signIn("bob"), "account_disabled");
  assert.equal(await signIn("cy"), null);
  await server.command("user", "enable", "bob@example.com");
  assert.equal(await signIn("bob"), null);
});
