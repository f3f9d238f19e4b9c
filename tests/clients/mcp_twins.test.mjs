// Every tool and its REST twin: the tour is gone round twice, on a server each, once by REST and once with
// tools where there are any. They take the same, and the tools answer the same with less beside it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import Ajv from "ajv/dist/2020.js";

import { Mcp } from "./support/mcp.mjs";
import { instant, random, uuid } from "./support/record.mjs";
import { Rest, Server } from "./support/server.mjs";
import { Receiver, Tour, goRound, tourSettings } from "./support/tour.mjs";

// What takes scripts of the operator's, a mail that failed, or an account that one made.
const notOnTour = ["list_automation_runs", "requeue_email"];
// No token has that role.
const ownersAlone = ["delete_org"];
// Called on the tour by who has no workspace, yet or any more, and so no token.
const withoutWorkspace = ["create_org", "list_my_invitations", "accept_invitation", "decline_invitation", "revoke_my_sessions"];
// They tell of what goes on meanwhile, which is further on one server than on another.
const ofTheMoment = ["list_email_outbox", "list_notifications", "count_notifications", "read_all_notifications", "get_my_surveys"];

/** A tour on which everybody goes by a token where there is a tool. */
class TwinTour extends Tour {
  #tokens = new Map();
  #clients = new Map();
  pairs = [];

  constructor(byTools) {
    super();
    this.byTools = byTools;
  }

  async begin(server) {
    await super.begin(server);
    const manifest = await (await fetch(server.url + "/v1/mcp/manifest")).json();
    const ajv = new Ajv({ strict: false, logger: false });
    const compiled = ({ name, input_schema, output_schema }) => [name, { takes: ajv.compile(input_schema), gives: ajv.compile(output_schema) }];
    this.tools = new Map(manifest.tools.map(compiled));
    return this;
  }

  /** Of the caller, as soon as there is a workspace to have one in. */
  async #tokenOf(caller) {
    const { Authorization } = caller.headers;
    if (Authorization) return Authorization.split(" ")[1];
    if (!this.#tokens.has(caller))
      for (const role of ["admin", "member"]) {
        const { status, answer } = await caller.exchange("POST", "/v1/tokens", { kind: "integration", name: "Its own", role });
        if (status !== 201) continue;
        this.#tokens.set(caller, answer.token);
        break;
      }
    return this.#tokens.get(caller);
  }

  async #byTool(token, operation, args) {
    if (!this.#clients.has(token)) this.#clients.set(token, await new Mcp(this.server, token).initialize());
    const { takes, gives } = this.tools.get(operation);
    const { org_id, ...said } = args; // the workspace goes without saying
    assert.ok(takes(said), `${operation} takes ${JSON.stringify(said)}: ${JSON.stringify(takes.errors)}`);
    const answer = await this.#clients.get(token).call(operation, said);
    assert.ok(gives(answer), `${operation} gives ${JSON.stringify(answer)}: ${JSON.stringify(gives.errors)}`);
    return answer;
  }

  async #stands(token) {
    return (await new Rest(this.server, { Authorization: `Bearer ${token}` }).exchange("GET", "/v1/me")).status === 200;
  }

  async call(caller, operation, args = {}) {
    const token = this.tools.has(operation) && (await this.#tokenOf(caller));
    if (!token || !(await this.#stands(token))) return super.call(caller, operation, args);
    if (ownersAlone.includes(operation)) return super.call(caller, operation, args);
    const answer = this.byTools
      ? await this.#byTool(token, operation, args)
      : await super.call(new Rest(this.server, { Authorization: `Bearer ${token}` }), operation, args);
    this.pairs.push({ operation, answer });
    return answer;
  }
}

// What is another on every server.
const own = (text) =>
  text
    .replaceAll(/svc_\w+…\w+/g, "<hint>")
    .replaceAll(/expires=\d+/g, "<expiry>")
    .replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, "<server>")
    .replaceAll(uuid, "<id>")
    .replaceAll(instant, "<time>")
    .replaceAll(random, "<secret>");
const isMeasured = (name) => /_ms$|^position$|sequence$|seconds$|^etag$|^secret_hint$|^next_cursor$/.test(name);

/** Where a tool's answer says anything else than REST's. */
function faults(tool, rest, at, name = "") {
  if (typeof tool === "string" && typeof rest === "string")
    return own(tool) === own(rest) || isMeasured(name) || ["surface", "via"].includes(name) ? [] : [`${at}: ${tool} for ${rest}`];
  if (typeof tool === "number" && typeof rest === "number") return tool === rest || isMeasured(name) ? [] : [`${at}: ${tool} for ${rest}`];
  if (Array.isArray(tool) && Array.isArray(rest)) {
    if (tool.length !== rest.length) return [`${at}: ${tool.length} elements for ${rest.length}`];
    return tool.flatMap((each, i) => faults(each, rest[i], `${at}[${i}]`));
  }
  if (tool === null || rest === null || typeof tool !== "object" || typeof rest !== "object")
    return tool === rest ? [] : [`${at}: ${JSON.stringify(tool)} for ${JSON.stringify(rest)}`];
  const said = Object.keys(tool).flatMap((key) => (key in rest ? faults(tool[key], rest[key], `${at}.${key}`, key) : [`${at}.${key} is no member of REST's`]));
  const isPage = "results" in rest && "type" in rest;
  const goesWithoutSaying = (key) =>
    rest[key] === null || key === "org_id" || rest.object === "card" || (isPage && ["type", rest.type, "request_id"].includes(key));
  return [...said, ...Object.keys(rest).filter((key) => !(key in tool) && !goesWithoutSaying(key)).map((key) => `${at}.${key} is missing`)];
}

/** With the cards' keys as numbers in a row: a create that had to be tried again leaves a gap. */
function numbered(pairs) {
  const text = JSON.stringify(pairs);
  const keys = new Set(Array.from(text.matchAll(/"key":"([A-Z]+-\d+)"/g), (found) => found[1]));
  const inOrder = [...keys].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return JSON.parse(text.replaceAll(/\b[A-Z]+-\d+\b/g, (each) => (keys.has(each) ? `<card ${inOrder.indexOf(each)}>` : each)));
}

let receiver;
const tours = {};

async function go(byTools) {
  const server = await Server.start(tourSettings);
  try {
    const tour = await new TwinTour(byTools).begin(server);
    tour.pause = 100; // milliseconds: both tours meet the cards in one order
    await goRound(tour, server, receiver.url + "/hook");
    return tour;
  } finally {
    await server.end();
  }
}

before(async () => {
  receiver = await Receiver.start();
  tours.rest = await go(false);
  tours.tools = await go(true);
  for (const tour of Object.values(tours)) tour.pairs = numbered(tour.pairs);
});
after(() => {
  receiver?.end();
});

test("every tool is called", () => {
  const called = new Set(tours.tools.pairs.map((each) => each.operation));
  const left = [...tours.tools.tools.keys()].filter((each) => !called.has(each) && ![...notOnTour, ...ownersAlone, ...withoutWorkspace].includes(each));
  assert.deepEqual(left, []);
});

test("it answers what its REST twin answers, without what goes without saying", () => {
  const { rest, tools } = tours;
  assert.deepEqual(tools.pairs.map((each) => each.operation), rest.pairs.map((each) => each.operation));
  const all = tools.pairs.flatMap(({ operation, answer }, i) =>
    ofTheMoment.includes(operation) ? [] : faults(answer, rest.pairs[i].answer ?? { done: true }, operation),
  );
  assert.deepEqual(all, []);
  console.log(`${tools.tools.size} tools, ${tools.pairs.length} pairs of answers`);
});
