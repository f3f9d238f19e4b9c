import { setTimeout as sleep } from "node:timers/promises";

/** Asks again and again until it is so; whether it was within that time. */
export async function until(what, seconds = 15) {
  for (let tries = 0; tries < seconds * 20; tries += 1) {
    if (await what()) return true;
    await sleep(50);
  }
  return false;
}
