// With what each operation refuses: read from what tests have met, and kept in
// docs/reference/refusals.json as {refusals: {name: body}, operations: {operation: [name]}}.
import { readFileSync } from "node:fs";

import { Recorder } from "./record.mjs";

const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");

/** What stands in code marks in the rows of the table below a heading, a list for each row. */
function rows(heading) {
  const [, section] = page.split(`\n## ${heading}\n`);
  const table = section.split("\n## ")[0].split("\n").filter((line) => line.startsWith("| ") && line.includes("`"));
  return table.map((line) => line.split("|").slice(1, -1).map((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, word]) => word)));
}

/** All that the page of errors has. */
export const codes = new Set(rows("Codes").flatMap(([, code]) => code));
export const reasons = new Set(rows("Reasons").flatMap(([, values]) => values));
/** What operations leave to that page, for every one of a kind may say it. */
export const general = new Set(rows("What an operation says").flat(2));

/** What tells a refusal from others: its reason, or else its code. */
export function nameOf({ code, additional_data: more = {} }) {
  return more.reason ?? more.rate_limit_reason ?? (code === "plan_limit_reached" ? more.limit : undefined) ?? code;
}

/** Of a document: its operations by name, and by method and path. */
class Operations {
  #named = new Map();
  #routed = [];

  constructor(document) {
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(methods)) {
        this.#named.set(operation.operationId, operation);
        const pattern = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "[^/:]+");
        const route = { method: method.toUpperCase(), pattern: new RegExp(`^${pattern}$`), fixed: path.replace(/\{\w+\}/g, "").length };
        this.#routed.push({ ...route, operation });
      }
    this.#routed.sort((a, b) => b.fixed - a.fixed); // /me before /{id}
  }

  /** Undefined for what is none of these, such as those of modules that only tests have. */
  find(where) {
    const [method, path] = where.split(" ");
    if (!path) return this.#named.get(where);
    return this.#routed.find((each) => each.method === method && each.pattern.test(path))?.operation;
  }
}

/** Of lines that tests have left, those about operations of the document. */
export function met(lines, document) {
  const operations = new Operations(document);
  return lines.flatMap((line) => {
    const { where, test, body } = JSON.parse(line);
    const operation = operations.find(where);
    return operation ? [{ operation, where, test, body }] : [];
  });
}

/** Whether the operation names it in the document: a hook refuses with codes of its own. */
export const isNamed = (body) => codes.has(body.code) && !general.has(nameOf(body));

const sorted = (object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Of `kept` what was met: the body of a name, that no other comes in its place without need. */
export function stillMet({ refusals }, all) {
  const messages = new Set(all.map(({ body }) => `${nameOf(body)}: ${new Recorder({}).text(body.message)}`));
  const left = Object.entries(refusals).filter(([name, { message }]) => messages.has(`${name}: ${message}`));
  return { refusals: Object.fromEntries(left), operations: {} };
}

/** `kept` and what was met besides; a name that is there has the body that it had. */
export function merged(kept, all) {
  const bodies = { ...kept.refusals };
  const named = Object.entries(kept.operations).flatMap(([operation, names]) => names.map((name) => ({ operation, name })));
  for (const { operation, body } of all.filter((each) => isNamed(each.body))) {
    const name = nameOf(body);
    const { status, code } = (bodies[name] ??= new Recorder({}).value(body));
    if (status !== body.status || code !== body.code) throw new Error(`${name} is ${status} ${code} and ${body.status} ${body.code}`);
    named.push({ operation: operation.operationId, name });
  }
  const operations = {};
  for (const { operation, name } of named)
    if (!general.has(name)) (operations[operation] ??= new Set()).add(name);
  return {
    refusals: sorted(Object.fromEntries(named.filter(({ name }) => !general.has(name)).map(({ name }) => [name, bodies[name]]))),
    operations: sorted(Object.fromEntries(Object.entries(operations).map(([operation, names]) => [operation, [...names].sort()]))),
  };
}
