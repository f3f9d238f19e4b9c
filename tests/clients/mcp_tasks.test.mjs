// Twelve pieces of work, done by a client that has nothing but the names and schemas of tools: how
// many calls each takes, and how many tokens of answers are put before a model.
//
// Each is written twice: `now` is how it is done today, `then` how the first catalog made one do it, which
// took ids alone and answered with all that an operation gives, unset members left out. What that took is kept
// below, as the last server with it did it, which is the commit e73bc04. With a build of that,
//   THEN=1 WORKBOARD_BUILD=<its folder> node --test mcp_tasks.test.mjs   prints it anew.
import assert from "node:assert/strict";
import { test } from "node:test";

import Ajv from "ajv/dist/2020.js";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";

import { Mcp } from "./support/mcp.mjs";
import { Rest, Server, makeWorkspace, mintToken } from "./support/server.mjs";

const encoder = new Tiktoken(o200k);
const tokens = (value) => encoder.encode(JSON.stringify(value)).length;

/** Calls by tool, as arguments that hold to the tool's schema. */
class Caller {
  async connect(server, token) {
    this.mcp = await new Mcp(server, token).initialize();
    const ajv = new Ajv({ strict: false, logger: false });
    this.schemas = new Map((await this.mcp.tools()).map((each) => [each.name, ajv.compile(each.inputSchema)]));
    return this;
  }

  async call(name, args) {
    const holds = this.schemas.get(name);
    assert.ok(holds, `${name} is not listed`);
    assert.ok(holds(args), `${name}: ${JSON.stringify(holds.errors)}`);
    return this.mcp.call(name, args);
  }
}

const find = (list, of) => list.results.find((each) => each.name === of).id;
/** The board's id, as one who has only its name gets it. */
const board = async (call) => find(await call("list_boards", {}), "Engine");
const column = async (call, board_id, name) => find(await call("list_columns", { board_id }), name);

// What one piece of work leaves to the next.
const held = {};

const tasks = [
  {
    name: "find what is assigned to me",
    took: { calls: 2, tokens: 3509 },
    then: async (call) => {
      const { id } = await call("get_me", {});
      return call("list_cards", { assignee_id: id });
    },
    now: (call) => call("list_cards", { assignee_id: "me" }),
    holds: (answer) => answer.results.some((each) => each.title === "Oil the valves"),
  },
  {
    name: "claim the next card and read what it asks for",
    took: { calls: 4, tokens: 2566 },
    then: async (call) => {
      const board_id = await board(call);
      const claim = await call("claim_next_card", { board_id, column_id: await column(call, board_id, "Ready") });
      held.then = claim;
      return call("get_card_context", { card_id: claim.card.id });
    },
    now: async (call) => {
      held.now = await call("claim_next_card", { column_id: "Ready" });
      return call("get_card_context", { card_id: held.now.card.key });
    },
    holds: (answer) => answer.markdown.includes("Do it with care."),
  },
  {
    name: "go on working, say what was found, and complete it",
    took: { calls: 3, tokens: 2028 },
    then: async (call) => {
      const { lease, lease_token, card } = held.then;
      await call("renew_lease", { lease_id: lease.id, lease_token });
      const target_column_id = await column(call, card.board_id, "Done");
      return call("complete_lease", { lease_id: lease.id, lease_token, target_column_id, comment: "A bearing was worn." });
    },
    now: async (call) => {
      const { lease, lease_token } = held.now;
      await call("renew_lease", { lease_id: lease.id, lease_token });
      return call("complete_lease", { lease_id: lease.id, lease_token, target_column_id: "Done", comment: "A bearing was worn." });
    },
    holds: (answer) => answer.lease.state === "completed",
  },
  {
    name: "hand a card over to a person",
    took: { calls: 5, tokens: 2033 },
    then: async (call) => {
      const people = await call("list_users", {});
      const cards = await call("list_cards", { board_id: await board(call), text: "Paint" });
      const card_id = cards.results[0].id;
      await call("create_comment", { parent: { card_id }, markdown: "Which color?" });
      return call("update_card", { card_id, assignees: [find(people, "Ada")] });
    },
    now: async (call) => {
      const cards = await call("list_cards", { board_id: "Engine", text: "Paint" });
      const card_id = cards.results[0].key;
      await call("create_comment", { parent: { card_id }, markdown: "Which color?" });
      return call("update_card", { card_id, assignees: ["Ada"] });
    },
    holds: (answer) => answer.assignees[0].name === "Ada",
  },
  {
    name: "fix a label on five cards",
    took: { calls: 3, tokens: 6212 },
    then: async (call) => {
      const cards = await call("list_cards", { board_id: await board(call), label: "Bugg" });
      return call("batch_cards", {
        operations: cards.results.map(({ id }) => ({ update: { card_id: id, labels: ["Bug"] } })),
      });
    },
    now: async (call) => {
      const cards = await call("list_cards", { board_id: "Engine", label: "Bugg", fields: ["key"] });
      return call("batch_cards", {
        operations: cards.results.map(({ key }) => ({ update: { card_id: key, labels: ["Bug"] } })),
      });
    },
    holds: (answer) => answer.results.length === 5 && answer.results.every((each) => each.card.labels[0].name === "Bug"),
  },
  {
    name: "summarise a board",
    took: { calls: 2, tokens: 10873 },
    then: async (call) => call("get_board_snapshot", { board_id: await board(call) }),
    now: (call) => call("get_board_snapshot", { board_id: "Engine" }),
    holds: (answer) => answer.columns.flatMap((each) => each.cards).length >= 20,
  },
  {
    name: "write three cards down",
    took: { calls: 3, tokens: 4068 },
    then: async (call) => {
      const board_id = await board(call);
      const column_id = await column(call, board_id, "Ready");
      return call("batch_cards", {
        operations: ["Clean the pump", "Order belts", "Test the alarm"].map((title) => ({ create: { board_id, column_id, title } })),
      });
    },
    now: (call) =>
      call("batch_cards", {
        operations: ["Clean the pump", "Order belts", "Test the alarm"].map((title) => ({
          create: { board_id: "Engine", column_id: "Ready", title },
        })),
      }),
    holds: (answer) => answer.results.length === 3,
  },
  {
    name: "move a card that is known by its key",
    took: { calls: 3, tokens: 1789 },
    then: async (call) => {
      const { id, board_id } = await call("get_card", { card_id: "ENG-9" });
      return call("move_card", { card_id: id, column_id: await column(call, board_id, "Doing") });
    },
    now: (call) => call("move_card", { card_id: "ENG-9", column_id: "Doing" }),
    holds: (answer) => answer.version > 1,
  },
  {
    name: "search, and read what is found",
    took: { calls: 2, tokens: 600 },
    then: async (call) => {
      const { results } = await call("search", { query: "valves" });
      const card_id = results.find((each) => each.object === "card").id;
      return call("get_card_markdown", { card_id });
    },
    now: async (call) => {
      const { results } = await call("search", { query: "valves" });
      const card_id = results.find((each) => each.object === "card").id;
      return call("get_card_markdown", { card_id });
    },
    holds: (answer) => answer.markdown.includes("Do it with care."),
  },
  {
    name: "let one card wait for another",
    took: { calls: 4, tokens: 1544 },
    then: async (call) => {
      const first = await call("get_card", { card_id: "ENG-3" });
      const second = await call("get_card", { card_id: "ENG-4" });
      await call("link_cards", { card_id: first.id, type: "blocks", target_id: second.id });
      return call("get_card", { card_id: second.id });
    },
    now: async (call) => {
      await call("link_cards", { card_id: "ENG-3", type: "blocks", target_id: "ENG-4" });
      return call("get_card", { card_id: "ENG-4", fields: ["blocked", "blocked_by"] });
    },
    holds: (answer) => answer.blocked === true,
  },
  {
    name: "make what is overdue urgent",
    took: { calls: 3, tokens: 4896 },
    then: async (call) => {
      const late = await call("list_cards", { board_id: await board(call), due_before: "2020-01-01T00:00:00Z" });
      return call("batch_cards", {
        operations: late.results.map(({ id }) => ({ update: { card_id: id, priority: "urgent" } })),
      });
    },
    now: async (call) => {
      const late = await call("list_cards", { board_id: "Engine", due_before: "2020-01-01T00:00:00Z", fields: ["key"] });
      return call("batch_cards", {
        operations: late.results.map(({ key }) => ({ update: { card_id: key, priority: "urgent" } })),
      });
    },
    holds: (answer) => answer.results.length === 4 && answer.results.every((each) => each.card.priority === "urgent"),
  },
  {
    name: "see what happened last",
    took: { calls: 2, tokens: 4498 },
    then: async (call) => call("list_board_activity", { board_id: await board(call), page_size: 10 }),
    now: (call) => call("list_board_activity", { board_id: "Engine", page_size: 10 }),
    holds: (answer) => answer.results.length === 10,
  },
];

async function makeBoard(person, robot) {
  const made = await person.post("/v1/boards", {
    name: "Engine",
    key: "ENG",
    columns: [{ name: "Ready", kind: "queue" }, { name: "Doing" }, { name: "Done", kind: "done" }],
  });
  const { results } = await person.get(`/v1/boards/${made.id}/columns`);
  const [ready] = results;
  for (const name of ["Bugg", "Bug", "Chore"]) await person.post(`/v1/boards/${made.id}/labels`, { name, color: "red" });
  const titles = ["Oil the valves", "Paint the hull", "Weigh the anchor", "Mend the net"];
  while (titles.length < 20) titles.push(`Look after part ${titles.length}`);
  for (const [i, title] of titles.entries())
    await person.post(`/v1/boards/${made.id}/cards`, {
      column_id: ready.id,
      title,
      labels: [i >= 10 && i < 15 ? "Bugg" : "Chore"],
      ...(i % 3 === 0 && { assignees: [robot] }),
      ...(i >= 16 && { due: "2019-06-19" }),
      markdown: `Do it with care.\n\nPart ${i} is behind the ${title.length % 2 ? "second" : "third"} door.`,
    });
}

/** Does all of it one way; what each took. */
async function work(server, way) {
  const person = await makeWorkspace(server);
  const token = await mintToken(person, "agent");
  const robot = (await new Rest(server, { Authorization: `Bearer ${token}` }).get("/v1/me")).id;
  await makeBoard(person, robot);
  const caller = await new Caller().connect(server, token);
  const figures = [];
  for (const task of tasks) {
    const figure = { calls: 0, tokens: 0 };
    const answer = await task[way](async (name, args) => {
      const said = await caller.call(name, args);
      figure.calls += 1;
      figure.tokens += tokens(said);
      return said;
    });
    assert.ok(task.holds(answer), `${way}: ${task.name}: ${JSON.stringify(answer).slice(0, 400)}`);
    figures.push(figure);
  }
  return figures;
}

const way = process.env.THEN ? "then" : "now";
let figures;

test(`all of it gets done as it is done ${way}`, async () => {
  const server = await Server.start();
  try {
    figures = await work(server, way);
  } finally {
    await server.end();
  }
  assert.equal(figures.length, 12);
  if (way === "then") for (const [i, { name }] of tasks.entries()) console.log(`${name}: ${JSON.stringify(figures[i])}`);
});

test("it takes at most three fifths of the calls and of the tokens", { skip: way === "then" }, () => {
  for (const [i, { name, took }] of tasks.entries())
    console.log(`${name}: ${took.calls} -> ${figures[i].calls} calls, ${took.tokens} -> ${figures[i].tokens} tokens`);
  for (const what of ["calls", "tokens"]) {
    const then = tasks.reduce((sum, { took }) => sum + took[what], 0);
    const now = figures.reduce((sum, figure) => sum + figure[what], 0);
    console.log(`all: ${then} -> ${now} ${what} (${Math.round((100 * now) / then)} %)`);
    assert.ok(now <= 0.6 * then, `${what}: ${now} of ${then}`);
  }
});
