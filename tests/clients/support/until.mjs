import { setTimeout as sleep } from "node:timers/promises";

/** Asks again and again until the answer is one; that answer, or false when none came within that time. */
export async function until(what, seconds = 15) {
  for (let tries = 0; tries < seconds * 20; tries += 1) {
    const answer = await what();
    if (answer) return answer;
    await sleep(50);
  }
  return false;
}
