// Clients that mean no good, or do not know what they do: whatever is sent, the answer says what was wrong, and
// the server goes on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Mcp } from "./support/mcp.mjs";
import { Server, makeQueue, makeWorkspace, mintToken } from "./support/server.mjs";

let server, person, owner, token;

before(async () => {
  server = await Server.start();
  person = await makeWorkspace(server);
  await makeQueue(person, ["Water the plants"]);
  token = await mintToken(person, "integration", "admin");
  owner = await new Mcp(server, token).initialize();
});
after(() => server?.end());

// As JSON text, so that it may be what no program writes.
const strange = [
  "null", "true", "-1", "1e308", "-0.0", "9007199254740993", "123456789012345678901234567890",
  '""', '" "', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '"' + "x".repeat(70_000) + '"', '"%s%n"', '"../../etc/passwd"',
  "\"'; DROP TABLE cards; --\"", '"00000000-0000-0000-0000-000000000000"', '"ENG-99999999999999999999"', '"-1"', '"NaN"', '"9999-99-99"',
  "[]", "{}", "[null]", '[""]', "[" + "[".repeat(30) + "]".repeat(30) + "]", '{"a":{"b":{"c":[]}}}', '{"$ref":"#"}', '{"":""}',
  JSON.stringify(Array(600).fill("x")), JSON.stringify(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, i]))),
];

const together = 8;
// Each argument meets so many of them, and the next one those that follow: with WORKBOARD_EVERY_VALUE, as in
// `./test long`, each meets all.
const share = process.env.WORKBOARD_EVERY_VALUE ? strange.length : together;

/** Sends bytes as they are; the status and what was answered. */
async function post(body, headers = {}) {
  const { session } = owner;
  const reply = await fetch(server.url + "/v1/mcp/http", {
    method: "POST",
    headers: { ...owner.headers, ...(session && { "Mcp-Session-Id": session }), ...headers },
    body,
  });
  const text = await reply.text();
  return { status: reply.status, answer: text ? JSON.parse(text) : undefined };
}

const call = (name, args) => post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`);

test("no value of any argument makes the server stumble", async () => {
  let calls = 0, next = 0;
  const tools = (await owner.tools()).filter((each) => each.name !== "delete_org");
  for (const { name, inputSchema } of tools)
    for (const argument of Object.keys(inputSchema.properties ?? {})) {
      const values = Array.from({ length: share }, () => strange[next++ % strange.length]);
      const told = [];
      for (let from = 0; from < share; from += together)
        told.push(...(await Promise.all(values.slice(from, from + together).map((value) => call(name, `{"${argument}":${value}}`)))));
      for (const [i, { status, answer }] of told.entries()) {
        const what = `${name} ${argument} ${values[i].slice(0, 60)}: ${status} ${JSON.stringify(answer).slice(0, 300)}`;
        calls += 1;
        if (answer.error) assert.ok(status === 400 && answer.error.code === -32700, what);
        else if (answer.result.isError) {
          const refusal = JSON.parse(answer.result.content[0].text);
          assert.ok(refusal.status >= 400 && refusal.status < 500, `${what}\n${server.output.slice(-1000)}`);
        }
      }
    }
  console.log(`${calls} calls of ${tools.length} tools`);
  assert.equal((await owner.call("get_me")).object, "user");
});

test("what is no message is refused with its code", async () => {
  const deep = "[".repeat(5000) + "]".repeat(5000);
  const wrong = [
    ["", -32700], ["{", -32700], ["\u00ff\u00fe", -32700], [deep, -32700], ['{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}', -32700],
    ["[]", -32600], ["7", -32600], ['"ping"', -32600], ["null", -32600], ["{}", -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600], ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600], ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":7}', -32600], ['{"jsonrpc":"2.0","id":1,"method":"ping","params":7}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"no/such"}', -32601], ['{"jsonrpc":"2.0","id":1,"method":"\\u0000"}', -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602], ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_me","arguments":[]}}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":7}}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"svc://cards/%00"}}', -32002],
    ['{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}', -32002],
    ['{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"svc://boards/../.."}}', -32002],
    ['{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"summarize-board","arguments":{"board":7}}}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":7,"argument":{}}}', -32602],
  ];
  for (const [body, code] of wrong) {
    const { status, answer } = await post(body);
    assert.equal(answer?.error?.code, code, `${body.slice(0, 80)}: ${status} ${JSON.stringify(answer)}`);
  }
});

test("an id comes back as it was, whatever it is", async () => {
  for (const id of ["0", "-1", "9007199254740993", "18446744073709551615", '""', '"\\"},\\"x\\":{"', '"\\r\\nX-Evil: b"', JSON.stringify("é🦊".repeat(1000))]) {
    const reply = await fetch(server.url + "/v1/mcp/http", {
      method: "POST",
      headers: { ...owner.headers, "Mcp-Session-Id": owner.session },
      body: `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`,
    });
    const text = await reply.text();
    const number = /^-?\d+$/.test(id);
    if (number) assert.ok(text.includes(`"id":${id},`), id);
    else assert.equal(JSON.parse(text).id, JSON.parse(id));
    assert.ok(JSON.parse(text).result.tools.length > 90);
    assert.equal(reply.headers.get("x-evil"), null);
  }
});

test("headers that name nothing sensible are refused or pass", async () => {
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const session = owner.session;
  const expected = [
    [{ "Mcp-Session-Id": "x" }, 404], [{ "Mcp-Session-Id": session.slice(0, -1) + (session.endsWith("0") ? "1" : "0") }, 404],
    [{ "Mcp-Session-Id": "a".repeat(8000) }, 404], [{ "MCP-Protocol-Version": "1999-01-01" }, 400], [{ "MCP-Protocol-Version": "2025-11-25, 2025-11-25" }, 400],
    [{ "X-MCP-Toolsets": "," }, 200], [{ "X-MCP-Toolsets": "no_such" }, 400], [{ "X-MCP-Tools": "a,".repeat(3000) }, 400],
    [{ "X-Svc-Org": "no" }, 422], [{ Origin: "null" }, 403], [{ Origin: "https://evil.example" }, 403],
    [{ "Content-Type": "text/plain" }, 415], [{ "Content-Encoding": "gzip" }, 415], [{ Accept: "text/html" }, 406],
  ];
  for (const [headers, status] of expected) assert.equal((await post(ping, headers)).status, status, JSON.stringify(headers).slice(0, 100));
});

test("streams that are asked for strangely are refused, and those that nobody reads take nobody's place", async () => {
  const ask = (headers, signal) =>
    fetch(server.url + "/v1/mcp/http", { headers: { ...owner.headers, Accept: "text/event-stream", "Mcp-Session-Id": owner.session, ...headers }, signal });
  const open = new AbortController();
  for (const last of ["-1", "x", "99999999999999999999999", "1.5", "'", "0"]) {
    const reply = await ask({ "Last-Event-ID": last }, open.signal);
    assert.equal(reply.status, 200, last);
  }
  assert.equal((await ask({ "Mcp-Session-Id": "x" }, open.signal)).status, 404);
  const more = await Promise.all(Array.from({ length: 40 }, () => ask({}, open.signal)));
  const statuses = more.map((each) => each.status);
  assert.ok(statuses.includes(429) && statuses.every((each) => each === 200 || each === 429), String(statuses));
  for (let round = 0; round < 20; round += 1) await person.post("/v1/boards", { name: `Board ${round}` });
  assert.equal((await owner.call("list_boards", { page_size: 1 })).results.length, 1);
  open.abort();
  let status = 0;
  for (let tries = 0; tries < 100 && status !== 200; tries += 1) {
    const again = new AbortController();
    status = (await ask({}, again.signal)).status;
    again.abort();
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.equal(status, 200, "places are free again");
});
