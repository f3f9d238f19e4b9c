// A program that connects by OAuth, with what the protocol's SDKs ask of one, and somewhere to come back to.
import { once } from "node:events";
import { createServer } from "node:http";

/** Where the browser comes back to: an address of this machine, and the queries that came. */
export class Callback {
  #waiting = [];
  #came = [];

  static async start() {
    const self = new Callback();
    self.http = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url, "http://127.0.0.1");
      response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Thank you</h1>");
      if (pathname !== "/callback") return;
      const next = self.#waiting.shift();
      if (next) next(searchParams);
      else self.#came.push(searchParams);
    });
    self.http.listen(0, "127.0.0.1");
    await once(self.http, "listening");
    self.url = `http://127.0.0.1:${self.http.address().port}/callback`;
    return self;
  }
  /** The next query that comes. */
  next() {
    const came = this.#came.shift();
    return came ? Promise.resolve(came) : new Promise((done) => this.#waiting.push(done));
  }
  end() {
    this.http.closeAllConnections();
    this.http.close();
  }
}

/** What an SDK keeps and asks: OAuthClientProvider of both. */
export class Provider {
  refreshed = 0;

  /** Without `document`, the address of one that describes it, the client registers itself. */
  constructor(redirectUrl, document) {
    this.redirectUrl = redirectUrl;
    if (document) this.clientMetadataUrl = document;
  }
  get clientMetadata() {
    return {
      client_name: "Test client",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }
  state = () => (this.lastState = crypto.randomUUID());
  clientInformation = () => this.client;
  saveClientInformation(client) {
    this.client = client;
  }
  tokens = () => this.saved;
  saveTokens(tokens) {
    this.saved = tokens;
    this.refreshed += 1;
  }
  redirectToAuthorization(url) {
    this.asked = url;
  }
  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }
  codeVerifier = () => this.verifier;
  invalidateCredentials() {
    this.saved = undefined;
  }
}
