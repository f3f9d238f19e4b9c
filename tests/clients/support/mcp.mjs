// A token's view of the MCP endpoint, message by message.

export class Mcp {
  #session;

  constructor(server, token, headers = {}) {
    this.server = server;
    this.headers = {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    };
  }

  get session() {
    return this.#session;
  }

  async send(method, params, more = {}) {
    const answer = await fetch(this.server.url + "/v1/mcp/http", {
      method: "POST",
      headers: { ...this.headers, ...more, ...(this.#session && { "Mcp-Session-Id": this.#session }) },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    this.#session ??= answer.headers.get("mcp-session-id");
    return { status: answer.status, ...(await answer.json()) };
  }

  async initialize(protocolVersion = "2025-11-25") {
    this.#session = undefined;
    const clientInfo = { name: "test", version: "1.0.0" };
    await this.send("initialize", { protocolVersion, capabilities: {}, clientInfo });
    return this;
  }

  /** Definitions of the tools that this caller sees. */
  async tools(headers) {
    return (await this.send("tools/list", {}, headers)).result.tools;
  }

  /** The result of a tool, whatever it says. */
  async result(name, args = {}, headers) {
    const answer = await this.send("tools/call", { name, arguments: args }, headers);
    if (answer.error) throw new Error(`${name}: ${answer.error.code} ${answer.error.message}`);
    return answer.result;
  }

  /** What a tool answers; an error when it refuses. */
  async call(name, args) {
    const result = await this.result(name, args);
    if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
    return result.structuredContent;
  }

  /** What a tool says when it refuses; an error when it does not. */
  async refusal(name, args, headers) {
    const result = await this.result(name, args, headers);
    if (!result.isError) throw new Error(`${name} did not refuse: ${result.content[0].text}`);
    return JSON.parse(result.content[0].text);
  }
}
