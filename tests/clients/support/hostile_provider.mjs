// An identity provider that does what it is told, right or wrong.
import { constants, createHmac, createSign, generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

const encode = (value) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const rsaPair = () => generateKeyPairSync("rsa", { modulusLength: 2048 });

/** Sends `chunk` again and again until nobody listens. */
function drip(response, chunk, every) {
  const timer = setInterval(() => response.write(chunk), every);
  response.on("close", () => clearInterval(timer));
}

export class HostileProvider {
  rsa = rsaPair();
  ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  stranger = rsaPair();
  asked = [];
  /** Instead of the usual answers, by path: (request, response, form) => void. */
  instead = {};
  claims = {};
  makeToken = (claims) => this.sign(claims);

  async start(port) {
    this.issuer = `http://127.0.0.1:${port}`;
    this.http = createServer(this.listener);
    this.http.listen(port, "127.0.0.1");
    await once(this.http, "listening");
    return this;
  }
  listener = (request, response) => this.#serve(request, response);
  end() {
    this.http.closeAllConnections();
    this.http.close();
  }
  /** Behaves, until told otherwise. */
  reset() {
    this.instead = {};
    this.asked = [];
    this.makeToken = (claims) => this.sign(claims);
  }

  get jwks() {
    const shown = (pair, kid, alg) => ({ ...pair.publicKey.export({ format: "jwk" }), kid, alg, use: "sig" });
    return { keys: [shown(this.rsa, "rsa-1", "RS256"), shown(this.ec, "ec-1", "ES256")] };
  }

  /** A token of these claims, signed as the header says. */
  sign(claims, header = { alg: "RS256", kid: "rsa-1" }, pair = this.rsa) {
    const text = `${encode({ typ: "JWT", ...header })}.${encode(claims)}`;
    const key = { key: pair.privateKey, dsaEncoding: "ieee-p1363" };
    return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
  }
  /** One that takes our public key for a shared secret. */
  signWithPublicKey(claims, secret) {
    const text = `${encode({ typ: "JWT", alg: "HS256", kid: "rsa-1" })}.${encode(claims)}`;
    return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
  }
  signWithPss(claims) {
    const text = `${encode({ typ: "JWT", alg: "RS256", kid: "rsa-1" })}.${encode(claims)}`;
    const made = createSign("sha256").update(text);
    const key = { key: this.rsa.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING };
    return `${text}.${made.sign(key).toString("base64url")}`;
  }
  unsigned(claims, alg) {
    return `${encode({ typ: "JWT", alg })}.${encode(claims)}.`;
  }

  async #serve(request, response) {
    const { pathname } = new URL(request.url, this.issuer);
    this.asked.push(pathname);
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    if (this.instead[pathname]) return this.instead[pathname](request, response, form);
    const answer = this.#usual(pathname);
    response.writeHead(answer ? 200 : 404, { "Content-Type": "application/json" });
    response.end(JSON.stringify(answer ?? {}));
  }
  #usual(pathname) {
    switch (pathname) {
      case "/.well-known/openid-configuration":
        return {
          issuer: this.issuer,
          authorization_endpoint: this.issuer + "/authorize",
          token_endpoint: this.issuer + "/token",
          jwks_uri: this.issuer + "/jwks",
          userinfo_endpoint: this.issuer + "/userinfo",
        };
      case "/jwks":
        return this.jwks;
      case "/token":
        return { token_type: "Bearer", access_token: "an access token", id_token: this.makeToken(this.claims) };
    }
  }
}

export const ways = {
  hang: () => {},
  drip: (_, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    drip(response, " ", 100);
  },
  dripHead: (request) => {
    request.socket.write("HTTP/1.1 200 OK\r\n");
    const timer = setInterval(() => request.socket.write("X-More: and more\r\n".slice(0, 3)), 100);
    request.socket.on("close", () => clearInterval(timer));
  },
  huge: (_, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    drip(response, Buffer.alloc(1 << 20, " "), 1);
  },
  hugeHead: (request) => {
    request.socket.write("HTTP/1.1 200 OK\r\n");
    const line = `X-Long: ${"a".repeat(60_000)}\r\n`;
    const timer = setInterval(() => request.socket.write(line), 1);
    request.socket.on("close", () => clearInterval(timer));
  },
  breakOff: (request) => request.socket.destroy(),
  noHttp: (request) => request.socket.end("SSH-2.0-OpenSSH_9.2\r\n"),
  notJson: (_, response) => response.end("<html>"),
  notAnObject: (_, response) => response.end("[]"),
  deep: (_, response) => response.end("[".repeat(100_000)),
  failing: (_, response) => response.writeHead(500).end("{}"),
  redirectTo: (url) => (_, response) => response.writeHead(302, { Location: url }).end(),
  json: (value) => (_, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify(value));
  },
};
