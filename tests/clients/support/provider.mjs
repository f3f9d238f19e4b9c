// oidc-provider, which is certified, as the outside identity provider of a server of ours.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

import { Provider } from "oidc-provider";

import { freePort } from "./server.mjs";

const secret = "a secret with : and %";

function jwk(type, options, alg) {
  const key = generateKeyPairSync(type, options).privateKey.export({ format: "jwk" });
  return { ...key, kid: alg, alg, use: "sig" };
}

function makeProvider(issuer, callback, people, { algorithm, inToken }) {
  return new Provider(issuer, {
    clients: [
      {
        client_id: "workboard",
        client_secret: secret,
        redirect_uris: [callback],
        id_token_signed_response_alg: algorithm,
      },
    ],
    jwks: { keys: [jwk("rsa", { modulusLength: 2048 }, "RS256"), jwk("ec", { namedCurve: "P-256" }, "ES256")] },
    cookies: { keys: ["a key for cookies"] },
    claims: { email: ["email", "email_verified"], profile: ["name"] },
    conformIdTokenClaims: !inToken, // then the address is to be had with the access token only
    pkce: { methods: ["S256"], required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: () => people[id] }),
  });
}

/** Signs in at the provider and agrees to everything; the query that it comes back with. */
export async function signInThere(browser, page, login) {
  let answer = await browser.get(page.href);
  for (let steps = 0; steps < 12; steps += 1) {
    if (!answer.location) {
      const prompt = /name="prompt" value="(\w+)"/.exec(answer.text)?.[1];
      const action = /action="([^"]+)"/.exec(answer.text)?.[1];
      assert.ok(prompt && action, answer.text);
      answer = await browser.post(new URL(action, page).href, { form: { prompt, login, password: "any" } });
      continue;
    }
    const to = new URL(answer.location);
    if (to.pathname === "/v1/auth/google/callback") return Object.fromEntries(to.searchParams);
    answer = await browser.get(to.href);
  }
  throw new Error("the provider never sends anybody back");
}

export class OutsideProvider {
  #http;

  /** Its address is known before the server of ours is there, and the other way round. */
  static async reserve() {
    const self = new OutsideProvider();
    self.port = await freePort();
    return self;
  }

  get issuer() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** What our server is told of it. */
  get settings() {
    return [`idp-oidc.issuer=${this.issuer}`, "idp-oidc.client_id=workboard", `idp-oidc.client_secret=${secret}`];
  }

  /** `people` by what they log in with there, as their claims. */
  async start(server, people, { algorithm = "RS256", inToken = false } = {}) {
    const callback = server.url + "/v1/auth/google/callback";
    this.#http = createServer(makeProvider(this.issuer, callback, people, { algorithm, inToken }).callback());
    this.#http.listen(this.port, "127.0.0.1");
    await once(this.#http, "listening");
  }

  end() {
    this.#http?.closeAllConnections();
    this.#http?.close();
  }
}
