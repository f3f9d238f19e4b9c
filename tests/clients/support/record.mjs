// What a tour has sent and got, as it is kept: without what is another thing every time.
export const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
export const instant = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;
// Tokens, digests and the like: long, and of letters and digits together, or of letters of both cases,
// since one token in a hundred has no digit.
export const random = /(?<![\w-])(?=[\w-]*(?:\d|[a-z][A-Z]))(?=[\w-]*[A-Za-z])[\w-]{20,}(?:\.[\w-]{20,})*(?![\w-])/g;
// Of a longer list, the first.
const shown = 5;
const filler = "3xample";
// Schemas that refer to parts of themselves, where whoever reads the document would look for them in it.
const notShown = ["list_event_kinds"];

/** Keeps the same apart from the different: the nth id that comes up is always the same. */
export class Recorder {
  #ids = new Map();
  #origins;

  /** `origins` are addresses that change, with what is written in their place. */
  constructor(origins) {
    this.#origins = Object.entries(origins);
  }

  #id(id) {
    if (!this.#ids.has(id)) this.#ids.set(id, `0197a3c0-5f3e-7c1b-9a52-${(0x1f0f6f8f3b11 + this.#ids.size).toString(16)}`);
    return this.#ids.get(id);
  }

  text(text) {
    for (const [origin, instead] of this.#origins) text = text.replaceAll(origin, instead);
    return text
      .replaceAll("127.0.0.1", "203.0.113.7")
      .replaceAll(uuid, (each) => this.#id(each))
      .replaceAll(instant, (each) => (each.startsWith("2099") || each.endsWith("T00:00:00Z") ? each : "2026-06-19T10:00:00.000Z"))
      .replaceAll(random, (each) => {
        if (each.startsWith("0197a3c0-5f3e") || /^[a-z_]+$/.test(each)) return each;
        const kind = /^(?:svc_|lt_|sl_|whsec_)?/.exec(each)[0];
        return kind + filler.repeat(Math.ceil(each.length / filler.length)).slice(0, each.length - kind.length);
      });
  }

  value(value) {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.slice(0, shown).map((each) => this.value(each));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.value(each)]));
  }

  /** The first step of each operation, by its name. */
  record(steps) {
    const all = {};
    for (const { operation, ...step } of steps) {
      const kept = this.value(step);
      if (notShown.includes(operation)) delete kept.answer;
      all[operation] ??= kept;
    }
    return all;
  }
}

/**
 * `value` with the ids of `other` where its own stand: how many come up before depends on the moment. The
 * same id has one counterpart in all that is read with the same `counterparts`.
 */
export function withIdsOf(other, value, counterparts) {
  const theirs = JSON.stringify(other).match(uuid) ?? [];
  let next = 0;
  return JSON.parse(
    JSON.stringify(value).replaceAll(uuid, (each) => {
      const there = theirs[next++];
      if (!counterparts.has(each)) counterparts.set(each, there);
      return counterparts.get(each);
    }),
  );
}

/** What of `is` is not made as `was`, as the places of it. */
export function differences(was, is, at = "") {
  if (was === null || is === null) return []; // unset in one of the two
  if (typeof was !== typeof is || Array.isArray(was) !== Array.isArray(is)) return [at];
  if (Array.isArray(was)) return was.length && is.length ? differences(was[0], is[0], `${at}[0]`) : [];
  if (typeof was !== "object") return [];
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...names].flatMap((name) =>
    name in was && name in is ? differences(was[name], is[name], `${at}.${name}`) : [`${at}.${name}`],
  );
}
