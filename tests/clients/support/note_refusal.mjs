// What tests/support/refusals.hpp does for tests in C++.
import { appendFileSync } from "node:fs";
import { basename } from "node:path";

export function noteRefusal(method, url, text) {
  const file = process.env.WORKBOARD_REFUSALS;
  if (!file || !text?.startsWith('{"object":"error"')) return;
  const where = `${method} ${new URL(url).pathname}`;
  appendFileSync(file, JSON.stringify({ where, test: basename(process.argv[1]), body: JSON.parse(text) }) + "\n");
}
