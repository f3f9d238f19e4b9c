// With what operations refuse: what the suites have met, as ctest has collected it, is kept in
// docs/reference/refusals.json, and said in the document.
//   RECORD=1 node --test refusals.test.mjs   keeps besides what the suites met that ran last
//   RECORD=all node --test refusals.test.mjs keeps that alone: after a run of all of them
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { codes, general, isNamed, merged, met, nameOf, reasons, stillMet } from "./support/refusals.mjs";

const file = new URL("../../docs/reference/refusals.json", import.meta.url);
const build = process.env.WORKBOARD_BUILD;
const collected = join(build, "refusals.jsonl");

function documentOfProgram() {
  const folder = mkdtempSync(join(tmpdir(), "workboard-clients-"));
  try {
    return JSON.parse(execFileSync(join(build, "bin/workboard"), ["openapi", "--var", folder], { encoding: "utf8" }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

let document = documentOfProgram();
const lines = existsSync(collected) ? readFileSync(collected, "utf8").split("\n").filter(Boolean) : [];
const all = met(lines, document);
const kept = JSON.parse(readFileSync(file, "utf8"));
const { RECORD: record } = process.env;
if (record) {
  Object.assign(kept, merged(record === "all" ? stillMet(kept, all) : kept, all));
  writeFileSync(file, JSON.stringify(kept, null, 1) + "\n");
  document = documentOfProgram();
}
const operations = new Map(Object.values(document.paths).flatMap(Object.values).map((each) => [each.operationId, each]));

const tell = ({ operation, where, test, body }) => `${operation.operationId}: ${body.status} ${nameOf(body)} of ${where}, met by ${test}`;

test("what the suites have met is kept", () => {
  const missing = all.filter(({ operation, body }) => isNamed(body) && !kept.operations[operation.operationId]?.includes(nameOf(body)));
  assert.deepEqual(missing.map(tell), [], "RECORD=1 node --test refusals.test.mjs in tests/clients keeps them");
});

test("an operation has every status that the suites have met of it", () => {
  const unlisted = all.filter(({ operation, body }) => !(body.status in operation.responses) && body.status !== 500); // a fault
  assert.deepEqual(unlisted.map(tell), [], "`refuses` of the operation says them");
});

test("what is kept is of operations that there are, and stands on the page of errors", () => {
  for (const [operation, names] of Object.entries(kept.operations)) {
    assert.ok(operations.has(operation), operation);
    for (const name of names) assert.ok(isNamed(kept.refusals[name]), `${operation} ${name}`);
  }
  for (const [name, body] of Object.entries(kept.refusals)) {
    assert.equal(nameOf(body), name);
    assert.ok(name === body.code || reasons.has(name), `docs/errors.md has no reason ${name}`);
  }
});

test("every code and reason on the page of errors is an operation's, or one of those it has for all", () => {
  const named = new Set(Object.values(kept.operations).flat());
  const bare = [...codes].filter((code) => code !== "plan_limit_reached"); // which has a limit for each case
  assert.deepEqual([...bare, ...reasons].filter((each) => !named.has(each) && !general.has(each)), []);
  assert.deepEqual([...general].filter((each) => !codes.has(each) && !reasons.has(each)), []);
});

test("the document shows them where they belong", () => {
  for (const [operation, names] of Object.entries(kept.operations))
    for (const name of names) {
      const body = kept.refusals[name];
      const { description, content } = operations.get(operation).responses[body.status] ?? {};
      assert.ok(description?.includes("`" + name + "`"), `${operation} ${name}`);
      assert.deepEqual(content["application/json"].examples[name], { $ref: `#/components/examples/${name}` });
      assert.deepEqual(document.components.examples[name], { value: body });
    }
});
