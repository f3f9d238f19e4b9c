// A loopback address that is a server of ours with a token already said, for clients that cannot
// be told to say one.
import { once } from "node:events";
import { createServer, request } from "node:http";

export class Forwarder {
  #http;

  static async start(port) {
    const forwarder = new Forwarder();
    forwarder.url = `http://127.0.0.1:${port}`;
    forwarder.#http = createServer((from, to) => forwarder.#forward(from, to)).listen(port, "127.0.0.1");
    await once(forwarder.#http, "listening");
    return forwarder;
  }

  /** Where to, and as whom. */
  lead(server, token) {
    this.server = server;
    this.token = token;
  }

  #forward(from, to) {
    const headers = { ...from.headers, authorization: `Bearer ${this.token}` };
    const { port } = this.server;
    const out = request({ host: "127.0.0.1", port, path: from.url, method: from.method, headers }, (answer) => {
      to.writeHead(answer.statusCode, answer.headers);
      answer.pipe(to);
      // What is streamed is not held back until there is more of it.
      to.flushHeaders();
    });
    out.on("error", () => to.destroy());
    to.on("close", () => out.destroy());
    from.pipe(out);
  }

  end() {
    this.#http.closeAllConnections();
    this.#http.close();
  }
}
