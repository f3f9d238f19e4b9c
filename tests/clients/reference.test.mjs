// What /docs and `workboard openapi` show as examples: each request is sent here as it stands there,
// ids and secrets aside, and accepted, and each answer is made as the one that is shown.
//   RECORD=1 node --test reference.test.mjs   records docs/reference/examples.json
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { changed, interfaceOf } from "./support/interface.mjs";
import { Recorder, differences, withIdsOf } from "./support/record.mjs";
import { Server } from "./support/server.mjs";
import { Receiver, Tour, goRound, tourSettings } from "./support/tour.mjs";

const file = new URL("../../docs/reference/examples.json", import.meta.url);
// What takes an identity provider, scripts of the operator's, a mail that failed, or an account that
// one made.
const notOnTour = ["start_google_sign_in", "finish_google_sign_in", "list_automation_runs", "requeue_email", "set_my_password"];

let server, receiver, document, recorded, tour;

before(async () => {
  receiver = await Receiver.start();
  server = await Server.start(tourSettings);
  document = await (await fetch(server.url + "/openapi.json")).json();
  tour = await new Tour().begin(server);
  await goRound(tour, server, receiver.url + "/hook");
  recorded = new Recorder({ [server.url]: "https://boards.example.com", [receiver.url]: "https://shop.example.com" }).record(tour.steps);
  if (process.env.RECORD) writeFileSync(file, JSON.stringify(recorded, null, 1) + "\n");
});
after(async () => {
  receiver?.end();
  await server?.end();
});

test("every operation is on the tour", () => {
  const left = tour.operations.filter((each) => !(each in recorded) && !notOnTour.includes(each));
  assert.deepEqual(left, []);
});

test("requests are what is kept, and answers are made as those that are", () => {
  const kept = JSON.parse(readFileSync(file, "utf8"));
  assert.deepEqual(Object.keys(kept).sort(), Object.keys(recorded).sort());
  const counterparts = new Map();
  for (const [operation, { answer, status, ...request }] of Object.entries(recorded)) {
    const { answer: shown, status: said, ...sent } = kept[operation];
    assert.deepEqual(withIdsOf(request, sent, counterparts), request, operation);
    assert.equal(status, said, operation);
    assert.deepEqual(differences(shown, answer), [], operation);
  }
});

test("the document shows them", () => {
  const kept = JSON.parse(readFileSync(file, "utf8"));
  for (const methods of Object.values(document.paths))
    for (const { operationId, requestBody, responses, parameters = [] } of Object.values(methods)) {
      const step = kept[operationId];
      if (!step) continue;
      if (step.body) assert.deepEqual(requestBody.content["application/json"].example, step.body, operationId);
      const content = responses[step.status].content?.["application/json"];
      if (step.answer !== undefined && content) assert.deepEqual(content.example, step.answer, operationId);
      for (const { name, example } of parameters)
        if (name in (step.path ?? {})) assert.equal(example, step.path[name], `${operationId} ${name}`);
    }
});

test("nothing in it is a secret of the server that told it", () => {
  const text = readFileSync(file, "utf8");
  assert.doesNotMatch(text, /127\.0\.0\.1|localhost|workboard-clients/);
});

test("what came since the last release is in the changelog of the API, and nothing went", () => {
  const changes = readFileSync(new URL("changes.md", file), "utf8");
  const record = new URL("interface.txt", file);
  const now = interfaceOf(document);
  // With a release:  RELEASE=1 node --test reference.test.mjs
  if (process.env.RELEASE) writeFileSync(record, now.join("\n") + "\n");
  const { added, gone } = changed(readFileSync(record, "utf8").trim().split("\n"), now);
  assert.deepEqual(gone, []);
  assert.deepEqual(added.filter((each) => !changes.includes("`" + each + "`")), [], "not in docs/reference/changes.md");
});

test("both pages beside the reference are served", async () => {
  for (const [path, word] of [["/docs/errors", "version_conflict"], ["/docs/changes", "Since 0.1.0"]]) {
    const page = await fetch(server.url + path);
    assert.equal(page.status, 200);
    assert.match(page.headers.get("content-type"), /text\/html/);
    const text = await page.text();
    assert.ok(text.includes(word), path);
    assert.doesNotMatch(text, /<script|^\||\]\(/m, path);
  }
});

test("the program prints the same document", async () => {
  const printed = JSON.parse(await server.command("openapi"));
  const anywhere = ({ servers, info, ...rest }) => ({ ...rest, info: { ...info, contact: undefined } });
  assert.deepEqual(anywhere(printed), anywhere(document));
});
