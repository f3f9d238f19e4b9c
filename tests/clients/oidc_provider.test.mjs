// Signing in with oidc-provider, which is certified, as a person with a browser would.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser, comeBack, setOut } from "./support/browser.mjs";
import { OutsideProvider, signInThere } from "./support/provider.mjs";
import { Server } from "./support/server.mjs";

const people = {
  ada: { sub: "ada", email: "ada@example.com", email_verified: true, name: "Ada Lovelace" },
  mallory: { sub: "mallory", email: "ada@example.com", email_verified: true, name: "Mallory" },
  eve: { sub: "eve", email: "eve@example.com", email_verified: false, name: "Eve" },
};

for (const { algorithm, inToken } of [
  { algorithm: "RS256", inToken: false },
  { algorithm: "ES256", inToken: true },
]) {
  const how = `${algorithm}, address ${inToken ? "in the ID token" : "from the userinfo endpoint"}`;
  let server, provider;

  before(async () => {
    provider = await OutsideProvider.reserve();
    server = await Server.start(provider.settings);
    await provider.start(server, people, { algorithm, inToken });
  });
  after(async () => {
    provider?.end();
    await server?.end();
  });

  const signIn = async (browser, login, query) => {
    const { page } = await setOut(browser, server, query);
    return comeBack(browser, server, await signInThere(browser, page, login));
  };

  test(`${how}: a newcomer gets an account and a session, and goes on to where he wanted`, async () => {
    const browser = new Browser();
    const back = await signIn(browser, "ada", "?return_to=/boards?view=mine");
    assert.equal(back.reason, null);
    assert.equal(back.path, "/boards?view=mine");
    const me = await browser.call(server, "GET", "/v1/me");
    assert.equal(me.status, 200, me.text);
    assert.equal(me.json.email, "ada@example.com");
    assert.equal(me.json.email_verified, true);
    assert.equal(me.json.name, "Ada Lovelace");
    assert.equal(me.json.has_password, false);
    assert.deepEqual(me.json.auth_methods, ["google"]);
    const sessions = await browser.call(server, "GET", "/v1/me/sessions");
    assert.equal(sessions.json.results[0].auth_method, "google");
    assert.equal(browser.cookie(server.url, "svc_oauth"), undefined);
    const org = await browser.call(server, "POST", "/v1/orgs", { name: "Acme" });
    assert.equal(org.status, 201, org.text);
  });

  test(`${how}: he gets the same account the next time`, async () => {
    const [first, second] = [new Browser(), new Browser()];
    await signIn(first, "ada");
    assert.equal((await signIn(second, "ada")).reason, null);
    const ids = [];
    for (const each of [first, second]) ids.push((await each.call(server, "GET", "/v1/me")).json.id);
    assert.equal(ids[0], ids[1]);
  });

  test(`${how}: another subject with the same address does not get his account`, async () => {
    const browser = new Browser();
    assert.equal((await signIn(browser, "mallory")).reason, "account_conflict");
    assert.equal((await browser.call(server, "GET", "/v1/me")).status, 401);
  });

  test(`${how}: an address that the provider has not verified makes no account`, async () => {
    const browser = new Browser();
    assert.equal((await signIn(browser, "eve")).reason, "email_unverified");
    assert.equal((await browser.call(server, "GET", "/v1/me")).status, 401);
  });

  test(`${how}: a code is no good in another browser`, async () => {
    const [victim, attacker] = [new Browser(), new Browser()];
    const { page } = await setOut(attacker, server);
    const stolen = await signInThere(attacker, page, "ada");
    await setOut(victim, server);
    assert.equal((await comeBack(victim, server, stolen)).reason, "state_invalid");
    assert.equal((await comeBack(new Browser(), server, stolen)).reason, "state_missing");
    const own = await setOut(victim, server);
    const mixed = { ...stolen, state: own.query.state };
    assert.equal((await comeBack(victim, server, mixed)).reason, "token_exchange_failed");
    assert.equal((await victim.call(server, "GET", "/v1/me")).status, 401);
  });

  test(`${how}: who turns back is told so`, async () => {
    const browser = new Browser();
    const { page } = await setOut(browser, server);
    const form = await browser.get((await browser.get(page.href)).location);
    const abort = /href="([^"]*abort[^"]*)"/.exec(form.text)[1];
    let answer = await browser.get(new URL(abort, page).href);
    while (!answer.location.startsWith(server.url)) answer = await browser.get(answer.location);
    const query = Object.fromEntries(new URL(answer.location).searchParams);
    assert.equal((await comeBack(browser, server, query)).reason, "access_denied");
  });
}
