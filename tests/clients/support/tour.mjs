// Every operation once, by REST, as somebody would come to it: what /docs shows as examples is what
// was sent and answered here (docs/reference/examples.json).
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import { Rest } from "./server.mjs";
import { becomes } from "./visits.mjs";

/** Sends requests by the names of operations, and notes each with its answer. */
export class Tour {
  steps = [];
  #operations = new Map();

  async begin(server) {
    this.server = server;
    const document = await (await fetch(server.url + "/openapi.json")).json();
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { operationId, parameters = [] }] of Object.entries(methods))
        this.#operations.set(operationId, { path, method: method.toUpperCase(), parameters });
    return this;
  }

  get operations() {
    return [...this.#operations.keys()];
  }

  /** `args` side by side; each goes where the document says. */
  async call(caller, operation, args = {}) {
    const { path, method, parameters } = this.#operations.get(operation);
    const step = { operation, path: {}, query: {}, headers: {} };
    const body = { ...args };
    for (const { name, in: place } of parameters) {
      if (!name || !(name in args)) continue;
      step[{ path: "path", query: "query", header: "headers" }[place]][name] = args[name];
      delete body[name];
    }
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(step.path[name]));
    const query = new URLSearchParams(step.query).toString();
    if (Object.keys(body).length) step.body = body;
    const more = { ...caller.headers };
    caller.headers = { ...more, ...step.headers };
    const { status, answer } = await caller.exchange(method, filled + (query && "?" + query), step.body);
    caller.headers = more;
    assert.ok(status < 400, `${operation}: ${status} ${JSON.stringify(answer)}`);
    for (const place of ["path", "query", "headers"]) if (!Object.keys(step[place]).length) delete step[place];
    this.steps.push({ ...step, status, ...(answer !== undefined && { answer }) });
    return answer;
  }
}

const tokenIn = (mail) => /token=([\w-]+)/.exec(mail)[1];

async function accounts(tour, server, ada) {
  const account = { email: "ada@example.com", password: "correct horse battery", name: "Ada" };
  const as = (operation, args) => tour.call(ada, operation, args);
  await as("get_sign_in_options");
  await as("sign_up", account);
  await as("verify_email", { token: tokenIn(await server.mailTo(account.email)) });
  await as("resend_verification", { email: account.email });
  await as("log_out");
  await as("log_in", { email: account.email, password: account.password });
  await as("get_csrf_token");
  const org = await as("create_org", { name: "Acme" });
  await as("switch_org", { org_id: org.id });
  for (const each of ["get_me", "get_current_user", "list_my_memberships", "get_my_profile", "get_my_preferences", "list_my_sessions", "list_orgs"])
    await as(each);
  await as("update_my_profile", { job_title: "Engineer", location: "Zurich" });
  await as("update_my_preferences", { theme: "dark", week_start: "monday" });
  await as("change_my_password", { current_password: account.password, new_password: "a longer horse battery" });
  return org;
}

async function workspace(tour, server, ada, org) {
  const org_id = org.id;
  const call = (operation, args = {}) => tour.call(ada, operation, { org_id, ...args });
  await call("get_org");
  await call("update_org", { name: "Acme Works" });
  await call("get_billing");
  const bob = await call("add_member", { email: "bob@example.com", role: "member", name: "Bob" });
  await call("list_members");
  const user_id = bob.user.id;
  await call("resend_member_invite", { user_id });
  await call("update_member", { user_id, role: "viewer" });
  await tour.call(ada, "list_users");
  await tour.call(ada, "get_user", { user_id });
  await call("remove_member", { user_id });
  const invitation = await call("create_invitation", { email: "grace@example.com", message: "Come and see." });
  await call("list_invitations");
  const token = tokenIn(await server.mailTo("grace@example.com"));
  await tour.call(new Rest(server), "get_invitation_preview", { invitation_id: invitation.id, "x-svc-invitation-token": token });
  const grace = new Rest(server);
  await grace.exchange("POST", "/v1/auth/signup", { email: "grace@example.com", password: "correct horse battery", name: "Grace", invitation_token: token });
  await grace.exchange("POST", "/v1/auth/login", { email: "grace@example.com", password: "correct horse battery" });
  await tour.call(grace, "list_my_invitations");
  await tour.call(grace, "accept_invitation", { invitation_id: invitation.id });
  await grace.exchange("POST", `/v1/orgs/${org_id}:switch`);
  const another = await call("create_invitation", { email: "alan@example.com" });
  const alan = new Rest(server);
  const invitation_token = tokenIn(await server.mailTo("alan@example.com"));
  await alan.post("/v1/auth/signup", { email: "alan@example.com", password: "correct horse battery", invitation_token });
  await alan.post("/v1/auth/login", { email: "alan@example.com", password: "correct horse battery" });
  await tour.call(alan, "decline_invitation", { invitation_id: another.id });
  const other = await call("create_invitation", { email: "linus@example.com" });
  await call("revoke_invitation", { invitation_id: other.id });
  await call("list_email_outbox");
  await call("list_audit_events", { action: "invitation.created" });
  return grace;
}

async function agents(tour, ada) {
  const as = (operation, args) => tour.call(ada, operation, args);
  const agent = await as("create_agent", { name: "Sorter", description: "Sorts what comes in." });
  const agent_id = agent.id;
  await as("list_agents");
  await as("get_agent", { agent_id });
  await as("update_agent", { agent_id, budgets: { requests_per_minute: 600 } });
  await as("disable_agent", { agent_id, reason: "It sorts too much." });
  await as("enable_agent", { agent_id });
  const token = await as("create_token", { kind: "agent", name: "The sorter's", agent_id });
  await as("list_tokens");
  const rotated = await as("rotate_token", { token_id: token.id });
  const robot = new Rest(tour.server, { Authorization: `Bearer ${rotated.token}` });
  await robot.exchange("GET", "/v1/me");
  await as("list_agent_activity", { agent_id });
  const spare = await as("create_agent", { name: "Spare" });
  const unused = await as("create_token", { kind: "agent", name: "Unused", agent_id: spare.id });
  await as("revoke_token", { token_id: unused.id });
  await as("delete_agent", { agent_id: spare.id });
  return { robot, agent_id };
}

async function boards(tour, ada, agent_id) {
  const as = (operation, args) => tour.call(ada, operation, args);
  const board = await as("create_board", {
    name: "Parcels",
    key: "PAR",
    columns: [{ name: "Ready", kind: "queue" }, { name: "Packing" }, { name: "Sent", kind: "done" }],
  });
  const board_id = board.id;
  const on = (operation, args) => as(operation, { board_id, ...args });
  await as("list_boards");
  await on("get_board");
  await on("update_board", { description: "What goes out." });
  const { results: columns } = await on("list_columns");
  const [ready, packing, sent] = columns.map((each) => each.id);
  const spare = await on("create_column", { name: "Spare", wip_limit: 3 });
  await on("get_column", { column_id: ready });
  await on("update_column", { column_id: ready, queue: { max_attempts: 5, on_complete_column_id: sent } });
  await on("move_column", { column_id: spare.id, after_id: packing });
  await on("delete_column", { column_id: spare.id });
  const label = await on("create_label", { name: "Fragile", color: "red" });
  await on("update_label", { label_id: label.id, color: "orange" });
  const property = await on("create_property", { name: "Weight", type: "number" });
  await on("update_property", { property_id: property.id, name: "Weight in kg" });
  await on("delete_property", { property_id: property.id });
  await on("put_board_grant", { principal_id: agent_id, role: "editor" });
  await on("list_board_grants");
  await on("delete_board_grant", { principal_id: agent_id });
  const copy = await on("duplicate_board", { name: "Parcels of next year" });
  await as("archive_board", { board_id: copy.id });
  await as("restore_board", { board_id: copy.id });
  await as("delete_board", { board_id: copy.id });
  return { board_id, ready, packing, sent, label };
}

async function cards(tour, ada, grace, { board_id, ready, packing, sent, label }) {
  const as = (operation, args) => tour.call(ada, operation, args);
  const card = await as("create_card", {
    board_id, column_id: ready, title: "Pack the teapot", labels: ["Fragile"], priority: "high", due: "2099-06-19",
    markdown: "Fragile. **This side up.**",
  });
  const card_id = card.id;
  const on = (operation, args) => as(operation, { card_id, ...args });
  const second = await as("create_card", { board_id, column_id: ready, title: "Weigh the parcel" });
  await as("list_cards", { board_id });
  await on("get_card");
  await on("update_card", { title: "Pack the blue teapot", estimate: 2 });
  await on("move_card", { column_id: packing });
  await on("move_card", { column_id: ready });
  const link = await on("link_cards", { type: "blocks", target_id: second.id });
  await on("unlink_cards", { link_id: link.id });
  await on("watch_card");
  await on("get_card_watch");
  await tour.call(grace, "create_comment", { parent: { card_id }, markdown: "Which box?" });
  await on("unwatch_card");
  for (const each of ["get_card_context", "list_card_activity", "list_card_versions", "get_card_markdown"]) await on(each);
  await on("revert_card", { version: 1 });
  const copy = await on("duplicate_card", { title: "Pack the cups" });
  await as("archive_card", { card_id: copy.id });
  await as("restore_card", { card_id: copy.id });
  await as("batch_cards", { operations: [{ move: { card_id: copy.id, column_id: sent } }, { create: { board_id, column_id: ready, title: "Call the courier" } }] });
  await as("delete_card", { card_id: copy.id });
  await on("update_card_markdown", { mode: "append", markdown: "Use the small box." });
  const paragraph = (content) => ({ paragraph: { rich_text: [{ text: { content } }] } });
  const { results: [block, other] } = await as("append_block_children", { parent_id: card_id, children: [paragraph("Wrap it twice."), paragraph("Then label it.")] });
  await as("list_block_children", { parent_id: card_id });
  await as("get_block", { block_id: block.id });
  await as("update_block", { block_id: block.id, ...paragraph("Wrap it three times.") });
  await as("move_block", { block_id: other.id, parent_id: card_id, position: { type: "start" } });
  await on("batch_blocks", { operations: [{ op: "delete", id: other.id }] });
  await as("delete_block", { block_id: block.id });
  const comment = await as("create_comment", { parent: { card_id }, markdown: "The small one." });
  const { id: comment_id } = comment;
  await as("list_comments", { card_id });
  await as("get_comment", { comment_id });
  await as("update_comment", { comment_id, markdown: "The small one, by the door." });
  await as("resolve_comment", { comment_id });
  await as("delete_comment", { comment_id });
  await as("search", { query: "teapot" });
  await as("get_board_snapshot", { board_id });
  await as("get_board_metrics", { board_id });
  await settled(ada, `/v1/boards/${board_id}/activity`, (page) => page.results[0]?.kind === "comment.deleted");
  await as("list_board_activity", { board_id, page_size: 5 });
  await as("delete_label", { board_id, label_id: label.id });
  const shared = await as("create_share_link", { board_id });
  await as("list_share_links", { board_id });
  await tour.call(new Rest(tour.server), "get_shared_board", { token: shared.url.split("/").at(-1) });
  await as("revoke_share_link", { share_link_id: shared.id });
  return card_id;
}

async function queue(tour, ada, robot, { board_id, ready }) {
  const as = (operation, args) => tour.call(robot, operation, args);
  await as("list_queues");
  await as("get_queue", { board_id, column_id: ready });
  await as("get_queue_depths", { board_id, column_id: ready });
  await as("explain_claim", { board_id, column_id: ready });
  const claim = async (operation, args) => {
    const { lease, lease_token } = await as(operation, { board_id, ...args });
    return { lease_id: lease.id, lease_token };
  };
  for (const title of ["One more", "And another", "The last", "Held"]) {
    // Those that are made in one moment may stand in any order.
    if (tour.pause) await sleep(tour.pause);
    await tour.call(ada, "create_card", { board_id, column_id: ready, title });
  }
  const lease = await claim("claim_next_card", { column_id: ready, lease_ttl_seconds: 600 });
  await as("get_lease", { lease_id: lease.lease_id });
  await as("list_leases", { board_id });
  await as("renew_lease", lease);
  await as("complete_lease", { ...lease, result: { box: "small" }, cost: { amount: 0.02, currency: "USD", input_tokens: 4_100, output_tokens: 350, model: "sorter-2" } });
  await as("release_lease", await claim("claim_from_board", { column_ids: [ready] }));
  await as("fail_lease", { ...(await claim("claim_next_card", { column_id: ready })), error: "The scale is broken.", retryable: false });
  await as("complete_leases", { leases: [{ lease_token: (await claim("claim_next_card", { column_id: ready })).lease_token }] });
  const { lease_id } = await claim("claim_next_card", { column_id: ready });
  await tour.call(ada, "revoke_lease", { lease_id });
  const { results } = await ada.get(`/v1/cards?column_id=${ready}`);
  const card_id = results.at(-1).id;
  await tour.call(ada, "hold_card", { card_id });
  await tour.call(ada, "requeue_card", { card_id });
  await tour.call(ada, "get_agent_work", { agent_id: (await robot.get("/v1/me")).id });
}

async function upload(at, bytes, type) {
  const form = new FormData();
  for (const [name, value] of Object.entries(at.upload_url_fields)) form.append(name, value);
  form.append("file", new Blob([bytes], { type }), "file");
  const stored = await fetch(at.upload_url, { method: "POST", body: form });
  assert.ok(stored.ok, await stored.text());
}

const pixel = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==", "base64");

async function files(tour, ada, grace, card_id) {
  const as = (operation, args) => tour.call(ada, operation, args);
  const made = await as("presign_file", { filename: "teapot.png", content_type: "image/png", size_bytes: pixel.length });
  await upload(made, pixel, "image/png");
  const file_id = made.id;
  await as("commit_file", { file_id });
  await as("get_file", { file_id });
  await as("attach_file", { card_id, file_id });
  await as("list_attachments", { card_id });
  await as("detach_file", { card_id, file_id });
  const spare = await as("presign_file", { filename: "spare.txt", content_type: "text/plain", size_bytes: 2 });
  await upload(spare, "hi", "text/plain");
  await as("commit_file", { file_id: spare.id });
  await as("delete_file", { file_id: spare.id });
  const picture = await as("presign_feedback_screenshot", { filename: "rattle.png", content_type: "image/png", size_bytes: pixel.length });
  await upload(picture, pixel, "image/png");
  await as("commit_feedback_screenshot", { file_id: picture.id });
  const report = await as("create_feedback", { type: "bug", message: "It rattles.", screenshot_file_id: picture.id });
  await as("list_my_feedback");
  await as("get_feedback", { feedback_id: report.id });
  const { surveys } = await as("get_my_surveys");
  const { key: survey_key } = surveys.find((each) => each.eligible);
  await as("answer_survey", { survey_key, score: 9, comment: "I like the small box." });
  await tour.call(grace, "dismiss_survey", { survey_key });
}

async function connections(tour, server, ada) {
  const redirect_uri = "https://client.example.com/callback";
  const { client_id } = await new Rest(server).post("/oauth/register", { client_name: "A client", redirect_uris: [redirect_uri] });
  const query = {
    client_id, redirect_uri, response_type: "code", state: "x",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256",
  };
  await tour.call(ada, "preview_authorization", query);
  await tour.call(ada, "allow_authorization", { query, role: "member", scope: { read_only: true } });
}

/** Asks until the answer is so: events are numbered, and passed on, a moment after what they tell of. */
async function settled(caller, path, holds) {
  await becomes(() => caller.get(path), holds, 60);
}

async function told(tour, ada, receiver) {
  const as = (operation, args) => tour.call(ada, operation, args);
  const whenSettled = async (operation, args, holds) => {
    await settled(ada, args.path, holds);
    return as(operation, args.sent);
  };
  const notifications = await whenSettled("list_notifications", { path: "/v1/notifications", sent: {} }, (page) => page.results.length > 0);
  await as("count_notifications");
  await as("read_notification", { notification_id: notifications.results[0].id });
  await as("read_all_notifications");
  await as("list_event_kinds", { page_size: 3 });
  await as("list_events", { page_size: 2 });
  await as("create_ws_ticket");
  const webhook = await as("create_webhook", { url: receiver, events: ["card.created"], name: "The shop" });
  const { id: webhook_id } = webhook;
  await as("list_webhooks");
  await as("get_webhook", { webhook_id });
  await as("update_webhook", { webhook_id, events: ["card.*"] });
  await as("rotate_webhook_secret", { webhook_id, overlap_seconds: 3600 });
  await as("test_webhook", { webhook_id });
  const path = `/v1/webhooks/${webhook_id}/deliveries`;
  const deliveries = await whenSettled("list_webhook_deliveries", { path, sent: { webhook_id } }, (page) => page.results.some((each) => each.status === "succeeded"));
  await as("redeliver_webhook", { webhook_id, delivery_id: deliveries.results[0].id });
  await as("redeliver_failed_deliveries", { webhook_id, since: "2026-01-01T00:00:00Z" });
  await as("delete_webhook", { webhook_id });
}

async function leaving(tour, server, ada, grace, org) {
  await tour.call(grace, "leave_org", { org_id: org.id });
  const again = new Rest(server);
  await again.post("/v1/auth/login", { email: "ada@example.com", password: "a longer horse battery" });
  const { results } = await again.get("/v1/me/sessions");
  await tour.call(ada, "revoke_my_session", { session_id: results[0].id });
  await tour.call(ada, "delete_org", { org_id: org.id, confirm: "acme" });
  await tour.call(ada, "revoke_my_sessions");
  await tour.call(ada, "request_password_reset", { email: "ada@example.com" });
  const token = tokenIn(await server.mailTo("/reset-password?token="));
  await tour.call(ada, "confirm_password_reset", { token, new_password: "the longest horse battery" });
}

/** What a server is started with for it: surveys are due at once. */
export const tourSettings = [
  "webhooks.allow_private_targets=true",
  "operators.accounts=ada@example.com",
  ...["account", "active"].map((each) => `feedback.survey_${each}_days=0`),
];

/** Takes webhooks, at its `url`. */
export class Receiver {
  static async start() {
    const self = new Receiver();
    self.http = createServer((request, response) => {
      request.resume();
      response.writeHead(204).end();
    }).listen(0, "127.0.0.1");
    await once(self.http, "listening");
    self.url = `http://127.0.0.1:${self.http.address().port}`;
    return self;
  }

  end() {
    this.http.close();
    this.http.closeAllConnections();
  }
}

/** All of it. `receiver` is an address that takes webhooks. */
export async function goRound(tour, server, receiver) {
  const ada = new Rest(server);
  const org = await accounts(tour, server, ada);
  const grace = await workspace(tour, server, ada, org);
  const { robot, agent_id } = await agents(tour, ada);
  const board = await boards(tour, ada, agent_id);
  const card_id = await cards(tour, ada, grace, board);
  await queue(tour, ada, robot, board);
  await files(tour, ada, grace, card_id);
  await told(tour, ada, receiver);
  await connections(tour, server, ada);
  await tour.call(ada, "list_automations");
  await tour.call(ada, "get_server_status");
  await leaving(tour, server, ada, grace, org);
}
