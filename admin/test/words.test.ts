import { describe, expect, test } from "vitest";
import { asCurl, asTool, getCalls, remember } from "../src/api/calls";
import { steps } from "../src/parts/steps";
import { sampleOf, takes } from "../src/screens/webhooks/sample";
import { weeksOf } from "../src/screens/board/weeks";
import { briefly, countdown, dayOf, readTimesAs } from "../src/app/time";
import { t } from "../src/app/words";
import { addresses, names } from "../src/app/addresses";

const code = import.meta.glob<string>("../src/**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });
const styles = import.meta.glob<string>("../src/**/*.css", { query: "?raw", import: "default", eager: true });
const locales = import.meta.glob<Record<string, string>>("../src/locales/*.json", { import: "default", eager: true });

describe("words", () => {
  const en = locales["../src/locales/en.json"]!;
  const used = new Set(Object.values(code).flatMap((text) => [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, key]) => key!)));

  test("what counts has forms for one and for many, and no form is left over", () => {
    for (const key of Object.keys(en)) expect(used, key).toContain(key.replace(/_(one|other)$/, ""));
    expect(t("{{count}} cards", { count: 1 })).toBe("1 card");
    expect(t("{{count}} cards", { count: 2 })).toBe("2 cards");
  });

  test("other languages say nothing that is not said any more", () => {
    for (const [name, texts] of Object.entries(locales).filter(([each]) => !each.endsWith("/en.json")))
      for (const key of Object.keys(texts))
        expect(used, `${name}: ${key}`).toContain(key.replace(/_(zero|one|two|few|many|other)$/, ""));
  });
});

test("files stay short enough to be read at once", () => {
  expect(Object.keys(code).length).toBeGreaterThan(40);
  for (const [name, text] of Object.entries(code)) expect(text.split("\n").length, name).toBeLessThanOrEqual(name.endsWith(".tsx") ? 250 : 400);
});

test("what is loaded later is loaded by parts/lazy, which keeps nothing on the screen for longer than it waits", () => {
  for (const [name, text] of Object.entries(code)) expect(text, name).not.toMatch(/import \{[^}]*\b(lazy|Suspense)\b[^}]*\} from "react"/);
});

test("colours are said in one place", () => {
  expect(Object.keys(styles).length).toBeGreaterThan(5);
  for (const [name, text] of Object.entries(styles).filter(([each]) => !each.endsWith("/tokens.css")))
    expect(text, name).not.toMatch(/#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(/i);
});

test("every address is in the server's reach: a folder, or each of a folder", () => {
  for (const { path } of Object.values(addresses)) expect(path).toMatch(/^\/([a-z-]+(\/:?[a-z-]+)?)?$/);
  expect(new Set(names).size).toBe(names.length);
});

describe("a calendar's weeks", () => {
  test("hold every day of the month once, and begin on the day that one is used to", () => {
    for (let year = 2024; year < 2031; year += 1)
      for (let month = 0; month < 12; month += 1)
        for (const start of [0, 1, 6]) {
          const weeks = weeksOf(year, month, start);
          const days = weeks.flat();
          const length = new Date(year, month + 1, 0).getDate();
          expect(days.filter((day) => Number(day.slice(5, 7)) === month + 1).length).toBe(length);
          expect(new Set(days).size).toBe(days.length);
          expect(weeks.every((week) => week.length === 7)).toBe(true);
          expect(new Date(`${days[0]}T12:00`).getDay()).toBe(start);
          expect(days.length - length).toBeLessThan(14);
        }
  });
});

describe("a call that the page made", () => {
  const call = { id: "1", method: "POST", template: "/v1/cards/{card_id}:move", address: "/v1/cards/ENG-1:move", values: { card_id: "ENG-1" }, headers: [], body: Promise.resolve(undefined), at: 0 };

  test("is shown as a shell takes it, quotes and all", () => {
    expect(asCurl(call, { title: "it's" }, "https://board.example", "2026-06-19"))
      .toBe(["curl -sS", "'https://board.example/v1/cards/ENG-1:move'", `-H "Authorization: Bearer $TOKEN"`, `-H "X-Board-Version: 2026-06-19"`, `--json '{"title":"it'\\''s"}'`].join(" \\\n  "));
    expect(asCurl({ ...call, method: "DELETE" }, undefined, "", "v")).toContain("-X DELETE");
    const open = asCurl({ ...call, method: "GET", headers: ["x-svc-share-password"] }, undefined, "", "v", true);
    expect(open).toContain(`-H "x-svc-share-password: <x-svc-share-password>"`);
    expect(open).not.toContain("Authorization");
  });

  test("is remembered without its secrets", async () => {
    const request = new Request("https://board.example/v1/auth/login", { method: "POST", body: JSON.stringify({ email: "a@example.com", password: "s3cret", new_password: "s3cret", token: "s3cret" }) });
    await remember.onRequest!({ request, schemaPath: "/v1/auth/login", params: {}, id: "2" } as never);
    expect(await getCalls()[0]!.body).toEqual({ email: "a@example.com", password: "<password>", new_password: "<new_password>", token: "<token>" });
  });

  test("is shown as MCP takes it, with every field side by side", () => {
    expect(JSON.parse(asTool("move_card", call, { column_id: "c" }))).toEqual({ method: "tools/call", params: { name: "move_card", arguments: { card_id: "ENG-1", column_id: "c" } } });
  });
});

test("an instant is on the day that it is where the person lives", () => {
  const live = (timezone: string) => readTimesAs({ locale: "en-GB", timezone, time_format: "h24" });
  for (const [zone, expected] of [["Pacific/Auckland", "2027-01-01"], ["America/Los_Angeles", "2026-12-31"]] as const) {
    live(zone);
    expect(dayOf("2026-12-31T12:30:00Z")).toBe(expected);
    expect(dayOf("2026-12-31")).toBe("2026-12-31");
    expect(briefly("1999-12-31T12:30:00Z")).toContain(zone.startsWith("Pacific") ? "2000" : "1999");
  }
  live("UTC");
});

test("what is left of a lease is shown as by a clock", () => {
  expect([0, 4_200, 65_000, 3_725_000, -5].map(countdown)).toEqual(["0:00", "0:05", "1:05", "1:02:05", "0:00"]);
});

test("a queue's line stays where it is until the next count, and begins at nothing", () => {
  const frame = { from: 0, to: 100, most: 10, width: 100, height: 12 };
  expect(steps([[20, 10], [60, 0]], frame)).toBe("M0 11.0H20.0V1.0H60.0V11.0H100");
  expect(steps([[-5, 5]], frame)).toBe("M0 11.0H0.0V6.0H100");
});

describe("a webhook's sample", () => {
  test("has a value of the right type for each field", () => {
    expect(sampleOf({
      $defs: { Who: { type: "object", properties: { name: { type: ["string", "null"] } } } },
      type: "object",
      properties: {
        object: { const: "card" }, id: { type: "string", format: "uuid" }, count: { type: "integer" }, state: { enum: ["ready", "leased"] },
        by: { anyOf: [{ type: "null" }, { $ref: "#/$defs/Who" }] }, labels: { type: "array", items: { type: "string" } },
      },
    })).toEqual({ object: "card", id: expect.stringMatching(/^[\da-f-]{36}$/), count: 1, state: "ready", by: { name: "…" }, labels: ["…"] });
  });

  test("ends, however deep a schema goes into itself", () => {
    expect(JSON.stringify(sampleOf({ $defs: { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } } } }, $ref: "#/$defs/Node" }))).toMatch(/null/);
  });

  test("is offered for the kinds that were chosen", () => {
    expect(["card.moved", "board.created"].map((kind) => takes(["card.*"], kind))).toEqual([true, false]);
    expect(takes(["*"], "org.updated") && takes(["lease.failed"], "lease.failed") && !takes(["lease.failed"], "lease.claimed")).toBe(true);
  });
});
