// Coming back from a provider: with cookies that were tampered with, in several tabs, to other paths.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Browser, comeBack, person, setOut } from "./support/browser.mjs";
import { ways } from "./support/hostile_provider.mjs";
import { claimsFor, now, provider, server, signIn } from "./support/hostile_sign_in.mjs";

// ------------------------------------------------------------------------------- the state

test("the state is good for one return", async () => {
  const browser = new Browser();
  const { query } = await setOut(browser, server);
  const cookie = browser.cookie(server.url, "svc_oauth");
  provider.claims = claimsFor(query);
  const back = { code: "code", state: query.state };
  assert.equal((await comeBack(browser, server, back)).reason, null);
  assert.equal((await comeBack(browser, server, back)).reason, "state_missing");
  browser.setCookie(server.url, "svc_oauth", cookie);
  assert.equal((await comeBack(browser, server, back)).reason, "state_reused");
  await server.stop();
  await server.start();
  browser.setCookie(server.url, "svc_oauth", cookie);
  assert.equal((await comeBack(browser, server, back)).reason, "state_reused", "after a restart too");
});

test("of two returns at once one signs in", async () => {
  const browser = new Browser();
  const { query } = await setOut(browser, server);
  provider.claims = claimsFor(query);
  const back = () => comeBack(browser, server, { code: "code", state: query.state });
  const reasons = (await Promise.all([back(), back(), back(), back()])).map((each) => each.reason);
  assert.deepEqual(reasons.sort(), [null, "state_reused", "state_reused", "state_reused"].sort());
});

test("somebody new who comes back in several tabs at once is one person", async () => {
  const claims = {};
  provider.instead["/token"] = (request, response, form) =>
    ways.json({ id_token: provider.sign(claims[form.code]) })(request, response);
  for (let round = 0; round < 4; round += 1) {
    const more = { sub: `of-many-tabs-${round}`, email: `tabs${round}@example.com` };
    const tabs = await Promise.all(
      Array.from({ length: 8 }, async (_, number) => {
        const browser = new Browser();
        const { query } = await setOut(browser, server);
        claims[number] = claimsFor(query, more);
        return { browser, back: { code: String(number), state: query.state } };
      }),
    );
    const came = await Promise.all(tabs.map(({ browser, back }) => comeBack(browser, server, back)));
    assert.deepEqual(came.map((each) => each.reason), Array(8).fill(null));
    const me = await Promise.all(tabs.map(({ browser }) => browser.call(server, "GET", "/v1/me")));
    assert.equal(new Set(me.map((each) => each.json.id)).size, 1);
  }
});

test("of several who come at once with one new address one joins its account", async () => {
  const claims = {};
  provider.instead["/token"] = (request, response, form) =>
    ways.json({ id_token: provider.sign(claims[form.code]) })(request, response);
  const ada = await person(server, "ada@example.com");
  const org = (await ada.call(server, "POST", "/v1/orgs", { name: "Acme" })).json.id;
  for (let round = 0; round < 6; round += 1) {
    // Every other address is one that an admin has added, whose account nobody has joined yet.
    const member = { email: `rivals${round}@example.com` };
    if (round % 2)
      assert.equal((await ada.call(server, "POST", `/v1/orgs/${org}/members`, member)).status, 201);
    const tabs = await Promise.all(
      Array.from({ length: 6 }, async (_, number) => {
        const browser = new Browser();
        const { query } = await setOut(browser, server);
        const more = { sub: `rival-${round}-${number}`, email: `rivals${round}@example.com` };
        claims[number] = claimsFor(query, more);
        return { browser, back: { code: String(number), state: query.state } };
      }),
    );
    const came = await Promise.all(tabs.map(({ browser, back }) => comeBack(browser, server, back)));
    const reasons = came.map((each) => each.reason);
    assert.equal(reasons.filter((each) => each === null).length, 1, String(reasons));
    assert.equal(reasons.filter((each) => each === "account_conflict").length, 5, String(reasons));
    for (const [number, { browser }] of tabs.entries()) {
      const status = (await browser.call(server, "GET", "/v1/me")).status;
      assert.equal(status, reasons[number] === null ? 200 : 401);
    }
  }
});

test("a cookie that we did not sign, or for another state, is refused", async () => {
  const browser = new Browser();
  const { query } = await setOut(browser, server);
  const cookie = browser.cookie(server.url, "svc_oauth");
  const back = { code: "code", state: query.state };
  const another = (letter) => (letter === "A" ? "B" : "A");
  const swapped = (at) => cookie.slice(0, at) + another(cookie[at]) + cookie.slice(at + 1);
  for (const other of [swapped(0), swapped(cookie.length - 1), "nonsense", "="]) {
    browser.setCookie(server.url, "svc_oauth", other);
    assert.equal((await comeBack(browser, server, back)).reason, "state_invalid", other);
  }
  browser.setCookie(server.url, "svc_oauth", cookie);
  assert.equal((await comeBack(browser, server, { ...back, state: "another" })).reason, "state_invalid");
  assert.equal((await comeBack(browser, server, { code: "code" })).reason, "state_missing");
});

test("a state runs out", async () => {
  const key = readFileSync(join(server.folder, "server.key"));
  const hmac = (secret, text) => createHmac("sha256", secret).update(text).digest();
  const cookie = (micros) => {
    const text = Buffer.from(`a-state\n${micros}\n/`);
    return Buffer.concat([hmac(hmac(key, "auth.oauth.state"), text), text]).toString("base64url");
  };
  const browser = new Browser();
  const back = { error: "access_denied", state: "a-state" };
  browser.setCookie(server.url, "svc_oauth", cookie((Date.now() - 1000) * 1000));
  assert.equal((await comeBack(browser, server, back)).reason, "state_expired");
  browser.setCookie(server.url, "svc_oauth", cookie((Date.now() + 60_000) * 1000));
  assert.equal((await comeBack(browser, server, back)).reason, "access_denied");
});

test("whatever the query is, the callback leads to the login page", async () => {
  for (const query of ["", "?state=%ff&code=%00", "?state=a&state=b", "?foo=bar&scope=x", "?code=" + "a".repeat(4000)]) {
    const answer = await new Browser().get(server.url + "/v1/auth/google/callback" + query);
    assert.equal(answer.status, 302, query);
    assert.match(answer.location, /\/login\?oauth_error=(state_missing|provider_error)$/);
  }
  const answer = await fetch(server.url + "/v1/auth/google/callback", {
    redirect: "manual",
    headers: { "X-Svc-Org": "nonsense" },
  });
  assert.equal(answer.status, 302);
});

test("the cookie is for the way back alone", async () => {
  const answer = await new Browser().call(server, "GET", "/v1/auth/google/start");
  const cookie = answer.headers.get("set-cookie");
  for (const part of ["HttpOnly", "SameSite=Lax", "Path=/v1/auth/google", "Max-Age=600"])
    assert.ok(cookie.includes(part), cookie);
});

test("one comes back to paths of ours only", async () => {
  const refused = ["//evil.example", "/\\evil.example", "https://evil.example", "boards", "/\t/evil.example",
    "/\n/evil.example", "/a\\b", "javascript:alert(1)", "/a b", ""];
  for (const path of refused) {
    const query = `?return_to=${encodeURIComponent(path)}`;
    const answer = await new Browser().call(server, "GET", "/v1/auth/google/start" + query);
    assert.equal(answer.status, 422, path);
  }
  for (const path of ["/", "/boards/1?view=a#b", "/a//b"]) {
    const browser = new Browser();
    const { query } = await setOut(browser, server, `?return_to=${encodeURIComponent(path)}`);
    provider.claims = claimsFor(query);
    const back = await comeBack(browser, server, { code: "code", state: query.state });
    assert.equal(back.location, server.url + path);
  }
});

test("a browser is led to the provider, a program is told where it is", async () => {
  const start = server.url + "/v1/auth/google/start";
  const led = async (query, accept) => {
    const headers = { "X-Board-Version": "2026-06-19", ...(accept && { Accept: accept }) };
    const answer = await new Browser().get(start + query, { headers });
    return answer.status === 302 && answer.location.startsWith(provider.issuer + "/authorize?");
  };
  assert.ok(await led("?redirect=true"));
  assert.ok(await led("", "text/html,application/xhtml+xml,*/*;q=0.8"));
  assert.ok(!(await led("")));
  assert.ok(!(await led("", "application/json")));
  assert.ok(!(await led("", "application/json, text/html;q=0.5")));
  assert.ok(!(await led("?redirect=false", "text/html")));
});

// ------------------------------------------------------------------------ whose account it is

test("an account with a password is joined by who is signed in to it, and nobody else", async () => {
  const browser = await person(server, "lin@example.com");
  const lin = { sub: "lin", email: "lin@example.com" };
  assert.equal(await signIn(lin), "account_conflict");
  const { query } = await setOut(browser, server);
  provider.claims = claimsFor(query, lin);
  assert.equal((await comeBack(browser, server, { code: "code", state: query.state })).reason, null);
  const me = (await browser.call(server, "GET", "/v1/me")).json;
  assert.deepEqual([...me.auth_methods].sort(), ["google", "password"]);
  assert.equal(await signIn(lin), null, "from then on also elsewhere");
});

test("being signed in to one account does not join another", async () => {
  await person(server, "kim@example.com");
  const mallory = await person(server, "mallory@example.com");
  const { query } = await setOut(mallory, server);
  provider.claims = claimsFor(query, { sub: "kim", email: "kim@example.com" });
  const back = await comeBack(mallory, server, { code: "code", state: query.state });
  assert.equal(back.reason, "account_conflict");
});

test("the subject counts, not the address", async () => {
  assert.equal(await signIn({ sub: "mover", email: "before@example.com" }), null);
  const browser = new Browser();
  assert.equal(await signIn({ sub: "mover", email: "after@example.com", email_verified: false }, browser), null);
  assert.equal((await browser.call(server, "GET", "/v1/me")).json.email, "before@example.com");
  assert.equal(await signIn({ sub: "heir", email: "BEFORE@example.com" }), "account_conflict");
});

test("an address in words or unverified makes no account", async () => {
  for (const more of [
    { email_verified: false },
    { email_verified: undefined },
    { email_verified: "no" },
    { email_verified: 1 },
    { email: "no address" },
    { email: "ada@example.com\r\nBcc: eve@example.com" },
  ])
    assert.equal(await signIn(more), "email_unverified", JSON.stringify(more));
  assert.equal(await signIn({ email_verified: "true" }), null);
});

test("a sign-up with the address that nobody verified comes to nothing", async () => {
  const browser = new Browser();
  const email = "squatted@example.com";
  const password = "correct horse battery";
  await browser.call(server, "POST", "/v1/auth/signup", { email, password });
  const [, token] = /token=([\w-]+)/.exec(await server.mailTo(email));
  assert.equal(await signIn({ email }), null);
  assert.equal((await browser.call(server, "POST", "/v1/auth/verify-email", { token })).status, 422);
  assert.equal((await browser.call(server, "POST", "/v1/auth/login", { email, password })).status, 401);
});

test("a hostile name is a name", async () => {
  const browser = new Browser();
  const name = "\r\n\u0000 Eve <script>\u0007" + "ä".repeat(300);
  assert.equal(await signIn({ name }, browser), null);
  const me = (await browser.call(server, "GET", "/v1/me")).json;
  assert.ok(me.name.startsWith("Eve <script>"), me.name);
  assert.ok([...me.name].length <= 120);
  assert.doesNotMatch(me.name, /[\u0000-\u001f]/);
});

test("somebody whom an admin has added gets that seat", async () => {
  const admin = await person(server, "boss@example.com");
  const org = (await admin.call(server, "POST", "/v1/orgs", { name: "Acme" })).json;
  const added = await admin.call(server, "POST", `/v1/orgs/${org.id}/members`, { email: "new@example.com" });
  assert.equal(added.status, 201, added.text);
  const browser = new Browser();
  assert.equal(await signIn({ email: "new@example.com" }, browser), null);
  const seats = (await browser.call(server, "GET", "/v1/me/memberships")).json.results;
  assert.deepEqual(seats.map((each) => each.org_id), [org.id]);
});
