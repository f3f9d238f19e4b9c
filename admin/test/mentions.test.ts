import { describe, expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { fromRich, mentionAt, toMarkdown } from "../src/screens/card/mentions";

const annotations = { bold: false, italic: false, strikethrough: false, underline: false, code: false, color: "default" as const };
const run = (plain_text: string, more: object = {}) => ({ type: "text", text: { content: plain_text, link: null }, annotations, plain_text, href: null, ...more }) as unknown as Schemas["RichText"];

describe("mentions in comments", () => {
  test("are asked for by an @ at the beginning of a word", () => {
    expect(mentionAt("hello @ad", 9)).toEqual({ query: "ad", from: 6 });
    expect(mentionAt("@", 1)).toEqual({ query: "", from: 0 });
    expect(mentionAt("me@example", 10)).toBeUndefined();
    expect(mentionAt("@ada and", 8)).toBeUndefined();
    expect(mentionAt("@Ada ", undefined)).toBeUndefined();
  });

  test("become links to whoever was chosen, and to nobody else", () => {
    const named = new Map([["Ada", "1"], ["Ada Lovelace", "2"], ["R]2", "3"]]);
    expect(toMarkdown("@Ada Lovelace and @Ada, @Adamant, @Bob", named)).toBe("[@Ada Lovelace](user:2) and [@Ada](user:1), @Adamant, @Bob");
    expect(toMarkdown("@R]2 works", named)).toBe("[@R\\]2](user:3) works");
    expect(toMarkdown("@Ada", new Map())).toBe("@Ada");
  });

  test("are still there when a comment is edited, as its formatting is", () => {
    const { text, named } = fromRich([
      run("See "), run("bold", { annotations: { ...annotations, bold: true } }), run(", "),
      run("@Ada", { type: "mention", text: undefined, mention: { type: "user", user: { id: "1" } } }),
      run(" there", { text: { content: " there", link: { url: "https://example.com/" } } }),
    ]);
    expect(text).toBe("See **bold**, @Ada[ there](https://example.com/)");
    expect(toMarkdown(text, named)).toBe("See **bold**, [@Ada](user:1)[ there](https://example.com/)");
  });

  test("are cards and days, too, and signs that were meant as such stay signs", () => {
    const { text } = fromRich([
      run("After "), run("ENG-42", { type: "mention", text: undefined, mention: { type: "page", page: { id: "7" } } }),
      run(" on "), run("2026-06-19", { type: "mention", text: undefined, mention: { type: "date", date: { start: "2026-06-19", end: null } } }),
      run(": 2*3, snake_case, _x_, a [b], ~c~ & &amp;\n1. d\n# e - f, "), run("`*`", { annotations: { ...annotations, code: true }, plain_text: "*" }),
    ]);
    expect(text).toBe("After [ENG-42](card:7) on [2026-06-19](date:2026-06-19): 2\\*3, snake_case, \\_x\\_, a \\[b\\], \\~c\\~ & \\&amp;\n1\\. d\n\\# e - f, `*`");
    expect(fromRich([run("- x")]).text).toBe("\\- x");
  });
});
