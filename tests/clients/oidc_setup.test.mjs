// A provider that is not set up, or set up wrongly.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:https";
import { once } from "node:events";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { Browser, comeBack, setOut } from "./support/browser.mjs";
import { makeCertificate } from "./support/certificate.mjs";
import { HostileProvider, ways } from "./support/hostile_provider.mjs";
import { Server, freePort } from "./support/server.mjs";
import { until } from "./support/until.mjs";

const ends = [];
after(async () => {
  for (const end of ends.reverse()) await end();
});
async function start(settings) {
  const server = await Server.start(settings);
  ends.push(() => server.end());
  return server;
}

test("without a provider there is no sign-in by one", async () => {
  const server = await start();
  const path = "/v1/auth/google/start";
  const told = await new Browser().call(server, "GET", path);
  assert.equal(told.status, 503);
  assert.equal(told.json.code, "service_unavailable");
  const led = await new Browser().call(server, "GET", path + "?redirect=true");
  assert.equal(led.location, server.url + "/login?oauth_error=not_configured");
  // A link in a page carries no version; whoever reads JSON does.
  const linked = await new Browser().get(server.url + path + "?redirect=true");
  assert.equal(linked.location, server.url + "/login?oauth_error=not_configured");
  for (const query of ["", "?redirect=false"]) {
    const unversioned = await new Browser().get(server.url + path + query);
    assert.equal(JSON.parse(unversioned.text).code, "missing_version");
  }
  assert.equal((await comeBack(new Browser(), server, { code: "a", state: "b" })).reason, "state_missing");
});

/** By what they have in common: what the provider answers instead of this document. */
const misfits = {
  "by another issuer": [
    (document) => ways.json({ ...document, issuer: document.issuer + "/" }),
    (document) => ways.json({ ...document, issuer: "https://accounts.google.com" }),
    () => ways.hang,
  ],
  "with endpoints of other kinds": [
    (document) => ways.json({ ...document, token_endpoint: undefined }),
    (document) => ways.json({ ...document, authorization_endpoint: "javascript:alert(1)" }),
    (document) => ways.json({ ...document, jwks_uri: "file:///etc/passwd" }),
    () => ways.drip,
  ],
  "with endpoints elsewhere": [
    (document) => ways.json({ ...document, token_endpoint: "http://accounts.example.com/token" }),
    (document) => ways.json({ ...document, jwks_uri: "https://user:password@accounts.example.com/" }),
    ({ issuer }) => ways.redirectTo(issuer + "/elsewhere"),
  ],
  "that is none": [() => ways.huge, () => ways.notJson, () => ways.failing],
};
// What failed is taken to go on failing for two seconds.
const again = () => new Promise((done) => setTimeout(done, 2100));
describe("a discovery document that does not fit is not gone by", { concurrency: true }, () => {
  for (const [what, wrong] of Object.entries(misfits))
    test(what, async () => {
      const port = await freePort();
      const server = await start([
        `idp-oidc.issuer=http://127.0.0.1:${port}`,
        "idp-oidc.client_id=workboard",
        "idp-oidc.timeout_seconds=1",
      ]);
      const path = "/v1/auth/google/start";
      assert.equal((await new Browser().call(server, "GET", path)).status, 503, "nobody is there");
      const provider = await new HostileProvider().start(port);
      ends.push(() => provider.end());
      const document = {
        issuer: provider.issuer,
        authorization_endpoint: provider.issuer + "/authorize",
        token_endpoint: provider.issuer + "/token",
        jwks_uri: provider.issuer + "/jwks",
      };
      for (const [number, wayOf] of wrong.entries()) {
        await again();
        provider.instead["/.well-known/openid-configuration"] = wayOf(document);
        const timesAsked = () => provider.asked.filter((path) => path === "/.well-known/openid-configuration").length;
        const [before, since] = [timesAsked(), performance.now()];
        const answer = await new Browser().call(server, "GET", path);
        assert.equal(answer.status, 503, `document ${number}: ${answer.text}`);
        assert.ok(answer.headers.get("retry-after"));
        const led = await new Browser().call(server, "GET", path + "?redirect=true");
        assert.equal(led.location, server.url + "/login?oauth_error=provider_error");
        const soon = performance.now() - since < 2000; // not so on a machine that is busy otherwise
        const asked = timesAsked() - before;
        assert.ok(asked === 1 || (asked === 2 && !soon), `asked ${asked} times for two who wanted to go there`);
      }
      await again();
      assert.ok(!provider.asked.includes("/elsewhere"));
      provider.reset();
      const isFound = async () => (await new Browser().call(server, "GET", path)).status === 200;
      assert.ok(await until(isFound, 60), "and then all is well");
    });
});

test("over TLS the provider has to be who it says", async () => {
  const port = await freePort();
  const [right, wrong] = [makeCertificate("DNS:localhost"), makeCertificate("DNS:other.example")];
  ends.push(right.remove, wrong.remove);
  const provider = new HostileProvider();
  provider.issuer = `https://localhost:${port}`;
  for (const { shown, trusted, signsIn } of [
    { shown: right, trusted: right, signsIn: true },
    { shown: right, trusted: undefined, signsIn: false },
    { shown: wrong, trusted: wrong, signsIn: false },
  ]) {
    const https = createServer({ key: shown.key, cert: shown.certificate }, provider.listener);
    https.listen(port, "127.0.0.1");
    await once(https, "listening");
    const server = await Server.start([
      `idp-oidc.issuer=${provider.issuer}`,
      "idp-oidc.client_id=workboard",
      ...(trusted ? [`idp-oidc.ca_file=${trusted.file}`] : []),
    ]);
    try {
      const browser = new Browser();
      const answer = await browser.call(server, "GET", "/v1/auth/google/start");
      assert.equal(answer.status, signsIn ? 200 : 503, server.output);
      if (!signsIn) continue;
      const { query } = await setOut(browser, server);
      const now = Math.floor(Date.now() / 1000);
      provider.claims = { iss: provider.issuer, sub: "ada", aud: "workboard", nonce: query.nonce, iat: now,
        exp: now + 60, email: "ada@example.com", email_verified: true };
      assert.equal((await comeBack(browser, server, { code: "code", state: query.state })).reason, null);
    } finally {
      await server.end();
      https.closeAllConnections();
      https.close();
      await once(https, "close");
    }
  }
});

test("an issuer in the clear is refused from the start", () => {
  const done = spawnSync(
    join(process.env.WORKBOARD_BUILD, "bin/workboard"),
    ["check-config", "--set", "idp-oidc.issuer=http://accounts.example.com", "--set", "idp-oidc.client_id=workboard",
      "--var", join(process.env.WORKBOARD_BUILD, "config-var")],
    { encoding: "utf8" },
  );
  assert.notEqual(done.status, 0);
  assert.match(done.stderr, /idp-oidc.*https/);
});

test("journeys without end are refused by place, and finished ones forgotten", async () => {
  const port = await freePort();
  const server = await start([
    `idp-oidc.issuer=http://127.0.0.1:${port}`,
    "idp-oidc.client_id=workboard",
    "auth.log_ins_from_one_place=4",
  ]);
  const provider = await new HostileProvider().start(port);
  ends.push(() => provider.end());
  const now = Math.floor(Date.now() / 1000);
  for (let i = 0; i < 8; i += 1) {
    const browser = new Browser();
    const { query } = await setOut(browser, server);
    provider.claims = { iss: provider.issuer, sub: "ada", aud: "workboard", nonce: query.nonce, iat: now,
      exp: now + 300, email: "ada@example.com", email_verified: true };
    assert.equal((await comeBack(browser, server, { code: "code", state: query.state })).reason, null);
  }
  const journeys = [];
  for (let i = 0; i < 4; i += 1) {
    const browser = new Browser();
    journeys.push({ browser, query: (await setOut(browser, server)).query });
  }
  const path = "/v1/auth/google/start";
  const refused = await new Browser().call(server, "GET", path);
  assert.equal(refused.status, 429);
  assert.equal(refused.json.additional_data.rate_limit_reason, "outside_sign_in");
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  const led = await new Browser().call(server, "GET", path + "?redirect=true");
  assert.equal(led.location, server.url + "/login?oauth_error=provider_error");

  // Ways back are counted too: of one journey, taken again and again.
  const [{ browser, query }] = journeys;
  const cookie = browser.cookie(server.url, "svc_oauth");
  const reasons = [];
  for (let i = 0; i < 6; i += 1) {
    browser.setCookie(server.url, "svc_oauth", cookie);
    reasons.push((await comeBack(browser, server, { error: "access_denied", state: query.state })).reason);
  }
  assert.deepEqual(reasons, ["access_denied", ...Array(3).fill("state_reused"), ...Array(2).fill("provider_error")]);
});
