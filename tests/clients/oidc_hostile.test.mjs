// Signing in with a provider that lies, stalls and floods, and with cookies that were tampered with.
import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";

import { Browser, comeBack, person, setOut } from "./support/browser.mjs";
import { HostileProvider, ways } from "./support/hostile_provider.mjs";
import { Server, freePort } from "./support/server.mjs";

const now = () => Math.floor(Date.now() / 1000);
let server, provider, people = 0;

before(async () => {
  const port = await freePort();
  server = await Server.start([
    `idp-oidc.issuer=http://127.0.0.1:${port}`,
    "idp-oidc.client_id=workboard",
    "idp-oidc.client_secret=secret",
    "idp-oidc.timeout_seconds=1",
    "auth.log_ins_from_one_place=10000",
  ]);
  provider = await new HostileProvider().start(port);
});
after(async () => {
  provider?.end();
  await server?.end();
});
beforeEach(() => provider.reset());

/** Claims that hold, of somebody new. */
function claimsFor(query, more) {
  people += 1;
  return {
    iss: provider.issuer,
    sub: `subject-${people}`,
    aud: "workboard",
    nonce: query.nonce,
    iat: now(),
    exp: now() + 300,
    email: `person${people}@example.com`,
    email_verified: true,
    name: "Somebody",
    ...more,
  };
}

/** Comes back with an ID token of these claims; `null` when that signed him in. */
async function signIn(more = {}, browser = new Browser(), extra = {}) {
  const { query } = await setOut(browser, server);
  provider.claims = claimsFor(query, more);
  const { reason } = await comeBack(browser, server, { code: "code", state: query.state, ...extra });
  const me = await browser.call(server, "GET", "/v1/me");
  assert.equal(me.status, reason === null ? 200 : me.status);
  if (reason !== null) assert.equal(browser.cookie(server.url, "svc_session"), undefined);
  return reason;
}

test("a token that holds signs in", async () => {
  assert.equal(await signIn(), null);
  provider.makeToken = (claims) => provider.sign(claims, { alg: "ES256", kid: "ec-1" }, provider.ec);
  assert.equal(await signIn(), null);
  provider.makeToken = (claims) => provider.sign(claims, { alg: "RS256" });
  assert.equal(await signIn(), null, "the header need not name the key");
  assert.equal(await signIn({ aud: ["workboard"] }), null);
  assert.equal(await signIn({ aud: ["workboard", "another"], azp: "workboard" }), null);
});

test("the provider is asked with PKCE, a nonce, and the secret it gave", async () => {
  let sent;
  provider.instead["/token"] = (request, response, form) => {
    sent = { form, authorization: request.headers.authorization };
    ways.json({ id_token: provider.sign(provider.claims) })(request, response);
  };
  const browser = new Browser();
  const { page, query } = await setOut(browser, server);
  provider.claims = claimsFor(query);
  assert.equal((await comeBack(browser, server, { code: "a code", state: query.state })).reason, null);
  assert.equal(page.origin + page.pathname, provider.issuer + "/authorize");
  assert.equal(query.response_type, "code");
  assert.equal(query.code_challenge_method, "S256");
  assert.equal(query.redirect_uri, server.url + "/v1/auth/google/callback");
  assert.match(query.scope, /openid/);
  assert.equal(sent.form.code, "a code");
  assert.equal(sent.form.redirect_uri, query.redirect_uri);
  assert.equal(sent.authorization, "Basic " + Buffer.from("workboard:secret").toString("base64"));
  const { createHash } = await import("node:crypto");
  const challenge = createHash("sha256").update(sent.form.code_verifier).digest("base64url");
  assert.equal(challenge, query.code_challenge);
});

const lies = {
  "another nonce": { nonce: "another" },
  "no nonce": { nonce: undefined },
  "another audience": { aud: "another" },
  "no audience": { aud: undefined },
  "several audiences and no word for whom": { aud: ["workboard", "another"] },
  "another authorised party": { azp: "another" },
  "another issuer": { iss: "https://accounts.example.com" },
  "an issuer that only looks alike": () => ({ iss: provider.issuer + "/" }),
  "a time that is over": { exp: now() - 3600 },
  "no end": { exp: undefined },
  "an end in words": { exp: "tomorrow" },
  "a beginning in the future": { nbf: now() + 3600 },
  "made in the future": { iat: now() + 3600 },
  "no time of making": { iat: undefined },
  "no subject": { sub: undefined },
  "an empty subject": { sub: "" },
  "a subject that ends in the middle": { sub: "ada\0mallory" },
};
for (const [what, claims] of Object.entries(lies))
  test(`a token with ${what} is refused`, async () => {
    const more = typeof claims === "function" ? claims() : claims;
    assert.equal(await signIn(more), "token_exchange_failed");
  });

const forgeries = {
  "no signature and alg none": (claims) => provider.unsigned(claims, "none"),
  "alg None": (claims) => provider.unsigned(claims, "None"),
  "an empty signature": (claims) => provider.unsigned(claims, "RS256"),
  "a stranger's key": (claims) => provider.sign(claims, undefined, provider.stranger),
  "a stranger's key and no name": (claims) => provider.sign(claims, { alg: "RS256" }, provider.stranger),
  "the name of a key that is not there": (claims) => provider.sign(claims, { alg: "RS256", kid: "rsa-9" }),
  "HS256 with the public key as PEM": (claims) =>
    provider.signWithPublicKey(claims, provider.rsa.publicKey.export({ type: "spki", format: "pem" })),
  "HS256 with the public key as DER": (claims) =>
    provider.signWithPublicKey(claims, provider.rsa.publicKey.export({ type: "spki", format: "der" })),
  "HS256 with the modulus": (claims) =>
    provider.signWithPublicKey(claims, Buffer.from(provider.jwks.keys[0].n, "base64url")),
  "RS512": (claims) => provider.sign(claims, { alg: "RS512", kid: "rsa-1" }),
  "RSA-PSS under the name RS256": (claims) => provider.signWithPss(claims),
  "the EC key under the name RS256": (claims) =>
    provider.sign(claims, { alg: "RS256", kid: "ec-1" }, provider.ec),
  "the RSA key under the name ES256": (claims) =>
    provider.sign(claims, { alg: "ES256", kid: "rsa-1" }, provider.rsa),
  "a key of its own in the header": (claims) =>
    provider.sign(
      claims,
      { alg: "RS256", jwk: provider.stranger.publicKey.export({ format: "jwk" }) },
      provider.stranger,
    ),
  "an extension that must be understood": (claims) =>
    provider.sign(claims, { alg: "RS256", kid: "rsa-1", crit: ["exp"] }),
  "claims that were changed": (claims) => {
    const [head, , mark] = provider.sign(claims).split(".");
    const changed = Buffer.from(JSON.stringify({ ...claims, sub: "mallory" })).toString("base64url");
    return [head, changed, mark].join(".");
  },
  "a fourth part": (claims) => provider.sign(claims) + ".more",
  "two parts": (claims) => provider.sign(claims).split(".").slice(0, 2).join("."),
  "no text": () => 7,
  "nothing in it": () => "..",
};
for (const [what, makeToken] of Object.entries(forgeries))
  test(`a token with ${what} is refused`, async () => {
    provider.makeToken = makeToken;
    assert.equal(await signIn(), "token_exchange_failed");
  });

test("keys that are too small, of another curve or not for signing count for nothing", async () => {
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const other = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const shown = (pair, more) => ({ ...pair.publicKey.export({ format: "jwk" }), ...more });
  // Names that the server has not seen make it ask for the keys again.
  const keys = [
    shown(small, { kid: "small" }),
    shown(other, { kid: "other", crv: "P-256" }),
    shown(provider.rsa, { kid: "for secrets", use: "enc" }),
    { kty: "oct", kid: "shared", k: "c2VjcmV0" },
    { kty: "RSA", kid: "no numbers", n: "!", e: {} },
    null,
  ];
  provider.instead["/jwks"] = ways.json({ keys });
  await new Promise((done) => setTimeout(done, 5500));
  for (const [pair, header] of [
    [small, { alg: "RS256", kid: "small" }],
    [other, { alg: "ES256", kid: "other" }],
    [provider.rsa, { alg: "RS256", kid: "for secrets" }],
  ]) {
    provider.makeToken = (claims) => provider.sign(claims, header, pair);
    assert.equal(await signIn(), "token_exchange_failed", header.kid);
  }
  provider.reset();
  await new Promise((done) => setTimeout(done, 5500));
  assert.equal(await signIn(), null, "new keys are found without a restart");
});

test("new keys under the old names are found without a restart", async () => {
  const before = provider.rsa;
  await new Promise((done) => setTimeout(done, 5500));
  provider.rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  try {
    assert.equal(await signIn(), null);
  } finally {
    provider.rsa = before;
    await new Promise((done) => setTimeout(done, 5500));
  }
  assert.equal(await signIn(), null);
});

test("an answer that came from another issuer is refused", async () => {
  const iss = "https://accounts.example.com";
  assert.equal(await signIn({}, new Browser(), { iss }), "token_exchange_failed");
  assert.equal(await signIn({}, new Browser(), { iss: provider.issuer }), null);
});

const stalls = {
  "never answers": ways.hang,
  "drips its answer": ways.drip,
  "drips its head": ways.dripHead,
  "floods": ways.huge,
  "floods with headers": ways.hugeHead,
  "breaks off": ways.breakOff,
  "speaks something else": ways.noHttp,
  "answers no JSON": ways.notJson,
  "answers no object": ways.notAnObject,
  "answers with endless depth": ways.deep,
  "fails": ways.failing,
  "leads elsewhere": (request, response) => ways.redirectTo(provider.issuer + "/elsewhere")(request, response),
};
for (const [what, way] of Object.entries(stalls))
  test(`a token endpoint that ${what} fails the sign-in within seconds`, async () => {
    provider.instead["/token"] = way;
    const begun = Date.now();
    assert.equal(await signIn(), "token_exchange_failed");
    assert.ok(Date.now() - begun < 4000, `took ${Date.now() - begun} ms`);
    assert.ok(!provider.asked.includes("/elsewhere"));
  });

test("while the provider hangs, others are served", async () => {
  provider.instead["/token"] = ways.hang;
  const waiting = Array.from({ length: 24 }, () => signIn());
  await new Promise((done) => setTimeout(done, 300));
  const begun = Date.now();
  for (let i = 0; i < 20; i += 1) assert.equal((await fetch(server.url + "/healthz")).status, 200);
  assert.ok(Date.now() - begun < 1500, `took ${Date.now() - begun} ms`);
  for (const reason of await Promise.all(waiting))
    assert.ok(["token_exchange_failed", "provider_error"].includes(reason), reason);
});

test("the server stops while the provider hangs", async () => {
  provider.instead["/token"] = ways.hang;
  const waiting = Array.from({ length: 16 }, () => signIn().catch(() => "cut off"));
  await new Promise((done) => setTimeout(done, 300));
  const begun = Date.now();
  assert.equal(await server.stop(), 0);
  assert.ok(Date.now() - begun < 8000, `took ${Date.now() - begun} ms`);
  await Promise.all(waiting);
  await server.start();
  provider.reset();
  assert.equal(await signIn(), null);
});

test("the address may come from the userinfo endpoint, of the same person only", async () => {
  const told = { sub: "of-userinfo", email: "userinfo@example.com", email_verified: true };
  provider.instead["/userinfo"] = (request, response) =>
    ways.json(request.headers.authorization === "Bearer an access token" ? told : {})(request, response);
  assert.equal(await signIn({ sub: "of-userinfo", email: undefined }), null);
  assert.equal(await signIn({ sub: "somebody-else", email: undefined }), "token_exchange_failed");
});

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
