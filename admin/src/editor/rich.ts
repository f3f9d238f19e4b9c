// Written content as the server has it, and as the editor does.
import type { Schemas } from "../api/client";
import type { Span } from "./model";
import { said } from "./said";

type Rich = Schemas["RichText"];
const longestRun = 2_000;

/** Long texts come in several runs, and are one span. */
export function spansOf(rich: Rich[]): Span[] {
  return joined(rich.map((each): Span => {
    if (each.type !== "text") return { text: each.plain_text || "…", whole: each };
    const { bold, italic, strikethrough, underline, code, color } = each.annotations;
    const marks: Span["marks"] = {
      ...(bold && { bold }), ...(italic && { italic }), ...(strikethrough && { strike: strikethrough }), ...(underline && { underline }), ...(code && { code }),
      ...(color !== "default" && { color }), ...(each.text?.link && { link: each.text.link.url }),
    };
    return { text: each.text?.content ?? "", ...(Object.keys(marks).length && { marks }) };
  }).filter(({ text }) => text !== ""));
}

/** Spans of the same style as one; they are the result's own. */
export function joined(spans: Span[]): Span[] {
  const out: Span[] = [];
  for (const span of spans) {
    const last = out.at(-1);
    const isAlike = last && !last.whole && !span.whole && (last.marks === span.marks || said(last.marks ?? {}) === said(span.marks ?? {}));
    if (isAlike) last.text += span.text;
    else out.push({ ...span });
  }
  return out;
}

/** Where a run that begins at `at` ends: no pair of surrogates is split. */
function endOf(text: string, at: number): number {
  const end = at + longestRun;
  const isSplit = end < text.length && /[\ud800-\udbff]/.test(text[end - 1]!);
  return isSplit ? end - 1 : end;
}

export function richOf(spans: Span[]): Schemas["RichText-Input"][] {
  return spans.flatMap(({ text, marks = {}, whole }): Schemas["RichText-Input"][] => {
    if (whole) return [whole as Schemas["RichText-Input"]];
    const runs: Schemas["RichText-Input"][] = [];
    for (let at = 0, end; at < text.length; at = end) {
      end = endOf(text, at);
      runs.push({
        type: "text",
        text: { content: text.slice(at, end), link: typeof marks.link === "string" ? { url: marks.link } : null },
        annotations: {
          bold: Boolean(marks.bold), italic: Boolean(marks.italic), strikethrough: Boolean(marks.strike), underline: Boolean(marks.underline), code: Boolean(marks.code),
          color: (typeof marks.color === "string" ? marks.color : "default") as "default",
        },
      });
    }
    return runs;
  });
}
