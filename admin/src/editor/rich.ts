// Written content as the server has it, and as the editor does.
import type { Schemas } from "../api/client";
import type { Span } from "./model";

type Rich = Schemas["RichText"];
const longestRun = 2_000;

export function spansOf(rich: Rich[]): Span[] {
  return rich.map((each): Span => {
    if (each.type !== "text") return { text: each.plain_text || "…", whole: each };
    const { bold, italic, strikethrough, underline, code, color } = each.annotations;
    const marks: Span["marks"] = {
      ...(bold && { bold }), ...(italic && { italic }), ...(strikethrough && { strike: strikethrough }), ...(underline && { underline }), ...(code && { code }),
      ...(color !== "default" && { color }), ...(each.text?.link && { link: each.text.link.url }),
    };
    return { text: each.text?.content ?? "", ...(Object.keys(marks).length && { marks }) };
  }).filter(({ text }) => text !== "");
}

export function richOf(spans: Span[]): Schemas["RichText-Input"][] {
  return spans.flatMap(({ text, marks = {}, whole }): Schemas["RichText-Input"][] => {
    if (whole) return [whole as Schemas["RichText-Input"]];
    const runs: Schemas["RichText-Input"][] = [];
    for (let at = 0; at < text.length; at += longestRun)
      runs.push({
        type: "text",
        text: { content: text.slice(at, at + longestRun), link: typeof marks.link === "string" ? { url: marks.link } : null },
        annotations: {
          bold: Boolean(marks.bold), italic: Boolean(marks.italic), strikethrough: Boolean(marks.strike), underline: Boolean(marks.underline), code: Boolean(marks.code),
          color: (typeof marks.color === "string" ? marks.color : "default") as "default",
        },
      });
    return runs;
  });
}
