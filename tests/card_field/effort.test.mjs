// A field that was added to cards, in all that has a card's fields. added.sh builds the server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Rest, Server, makeQueue, makeWorkspace } from "../clients/support/server.mjs";

let server, person, place, card;

before(async () => {
  server = await Server.start();
  person = await makeWorkspace(server);
  place = await makeQueue(person, []);
  const { board_id, column_id } = place;
  card = await person.post(`/v1/boards/${board_id}/cards`, { column_id, title: "Weigh it", effort: 5 });
});
after(() => server?.end());

const patch = (body) => person.send("PATCH", `/v1/cards/${card.id}`, body);

test("a card that is made has it", async () => {
  assert.equal(card.effort, 5);
  assert.equal((await person.get(`/v1/cards/${card.id}`)).effort, 5);
});

test("its rules are those of its row", async () => {
  await assert.rejects(patch({ effort: -1 }), /422 .*"effort".*Should be at least 0/);
});

test("a change changes it and null clears it; an earlier version brings it back", async () => {
  assert.equal((await patch({ effort: 8 })).effort, 8);
  assert.equal((await patch({ effort: null })).effort, null);
  assert.equal((await person.post(`/v1/cards/${card.id}:revert`, { version: 2 })).effort, 8);
});

test("copies have it, of the card and of its board", async () => {
  assert.equal((await person.post(`/v1/cards/${card.id}:duplicate`, {})).effort, 8);
  const { id } = await person.post(`/v1/boards/${place.board_id}:duplicate`, {});
  let cards = [];
  for (let tries = 0; tries < 100 && cards.length < 2; tries += 1) {
    await new Promise((done) => setTimeout(done, 100));
    cards = (await person.get(`/v1/cards?board_id=${id}`)).results;
  }
  assert.deepEqual(cards.map(({ effort }) => effort), [8, 8]);
});

test("lists, snapshots, briefs and shared boards show it", async () => {
  const { results } = await person.get(`/v1/cards?board_id=${place.board_id}`);
  assert.deepEqual(results.map(({ effort }) => effort), [8, 8]);
  const snapshot = await person.get(`/v1/boards/${place.board_id}/snapshot`);
  const queue = snapshot.columns.find(({ id }) => id === place.column_id);
  assert.deepEqual(queue.cards.map(({ effort }) => effort), [8, 8]);
  const { markdown } = await person.get(`/v1/cards/${card.id}/context`);
  assert.match(markdown, /^- Effort: 8$/m);
  const link = await person.post(`/v1/boards/${place.board_id}/share-links`, {});
  const stranger = await new Rest(server).get(`/v1/shared/${link.url.split("/").pop()}`);
  assert.deepEqual(stranger.columns.flatMap(({ cards }) => cards.map(({ effort }) => effort)), [8, 8]);
});

test("the document of the interface describes it", async () => {
  const { components: { schemas } } = await person.get("/openapi.json");
  for (const name of ["Card", "CreateCardRequest", "UpdateCardRequest", "SharedCard"])
    assert.match(schemas[name].properties.effort.description, /Hours that were spent/, name);
});
