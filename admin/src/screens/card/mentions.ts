// Comments as they are written and as they are sent: Markdown, in which a person stands as @Ada until it
// is sent, and as a link to who that is from then on.
import type { Schemas } from "../../api/client";

type Rich = Schemas["RichText"];
/** Ids by the names that were chosen. */
export type Named = ReadonlyMap<string, string>;

/** The word behind an @ that the cursor stands at, and where it begins; none while the cursor is nowhere. */
export function mentionAt(text: string, cursor: number | undefined): { query: string; from: number } | undefined {
  if (cursor === undefined) return undefined;
  const found = /(?:^|[\s(])@([\p{L}\p{N}_.-]{0,30})$/u.exec(text.slice(0, cursor));
  return found ? { query: found[1]!.toLowerCase(), from: cursor - found[1]!.length - 1 } : undefined;
}

const escaped = (text: string) => text.replace(/[\\[\]]/g, "\\$&");
/** Signs that would be Markdown's stay signs; `_` within a word is one. */
const literal = (text: string, begins: boolean) => text
  .replace(/[\\`*[\]<~]|&(?=[\p{L}#])|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\$&")
  .replace(begins ? /^(\s*)([#>+-]|\d+[.)])/gm : /(\n\s*)([#>+-]|\d+[.)])/g, (_, space: string, sign: string) => space + sign.replace(/.$/, "\\$&"));

/** What goes to the server. Longer names first, so that none stands within another. */
export function toMarkdown(text: string, named: Named): string {
  const names = [...named.keys()].sort((a, b) => b.length - a.length);
  if (names.length === 0) return text;
  const any = new RegExp(`@(${names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})(?![\\p{L}\\p{N}])`, "gu");
  return text.replace(any, (_, name: string) => `[@${escaped(name)}](user:${named.get(name)})`);
}

/** A comment that was sent, to be written in again. */
export function fromRich(rich: Rich[]): { text: string; named: Map<string, string> } {
  const named = new Map<string, string>();
  const text = rich.map((run, at) => {
    const { user, page, date } = (run.mention ?? {}) as { user?: { id: string }; page?: { id: string }; date?: { start: string; end?: string | null } };
    if (user) {
      const name = run.plain_text.replace(/^@/, "");
      named.set(name, user.id);
      return `@${name}`;
    }
    if (page) return `[${escaped(run.plain_text)}](card:${page.id})`;
    if (date && !date.end) return `[${escaped(run.plain_text)}](date:${date.start})`;
    const { bold, italic, strikethrough, code } = run.annotations;
    const link = run.text?.link?.url;
    let out = code ? run.plain_text : literal(run.plain_text, at === 0);
    if (code) out = `\`${out}\``;
    if (strikethrough) out = `~~${out}~~`;
    if (italic) out = `*${out}*`;
    if (bold) out = `**${out}**`;
    return link ? `[${out}](${link})` : out;
  }).join("");
  return { text, named };
}
