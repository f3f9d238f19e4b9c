// Signing in with a provider that lies, stalls and floods.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, describe, test } from "node:test";

import { Browser, comeBack, person, setOut } from "./support/browser.mjs";
import { ways } from "./support/hostile_provider.mjs";
import { claimsFor, now, provider, server, signIn } from "./support/hostile_sign_in.mjs";
import { until } from "./support/until.mjs";

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
describe("by a server with little patience", { concurrency: false }, () => {
  const isFound = async () => (await new Browser().call(server, "GET", "/v1/auth/google/start")).status === 200;
  before(async () => {
    await server.restart("idp-oidc.timeout_seconds=1");
    assert.ok(await until(isFound, 60));
  });
  after(() => server.restart("idp-oidc.timeout_seconds=7"));

  for (const [what, way] of Object.entries(stalls))
    test(`a token endpoint that ${what} fails the sign-in within seconds`, async () => {
      provider.instead["/token"] = way;
      const begun = Date.now();
      assert.equal(await signIn(), "token_exchange_failed");
      assert.ok(Date.now() - begun < 20_000, `took ${Date.now() - begun} ms`);
      assert.ok(!provider.asked.includes("/elsewhere"));
    });
});

test("while the provider hangs, others are served", async () => {
  provider.instead["/token"] = ways.hang;
  let answered = 0;
  const waiting = Array.from({ length: 24 }, () => signIn().finally(() => (answered += 1)));
  await new Promise((done) => setTimeout(done, 300));
  for (let i = 0; i < 20; i += 1) assert.equal((await fetch(server.url + "/healthz")).status, 200);
  assert.equal(answered, 0);
  for (const reason of await Promise.all(waiting))
    assert.ok(["token_exchange_failed", "provider_error"].includes(reason), reason);
});

test("the server stops while the provider hangs", async () => {
  provider.instead["/token"] = ways.hang;
  const waiting = Array.from({ length: 16 }, () => signIn().catch(() => "cut off"));
  await new Promise((done) => setTimeout(done, 300));
  const begun = Date.now();
  assert.equal(await server.stop(), 0);
  assert.ok(Date.now() - begun < 30_000, `took ${Date.now() - begun} ms`);
  await Promise.all(waiting);
  await server.start();
  provider.reset();
  assert.equal(await signIn(), null);
});

test("the address may come from the userinfo endpoint, of the same person only", async () => {
  const info = { sub: "of-userinfo", email: "userinfo@example.com", email_verified: true };
  provider.instead["/userinfo"] = (request, response) =>
    ways.json(request.headers.authorization === "Bearer an access token" ? info : {})(request, response);
  assert.equal(await signIn({ sub: "of-userinfo", email: undefined }), null);
  assert.equal(await signIn({ sub: "somebody-else", email: undefined }), "token_exchange_failed");
});
