// A server that signs people in with a provider that does what a test says. Importing it starts both
// for the tests of the file.
import assert from "node:assert/strict";
import { after, before, beforeEach } from "node:test";

import { Browser, comeBack, setOut } from "./browser.mjs";
import { HostileProvider } from "./hostile_provider.mjs";
import { Server, freePort } from "./server.mjs";

export const now = () => Math.floor(Date.now() / 1000);
export let server, provider;
let people = 0;

before(async () => {
  const port = await freePort();
  server = await Server.start([
    `idp-oidc.issuer=http://127.0.0.1:${port}`,
    "idp-oidc.client_id=workboard",
    "idp-oidc.client_secret=secret",
    "idp-oidc.timeout_seconds=7", // the provider is in this process, which may be held up
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
export function claimsFor(query, more) {
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
export async function signIn(more = {}, browser = new Browser(), extra = {}) {
  const { query } = await setOut(browser, server);
  provider.claims = claimsFor(query, more);
  const { reason } = await comeBack(browser, server, { code: "code", state: query.state, ...extra });
  const me = await browser.call(server, "GET", "/v1/me");
  assert.equal(me.status, reason === null ? 200 : me.status);
  if (reason !== null) assert.equal(browser.cookie(server.url, "svc_session"), undefined);
  return reason;
}
