// @notionhq/client as its makers ship it: only the address and the token are ours, and the server
// takes the version header that it sends.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  APIErrorCode,
  Client,
  LogLevel,
  collectPaginatedAPI,
  isFullBlock,
  isFullComment,
  isFullUser,
  isNotionClientError,
  iteratePaginatedAPI,
} from "@notionhq/client";

import { Server, makeQueue, makeWorkspace, mintToken } from "./support/server.mjs";

let server, person, notion, agent, board, card;

const client = (auth) => new Client({ auth, baseUrl: server.url, logLevel: LogLevel.ERROR });
const says = (content) => [{ type: "text", text: { content } }];
const paragraph = (content, children) => ({
  object: "block",
  type: "paragraph",
  paragraph: { rich_text: says(content), ...(children ? { children } : {}) },
});

before(async () => {
  server = await Server.start(["server.compat_version_headers=Compat-Version,Notion-Version"]);
  person = await makeWorkspace(server);
  const made = await makeQueue(person, ["Write the report"]);
  board = made.board_id;
  card = (await person.get(`/v1/cards?board_id=${board}`)).results[0].id;
  notion = client(await mintToken(person, "integration"));
  agent = client(await mintToken(person, "agent"));
});
after(() => server?.end());

test("blocks are appended, listed page by page, read, changed, deleted and restored", async () => {
  const answer = await notion.blocks.children.append({
    block_id: card,
    children: [
      { heading_2: { rich_text: says("Plan") } },
      paragraph("Outer", [paragraph("Inner")]),
      { to_do: { rich_text: says("Do it"), checked: false } },
      { code: { rich_text: says("let x;"), language: "javascript" } },
      { image: { type: "external", external: { url: "https://example.com/a.png" } } },
    ],
  });
  assert.equal(answer.object, "list");
  assert.deepEqual(
    answer.results.map((each) => each.type),
    ["heading_2", "paragraph", "to_do", "code", "image"],
  );
  assert.ok(answer.results.every(isFullBlock));

  const listed = await collectPaginatedAPI(notion.blocks.children.list, {
    block_id: card,
    page_size: 2,
  });
  assert.deepEqual(listed.map((each) => each.id), answer.results.map((each) => each.id));

  const [, outer, todo] = listed;
  assert.equal(outer.has_children, true);
  // Ids go with or without dashes.
  const below = await notion.blocks.children.list({ block_id: outer.id.replaceAll("-", "") });
  assert.equal(below.results[0].paragraph.rich_text[0].plain_text, "Inner");

  await notion.blocks.children.append({
    block_id: card,
    children: [paragraph("Between")],
    after: outer.id,
  });
  const texts = (await notion.blocks.children.list({ block_id: card })).results.map(
    (each) => each[each.type].rich_text?.[0]?.plain_text,
  );
  assert.deepEqual(texts.slice(0, 4), ["Plan", "Outer", "Between", "Do it"]);

  const changed = await notion.blocks.update({ block_id: todo.id, to_do: { checked: true } });
  assert.equal(changed.to_do.checked, true);
  assert.equal(changed.to_do.rich_text[0].plain_text, "Do it");
  // A block that was read may be sent back.
  const read = await notion.blocks.retrieve({ block_id: todo.id });
  const same = await notion.blocks.update({ block_id: todo.id, to_do: read.to_do });
  assert.equal(same.last_edited_time, changed.last_edited_time);

  const deleted = await notion.blocks.delete({ block_id: todo.id });
  assert.equal(deleted.in_trash, true);
  assert.equal((await notion.blocks.delete({ block_id: todo.id })).in_trash, true);
  const restored = await notion.blocks.update({ block_id: todo.id, archived: false });
  assert.equal(restored.in_trash, false);
});

test("comments are made, answered, listed, changed and deleted", async () => {
  const comment = await agent.comments.create({
    parent: { page_id: card },
    rich_text: says("Is this right?"),
  });
  assert.ok(isFullComment(comment));
  assert.equal(comment.display_name.type, "integration");
  const answer = await notion.comments.create({
    discussion_id: comment.discussion_id,
    rich_text: says("It is."),
  });
  assert.equal(answer.discussion_id, comment.discussion_id);
  const listed = await collectPaginatedAPI(notion.comments.list, { block_id: card, page_size: 1 });
  assert.deepEqual(listed.map((each) => each.id), [comment.id, answer.id]);

  const about = await notion.blocks.children.list({ block_id: card });
  const block = about.results[0].id;
  await notion.comments.create({ parent: { block_id: block }, rich_text: says("Here") });
  assert.equal((await notion.comments.list({ block_id: block })).results.length, 1);

  const changed = await notion.comments.update({
    comment_id: answer.id,
    rich_text: says("It is, now."),
  });
  assert.equal(changed.rich_text[0].plain_text, "It is, now.");
  assert.equal((await notion.comments.retrieve({ comment_id: answer.id })).id, answer.id);
  await assert.rejects(
    agent.comments.update({ comment_id: answer.id, rich_text: says("no") }),
    (error) => isNotionClientError(error) && error.code === APIErrorCode.RestrictedResource,
  );
  assert.equal((await notion.comments.delete({ comment_id: answer.id })).object, "comment");
  await assert.rejects(
    notion.comments.retrieve({ comment_id: answer.id }),
    (error) => isNotionClientError(error) && error.code === APIErrorCode.ObjectNotFound,
  );
});

test("people and agents are users", async () => {
  const me = await notion.users.me({});
  assert.ok(isFullUser(me));
  assert.equal(me.type, "person");
  const robot = await agent.users.me({});
  assert.equal(robot.type, "bot");
  const all = await collectPaginatedAPI(notion.users.list, { page_size: 1 });
  assert.deepEqual(new Set(all.map((each) => each.id)), new Set([me.id, robot.id]));
  assert.equal((await notion.users.retrieve({ user_id: robot.id })).name, "Robot");
});

test("search finds what was written", async () => {
  const found = [];
  for await (const each of iteratePaginatedAPI(notion.search, { query: "report", page_size: 1 }))
    found.push(each);
  assert.deepEqual(found.map((each) => [each.object, each.id]), [["card", card]]);
  const cards = await notion.search({
    query: "repo",
    filter: { property: "object", value: "page" },
    sort: { timestamp: "last_edited_time", direction: "descending" },
  });
  assert.equal(cards.results[0].title, "Write the report");
  const blocks = await notion.search({ query: "inner" });
  assert.equal(blocks.results[0].object, "block");
});

test("refusals arrive as errors that the client knows", async () => {
  await assert.rejects(
    notion.blocks.retrieve({ block_id: "018f4e5a-0000-7000-8000-000000000001" }),
    (error) => isNotionClientError(error) && error.code === APIErrorCode.ObjectNotFound,
  );
  await assert.rejects(
    notion.blocks.children.append({ block_id: card, children: [{ synced_block: { synced_from: null } }] }),
    (error) => isNotionClientError(error) && error.code === APIErrorCode.ValidationError,
  );
  await assert.rejects(
    client("svc_nonsense").users.me({}),
    (error) => isNotionClientError(error) && error.code === APIErrorCode.Unauthorized,
  );
});

test("all of the interface is in reach of request()", async () => {
  const answer = await notion.request({ path: `cards/${card}/markdown`, method: "get" });
  assert.match(answer.markdown, /^## Plan/);
});
