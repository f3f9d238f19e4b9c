import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

/** Asks again and again until the answer is one; that answer, or false when none came within that time. */
export async function until(what, seconds = 15) {
  for (let tries = 0; tries < seconds * 20; tries += 1) {
    const answer = await what();
    if (answer) return answer;
    await sleep(50);
  }
  return false;
}

/** Waits until the answer equals this; says how it differs when it never does. */
export async function untilEqual(what, expected, seconds = 30) {
  let found;
  await until(async () => isDeepStrictEqual((found = await what()), expected), seconds);
  assert.deepEqual(found, expected);
}

/** A promise, and what fulfils it. */
export function deferred() {
  let resolve;
  const promise = new Promise((done) => { resolve = done; });
  return { promise, resolve };
}
