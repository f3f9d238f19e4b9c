// Markdown, as the server writes and reads it (docs/content.md), as elements. Links lead to http, https
// and mailto alone and HTML is text, so nothing in it can do more than be read.
import { Fragment, type ReactNode } from "react";
import { beginsBlock, cellsOf, fence, item, mark, row, rule, safeLink, take } from "./markdownLines";
import { t } from "../app/words";
import "./written.css";

const longest = 200_000;
/** The address of an uploaded file, where the reader may have it. */
export type FileLink = (id: string) => string | undefined;

type Inner = (words: string) => ReactNode[];
const plain = (text: string) => text.replace(/\\([!-/:-@[-`{-~])/g, "$1");
const Outward = ({ url, children }: { url: string; children: ReactNode }) =>
  <a href={url} rel="noopener noreferrer nofollow">{children}</a>;

function picture(alt: string, target: string): ReactNode {
  const name = alt || t("picture");
  const url = safeLink(target);
  return url ? <Outward url={url}>{name}</Outward> : <span className="file">{name}</span>;
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0" };

// The first that fits at a place counts. None looks further than the line it is in.
const spans: [RegExp, (found: string[], inner: Inner) => ReactNode][] = [
  [/\\([!-/:-@[-`{-~])/y, ([, sign]) => sign],
  [/(`+)([^`]|[^`][^]*?[^`])\1(?!`)/y, ([, , code = ""]) => <code>{code.replace(/^ (.*[^ ].*) $/, "$1")}</code>],
  [/!\[((?:\\.|[^\]\\])*)\]\(<?([^)\s>]*)>?(?: "[^"]*")?\)/y, ([, alt = "", target = ""]) => picture(plain(alt), plain(target))],
  [/\[((?:\\.|[^\]\\])*)\]\(<?([^)\s>]*)>?(?: "[^"]*")?\)/y, ([, words = "", target = ""], inner) => {
    const url = safeLink(plain(target));
    return url ? <Outward url={url}>{inner(words)}</Outward> : <span className={/^user:/.test(target) ? "mention" : undefined}>{inner(words)}</span>;
  }],
  [/<(https?:\/\/[^\s>]*)>/y, ([, url = ""]) => <Outward url={url}>{url}</Outward>],
  [/\*\*(?=\S)((?:\\.|[^*\\]|\*(?!\*))+)\*\*/y, ([, words = ""], inner) => <strong>{inner(words)}</strong>],
  [/~~(?=\S)((?:\\.|[^~\\])+)~~/y, ([, words = ""], inner) => <s>{inner(words)}</s>],
  [/\*(?=\S)((?:\\.|[^*\\])+)\*/y, ([, words = ""], inner) => <em>{inner(words)}</em>],
  [/_(?=\S)((?:\\.|[^_\\])+)_(?!\w)/y, ([, words = ""], inner) => <em>{inner(words)}</em>],
  [/<u>([^<]*)<\/u>/y, ([, words = ""], inner) => <u>{inner(words)}</u>],
  [/(?:\\|  +)\n/y, () => <br />],
  [/&(amp|lt|gt|quot|nbsp|#\d{1,6});/y, ([, name = ""]) => entities[name] ?? String.fromCodePoint(Math.min(Number(name.slice(1)), 0x10ffff))],
];

export function inline(text: string, depth = 0): ReactNode[] {
  // What is open for long is no mark: the work stays in proportion to the text.
  if (depth > 8 || text.length > 20_000) return [text];
  const inner: Inner = (words) => inline(words, depth + 1);
  const out: ReactNode[] = [];
  let word = "";
  for (let at = 0; at < text.length;) {
    let step = 0;
    if (/[\\`![<*~_&\n ]/.test(text[at]!))
      for (const [pattern, made] of spans) {
        pattern.lastIndex = at;
        const found = pattern.exec(text.slice(0, at + 2_000));
        if (!found) continue;
        if (word) out.push(word);
        word = "";
        out.push(<Fragment key={at}>{made(found, inner)}</Fragment>);
        step = found[0].length;
        break;
      }
    if (!step) word += text[at++];
    at += step;
  }
  if (word) out.push(word);
  return out;
}

function list(lines: string[], depth: number, key: number): ReactNode {
  const first = item.exec(lines[0]!)![2]!;
  const ordered = /\d/.test(first);
  const items: ReactNode[] = [];
  while (lines.length) {
    const found = item.exec(lines[0]!);
    if (!found || /\d/.test(found[2]!) !== ordered) break;
    const width = found[1]!.length + found[2]!.length + Math.min(Math.max(found[3]!.length, 1), 4);
    const start = lines.shift()!.slice(width);
    const indent = " ".repeat(width);
    const rest = take(lines, (line, at) => line.startsWith(indent) || (line === "" && (lines[at + 1] ?? "").startsWith(indent)));
    if (lines[0] === "" && item.test(lines[1] ?? "")) lines.shift();
    const task = /^\[([ xX])\] /.exec(start);
    const content = blocks([task ? start.slice(4) : start, ...rest.map((line) => line.slice(width))], depth + 1, true);
    const done = task?.[1] !== " ";
    items.push(task
      ? <li key={items.length} className="task"><input type="checkbox" checked={done} disabled readOnly aria-label={done ? t("done") : t("to do")} /> {content}</li>
      : <li key={items.length}>{content}</li>);
  }
  return ordered ? <ol key={key} start={parseInt(first, 10)}>{items}</ol> : <ul key={key}>{items}</ul>;
}

function table(lines: string[], key: number): ReactNode {
  const [head = [], , ...body] = lines.map(cellsOf);
  return (
    <div key={key} className="scroll-x" tabIndex={0} role="region" aria-label={t("Table")}>
      <table>
        <thead><tr>{head.map((each, at) => <th key={at}>{inline(each)}</th>)}</tr></thead>
        <tbody>{body.map((cells, at) => <tr key={at}>{cells.map((each, place) => <td key={place}>{inline(each)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

function details(lines: string[], depth: number, key: number): ReactNode {
  let open = 0;
  const body = take(lines, (line, at) => {
    if (/^<details/.test(line)) open += 1;
    if (at > 0 && /^<\/details>/.test(lines[at - 1]!)) open -= 1;
    return open > 0;
  });
  const summary = /<summary>(.*?)<\/summary>/.exec(body.slice(0, 2).join(""))?.[1] ?? "";
  const rest = body.slice(1, -1).filter((line) => !/^<summary>/.test(line));
  return <details key={key}><summary>{inline(summary)}</summary>{blocks(rest, depth + 1)}</details>;
}

function blocks(given: string[], depth: number, tight = false): ReactNode[] {
  if (depth > 20) return [<pre key="deep">{given.join("\n")}</pre>];
  const lines = [...given];
  const out: ReactNode[] = [];
  while (lines.length) {
    const line = lines[0]!;
    const key = out.length;
    const title = /^(#{1,6}) (.*)$/.exec(line);
    const code = fence.exec(line);
    if (line.trim() === "" || mark.test(line.trim())) lines.shift();
    else if (title) {
      lines.shift();
      const Tag = `h${Math.min(title[1]!.length + 1, 6)}` as "h2";
      out.push(<Tag key={key}>{inline(title[2]!)}</Tag>);
    } else if (code) {
      lines.shift();
      const end = new RegExp(`^ {0,3}${code[2]![0]}{${code[2]!.length},}\\s*$`);
      const body = take(lines, (each) => !end.test(each));
      lines.shift();
      out.push(<pre key={key} tabIndex={0} role="region" aria-label={t("Code")}><code>{body.map((each) => each.slice(code[1]!.length)).join("\n")}</code></pre>);
    } else if (/^>/.test(line)) {
      const body = take(lines, (each) => /^>/.test(each)).map((each) => each.replace(/^> ?/, ""));
      const callout = /^\[!\w+\]\s*$/.test(body[0]!);
      out.push(<blockquote key={key} className={callout ? "callout" : undefined}>{blocks(callout ? body.slice(1) : body, depth + 1)}</blockquote>);
    } else if (rule.test(line)) {
      lines.shift();
      out.push(<hr key={key} />);
    } else if (item.test(line)) out.push(list(lines, depth, key));
    else if (/^<details/.test(line)) out.push(details(lines, depth, key));
    else if (row.test(line) && /^\s*\|[\s:|-]+\|\s*$/.test(lines[1] ?? "")) out.push(table(take(lines, (each) => row.test(each)), key));
    else {
      const words = [lines.shift()!, ...take(lines, (each) => !beginsBlock(each))].join("\n");
      out.push(tight && out.length === 0 ? <Fragment key={key}>{inline(words)}</Fragment> : <p key={key}>{inline(words)}</p>);
    }
  }
  return out;
}

export function Markdown({ text }: { text: string }) {
  return <div className="written">{text.length > longest ? <pre>{text}</pre> : blocks(text.split("\n"), 0)}</div>;
}
