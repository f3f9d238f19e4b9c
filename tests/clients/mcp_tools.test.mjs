// Every tool: what it says of itself is true, its answers are as it says, and what all of it costs
// to read.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import Ajv from "ajv/dist/2020.js";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";

import { Mcp } from "./support/mcp.mjs";
import { Server, makeWorkspace, mintToken } from "./support/server.mjs";

const encoder = new Tiktoken(o200k);
const tokens = (value) => encoder.encode(JSON.stringify(value)).length;
/** A definition as clients put it before a model: its output schema is for programs. */
const asRead = ({ outputSchema, ...rest }) => rest;

let server, person, owner, agent, manifest;
const answered = new Set();

before(async () => {
  server = await Server.start();
  person = await makeWorkspace(server);
  owner = await new Mcp(server, await mintToken(person, "integration", "admin")).initialize();
  agent = await new Mcp(server, await mintToken(person, "agent")).initialize();
  manifest = await (await fetch(server.url + "/v1/mcp/manifest")).json();
});
after(() => server?.end());

const ajv = new Ajv({ strict: false, formats: { uuid: true, "date-time": true, uri: true, email: true } });

test("schemas are JSON Schema 2020-12, with an object at their root", async () => {
  const whole = new Map(manifest.tools.map((each) => [each.name, each.output_schema]));
  for (const tool of await owner.tools()) {
    for (const schema of [tool.inputSchema, tool.outputSchema, whole.get(tool.name)]) {
      assert.equal(schema.type, "object", tool.name);
      ajv.compile(schema);
    }
    for (const word of ["anyOf", "oneOf", "allOf", "not", "if", "$ref"])
      for (const schema of [tool.inputSchema, tool.outputSchema])
        assert.ok(!(word in schema), `${tool.name} ${word}`);
  }
});

test("a call without its required arguments names them", async () => {
  for (const { name, inputSchema } of await owner.tools()) {
    if (!inputSchema.required) continue;
    const refusal = await owner.refusal(name, {});
    assert.equal(refusal.code, "validation_error", `${name}: ${JSON.stringify(refusal)}`);
    const missing = refusal.detail.filter((each) => each.type === "missing").map((each) => each.loc.at(-1));
    for (const each of inputSchema.required) assert.ok(missing.includes(each), `${name} ${each}: ${missing}`);
  }
});

test("an argument that there is not is named, too", async () => {
  for (const { name, inputSchema } of await owner.tools()) {
    const wanted = Object.fromEntries((inputSchema.required ?? []).map((each) => [each, null]));
    const refusal = await owner.refusal(name, { ...wanted, surprise: true });
    const types = Object.fromEntries((refusal.detail ?? []).map((each) => [each.loc.at(-1), each.type]));
    assert.equal(types.surprise, "extra_forbidden", `${name}: ${JSON.stringify(refusal)}`);
  }
});

/** Calls it, and holds the answer against both of its schemas. */
async function answer(name, args = {}, caller = owner) {
  const result = await caller.result(name, args);
  const said = result.content[0].text;
  assert.ok(!result.isError, `${name}: ${said}`);
  assert.deepEqual(JSON.parse(said), result.structuredContent, name);
  const tool = (await caller.tools({ "X-MCP-Tools": name }))[0];
  const whole = manifest.tools.find((each) => each.name === name).output_schema;
  for (const schema of [tool.outputSchema, whole]) {
    const check = ajv.compile(schema);
    assert.ok(check(result.structuredContent), `${name}: ${ajv.errorsText(check.errors)}\n${said}`);
  }
  answered.add(name);
  return result.structuredContent;
}

const titled = async (title, more = {}) => answer("create_card", { board_id: "ENG", column_id: "Ready", title, ...more });

test("tools for accounts and workspaces answer as they say", async () => {
  const me = await answer("get_me");
  const org = await answer("get_org");
  for (const name of ["list_my_memberships", "get_my_profile", "get_my_preferences", "list_orgs", "list_members",
    "list_invitations", "list_my_invitations", "list_users", "list_my_sessions", "list_tokens", "list_agents"])
    await answer(name);
  await answer("list_email_outbox");
  await answer("list_audit_events", { action: "token.created" });
  await answer("get_billing");
  await answer("get_user", { user_id: me.id });
  await answer("update_my_profile", { job_title: "Engineer" });
  await answer("update_my_preferences", { theme: "dark" });
  await answer("update_org", { name: "Acme Works" });
  await answer("switch_org", { org_id: org.id });
  const invitation = await answer("create_invitation", { email: "grace@example.com" });
  await answer("revoke_invitation", { invitation_id: invitation.id });
});

test("tools for agents and tokens answer as they say", async () => {
  const made = await answer("create_agent", { name: "Sorter" });
  await answer("get_agent", { agent_id: made.id });
  await answer("update_agent", { agent_id: made.id, description: "Sorts." });
  await answer("list_agent_activity", { agent_id: made.id });
  await answer("disable_agent", { agent_id: made.id });
  await answer("enable_agent", { agent_id: made.id });
  const token = await answer("create_token", { kind: "agent", name: "Its", agent_id: made.id });
  await answer("rotate_token", { token_id: token.id });
  await answer("revoke_token", { token_id: token.id });
  await answer("delete_agent", { agent_id: made.id });
});

test("tools for boards and columns answer as they say", async () => {
  const board = await answer("create_board", { name: "Engine", key: "ENG", columns: [{ name: "Ready", kind: "queue" }, { name: "Done", kind: "done" }] });
  for (const name of ["get_board", "list_columns", "get_board_snapshot", "get_board_metrics", "list_board_activity", "list_share_links", "list_board_grants"])
    await answer(name, { board_id: "ENG" });
  await answer("list_boards");
  await answer("update_board", { board_id: "engine", description: "Where it is made." });
  await answer("create_column", { board_id: "ENG", name: "Spare" });
  await answer("get_column", { board_id: "ENG", column_id: "spare" });
  await answer("update_column", { column_id: "Spare", wip_limit: 3 });
  await answer("update_column", { column_id: "Ready", queue: { max_attempts: 5, on_complete_column_id: "Done" } });
  await answer("move_column", { board_id: "ENG", column_id: "Spare" });
  const label = await answer("create_label", { board_id: "ENG", name: "Bug" });
  await answer("update_label", { board_id: "ENG", label_id: label.id, color: "red" });
  await answer("delete_label", { board_id: "ENG", label_id: label.id });
  const property = await answer("create_property", { board_id: "ENG", name: "Size", type: "number" });
  await answer("update_property", { board_id: "ENG", property_id: property.id, name: "Weight" });
  await answer("delete_property", { board_id: "ENG", property_id: property.id });
  const link = await answer("create_share_link", { board_id: "ENG" });
  await answer("revoke_share_link", { share_link_id: link.id });
  const me = await agent.call("get_me");
  await answer("put_board_grant", { board_id: "ENG", principal_id: me.id, role: "editor" });
  await answer("delete_board_grant", { board_id: "ENG", principal_id: me.id });
  const copy = await answer("duplicate_board", { board_id: "ENG", name: "Copy" });
  for (const name of ["archive_board", "restore_board", "delete_board"]) await answer(name, { board_id: copy.id });
  assert.equal((await answer("get_board", { board_id: "ENG", if_none_match: board.version + 1 })).not_modified, true);
});

test("tools for cards answer as they say", async () => {
  const first = await titled("First", { markdown: "Do it.", labels: ["Bug"] });
  const second = await titled("Second");
  for (const name of ["get_card", "get_card_context", "list_card_activity", "list_card_versions", "get_card_watch", "watch_card", "unwatch_card", "list_attachments", "get_card_markdown"])
    await answer(name, { card_id: first.key });
  await answer("list_cards", { board_id: "ENG" });
  await answer("update_card", { card_id: first.key, title: "First of all" });
  await answer("revert_card", { card_id: first.key, version: first.version });
  await answer("move_card", { card_id: first.key, column_id: "Done" });
  await answer("move_card", { card_id: first.key, column_id: "Ready" });
  const link = await answer("link_cards", { card_id: first.key, type: "relates", target_id: second.key });
  await answer("unlink_cards", { card_id: first.key, link_id: link.id });
  const copy = await answer("duplicate_card", { card_id: first.key });
  for (const name of ["archive_card", "restore_card", "delete_card", "restore_card"]) await answer(name, { card_id: copy.id });
  await answer("batch_cards", { operations: [{ move: { card_id: copy.id, column_id: "Done" } }, { create: { board_id: "ENG", column_id: "Done", title: "Third" } }] });
  await answer("update_card_markdown", { card_id: first.key, mode: "append", markdown: "And well." });
  const blocks = await answer("append_block_children", { parent_id: first.key, children: [{ paragraph: { rich_text: [{ text: { content: "Hello" } }] } }, { divider: {} }] });
  const [block, other] = blocks.results;
  await answer("list_block_children", { parent_id: first.key });
  await answer("get_block", { block_id: block.id });
  await answer("update_block", { block_id: block.id, paragraph: { rich_text: [{ text: { content: "Bye" } }] } });
  await answer("move_block", { block_id: other.id, parent_id: first.key });
  await answer("batch_blocks", { card_id: first.key, operations: [{ op: "delete", id: other.id }] });
  await answer("delete_block", { block_id: block.id });
  const comment = await answer("create_comment", { parent: { card_id: first.key }, markdown: "Well done." });
  await answer("list_comments", { card_id: first.key });
  await answer("get_comment", { comment_id: comment.id });
  await answer("update_comment", { comment_id: comment.id, markdown: "Very well done." });
  await answer("resolve_comment", { comment_id: comment.id });
  await answer("delete_comment", { comment_id: comment.id });
  await answer("search", { query: "first" });
});

test("tools for queues answer as they say", async () => {
  for (const each of ["One", "Two", "Three", "Four", "Five"]) await titled(each);
  await answer("list_queues");
  await answer("get_queue", { column_id: "Ready" });
  await answer("explain_claim", { board_id: "ENG", column_id: "Ready" });
  const claim = async (name = "claim_next_card", args = { column_id: "Ready" }) => {
    const { lease, lease_token } = await answer(name, args, agent);
    return { lease_id: lease.id, lease_token };
  };
  const lease = await claim();
  await answer("get_lease", { lease_id: lease.lease_id });
  await answer("list_leases", { board_id: "ENG" });
  await answer("renew_lease", lease, agent);
  await answer("complete_lease", { ...lease, result: { by: null } }, agent);
  await answer("fail_lease", { ...(await claim("claim_from_board", { board_id: "ENG", column_ids: ["Ready"] })), error: "Jammed", retryable: false }, agent);
  await answer("release_lease", await claim(), agent);
  await answer("complete_leases", { leases: [{ lease_token: (await claim()).lease_token }] }, agent);
  await answer("revoke_lease", { lease_id: (await claim()).lease_id });
  const { key } = await titled("Held");
  await answer("hold_card", { card_id: key });
  await answer("requeue_card", { card_id: key });
});

test("tools for files, webhooks and events answer as they say", async () => {
  const upload = await answer("presign_file", { filename: "a.txt", content_type: "text/plain", size_bytes: 2 });
  const form = new FormData();
  for (const [name, value] of Object.entries(upload.upload_url_fields)) form.append(name, value);
  form.append("file", new Blob(["hi"], { type: "text/plain" }), "a.txt");
  const stored = await fetch(upload.upload_url, { method: "POST", body: form });
  assert.ok(stored.ok, await stored.text());
  const file_id = upload.id;
  await answer("commit_file", { file_id });
  await answer("get_file", { file_id });
  const card = await titled("With a file");
  await answer("attach_file", { card_id: card.key, file_id });
  await answer("detach_file", { card_id: card.key, file_id });
  await answer("list_events");
  await answer("list_event_kinds");
  await answer("list_webhooks");
});

test("tools for notifications and feedback answer as they say", async () => {
  await answer("list_notifications");
  await answer("count_notifications");
  await answer("read_all_notifications");
  const report = await answer("create_feedback", { type: "bug", message: "It rattles." });
  await answer("get_feedback", { feedback_id: report.id });
  await answer("list_my_feedback");
});

test("what only people do is no tool of agents", async () => {
  const names = (await agent.tools()).map((each) => each.name);
  for (const each of ["create_agent", "revoke_lease"]) assert.ok(!names.includes(each), each);
});

test("no tool of workers and readers is left out here", async () => {
  const unanswered = (await agent.tools()).map((each) => each.name).filter((name) => !answered.has(name));
  // What takes an upload first, or something that is new to whoever asks.
  const elsewhere = ["delete_file", "delete_column", "presign_feedback_screenshot", "commit_feedback_screenshot", "read_notification"];
  assert.deepEqual(unanswered.filter((name) => !elsewhere.includes(name)), []);
});

test("what it costs to read them is bounded", async () => {
  const bounds = { whole: 30_000, agent: 20_000, worker: 4_000, average: 250, tool: 900, output: 70 };
  const whole = (await owner.tools()).map(asRead);
  const own = (await agent.tools()).map(asRead);
  const worker = (await agent.tools({ "X-MCP-Toolsets": "worker" })).map(asRead);
  const figures = `${whole.length} tools ${tokens(whole)}, an agent's ${own.length} ${tokens(own)}, a worker's ${worker.length} ${tokens(worker)}`;
  console.log(figures);
  assert.ok(tokens(whole) <= bounds.whole, figures);
  assert.ok(tokens(whole) / whole.length <= bounds.average, figures);
  assert.ok(tokens(own) <= bounds.agent, figures);
  assert.ok(tokens(worker) <= bounds.worker, figures);
  for (const tool of whole) assert.ok(tokens(tool) <= bounds.tool, `${tool.name} ${tokens(tool)}`);
  for (const { name, outputSchema } of await owner.tools())
    assert.ok(tokens(outputSchema) <= bounds.output, `${name} ${tokens(outputSchema)}`);
  assert.deepEqual(worker.map((each) => each.name).sort(), ["claim_next_card", "complete_lease", "create_comment", "fail_lease",
    "get_card", "get_card_context", "list_queues", "move_card", "release_lease", "renew_lease", "search", "update_card_markdown"]);
});

test("clients of the first protocol get what it knows", async () => {
  const old = await new Mcp(server, await mintToken(person, "agent")).initialize("2025-03-26");
  for (const tool of await old.tools())
    assert.deepEqual(Object.keys(tool), ["name", "description", "inputSchema", "annotations"]);
});
