// Markdown that is pasted becomes blocks of its own; it is read as the server reads it, as far as people
// write it by hand.
import { newId } from "../app/newId";
import { beginsBlock, cellsOf, fence, item, row, rule, safeLink, take } from "../parts/markdownLines";
import type { Block, Span } from "./model";

const newBlock = (type: string, content: Span[] = [], props: Record<string, unknown> = {}, children: Block[] = []): Block =>
  ({ id: newId(), type, props, content, children });

type Marks = NonNullable<Span["marks"]>;
const patterns: [RegExp, (found: string[]) => { words: string; marks: Marks; plain?: boolean }][] = [
  [/(`+)([^`]|[^`].*?[^`])\1(?!`)/y, ([, , words = ""]) => ({ words, marks: { code: true }, plain: true })],
  [/\[((?:\\.|[^\]\\])*)\]\(<?([^)\s>]*)>?(?: "[^"]*")?\)/y, ([, words = "", url = ""]) => ({ words, marks: (safeLink(url) ? { link: url } : {}) as Marks })],
  [/<(https?:\/\/[^\s>]*)>/y, ([, url = ""]) => ({ words: url, marks: { link: url }, plain: true })],
  [/\*\*(?=\S)((?:\\.|[^*\\]|\*(?!\*))+)\*\*/y, ([, words = ""]) => ({ words, marks: { bold: true } })],
  [/~~(?=\S)((?:\\.|[^~\\])+)~~/y, ([, words = ""]) => ({ words, marks: { strike: true } })],
  [/\*(?=\S)((?:\\.|[^*\\])+)\*/y, ([, words = ""]) => ({ words, marks: { italic: true } })],
  [/_(?=\S)((?:\\.|[^_\\])+)_(?!\w)/y, ([, words = ""]) => ({ words, marks: { italic: true } })],
];

export function spansOfLine(text: string, marks: Marks = {}, depth = 0): Span[] {
  const span = (words: string): Span[] => (words ? [{ text: words, ...(Object.keys(marks).length && { marks }) }] : []);
  if (depth > 8 || text.length > 20_000) return span(text);
  const out: Span[] = [];
  let plain = "";
  for (let at = 0; at < text.length;) {
    if (text[at] === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
      continue;
    }
    let step = 0;
    if (/[`[<*_~]/.test(text[at]!))
      for (const [pattern, made] of patterns) {
        pattern.lastIndex = at;
        const found = pattern.exec(text.slice(0, at + 2_000));
        if (!found) continue;
        const { words, marks: more, plain: asIs } = made(found);
        const all = { ...marks, ...more };
        out.push(...span(plain), ...(asIs ? [{ text: words, marks: all }] : spansOfLine(words, all, depth + 1)));
        plain = "";
        step = found[0].length;
        break;
      }
    if (!step) plain += text[at++];
    at += step;
  }
  return [...out, ...span(plain)].filter((each) => each.text !== "");
}

function tableOf(lines: string[]): Block {
  const [head = [], , ...body] = lines.map(cellsOf);
  const width = head.length;
  const rich = (text: string) => spansOfLine(text).map((span) => ({
    type: "text", text: { content: span.text, link: typeof span.marks?.link === "string" ? { url: span.marks.link } : null },
    annotations: { bold: Boolean(span.marks?.bold), italic: Boolean(span.marks?.italic), strikethrough: Boolean(span.marks?.strike), underline: false, code: Boolean(span.marks?.code), color: "default" },
  }));
  const rows = [head, ...body].map((cells) => newBlock("table_row", [], { cells: Array.from({ length: width }, (_, at) => rich(cells[at] ?? "")) }));
  return newBlock("table", [], { table_width: width, has_column_header: true, has_row_header: false }, rows);
}

function listItem(lines: string[], depth: number): Block {
  const found = item.exec(lines[0]!)!;
  const width = found[1]!.length + found[2]!.length + Math.min(Math.max(found[3]!.length, 1), 4);
  const start = lines.shift()!.slice(width);
  const rest = take(lines, (line, at) => /^\s{2,}/.test(line) || (line === "" && /^\s{2,}/.test(lines[at + 1] ?? "")));
  const indent = Math.min(width, ...rest.filter(Boolean).map((line) => /^\s*/.exec(line)![0].length));
  if (lines[0] === "" && item.test(lines[1] ?? "")) lines.shift();
  const task = /^\[([ xX]?)\] ?/.exec(start);
  const type = task ? "to_do" : /\d/.test(found[2]!) ? "numbered_list_item" : "bulleted_list_item";
  const children = depth < 8 ? blocksOfMarkdown(rest.map((line) => line.slice(indent)).join("\n"), depth + 1) : [];
  return newBlock(type, spansOfLine(task ? start.slice(task[0].length) : start), task ? { checked: /x/i.test(task[1]!) } : {}, children);
}

export function blocksOfMarkdown(text: string, depth = 0): Block[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const out: Block[] = [];
  while (lines.length) {
    const line = lines[0]!;
    const title = /^(#{1,6}) (.*)$/.exec(line);
    const code = fence.exec(line);
    if (line.trim() === "") lines.shift();
    else if (title) {
      lines.shift();
      out.push(newBlock(`heading_${Math.min(title[1]!.length, 4)}`, spansOfLine(title[2]!)));
    } else if (code) {
      lines.shift();
      const end = new RegExp(`^ {0,3}${code[2]![0]}{${code[2]!.length},}\\s*$`);
      const body = take(lines, (each) => !end.test(each));
      lines.shift();
      out.push(newBlock("code", body.length ? [{ text: body.join("\n") }] : [], { language: code[3] || "plain text" }));
    } else if (rule.test(line)) {
      lines.shift();
      out.push(newBlock("divider"));
    } else if (/^>/.test(line)) {
      const body = take(lines, (each) => /^>/.test(each)).map((each) => each.replace(/^> ?/, ""));
      const callout = /^\[!\w+\]\s*$/.test(body[0] ?? "");
      out.push(newBlock(callout ? "callout" : "quote", spansOfLine((callout ? body.slice(1) : body).join("\n"))));
    } else if (item.test(line)) out.push(listItem(lines, depth));
    else if (row.test(line) && /^\s*\|[\s:|-]+\|\s*$/.test(lines[1] ?? "")) out.push(tableOf(take(lines, (each) => row.test(each))));
    else out.push(newBlock("paragraph", spansOfLine([lines.shift()!, ...take(lines, (each) => !beginsBlock(each))].join("\n"))));
  }
  return out;
}

/** Whether a text is more than words: it is read as Markdown then. */
export const looksLikeMarkdown = (text: string) =>
  text.split(/\r?\n/).some((line) => /^(#{1,6} |> |\s{0,3}([-*+]|\d{1,9}[.)]) |```|~~~)/.test(line) || rule.test(line)) || /\n\s*\n/.test(text) || /\*\*\S|`[^`]+`|\]\(https?:/.test(text);
