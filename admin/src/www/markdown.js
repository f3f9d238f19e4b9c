// Markdown, as cards are given in it, as elements. Everything is made as text and by name, and links
// lead to http, https and mailto alone, so nothing in it can do more than be read.

const longestMarkdown = 200_000;
const mark = /^<!-- (?:\/?columns?|\/?below|empty|card [\w-]+) -->$/;

/** Elements for a text; `imageAddress(id)` gives a promise of an uploaded picture's address. */
function markdown(text, imageAddress) {
  if (text.length > longestMarkdown) return [make("pre", {}, text)];
  return blocks(text.split("\n"), imageAddress, 0);
}

function safeLink(url) {
  return /^(https?:\/\/|mailto:)/i.test(url) ? url : undefined;
}

function picture(alt, target, imageAddress) {
  const id = /^file:([\w-]+)$/.exec(target)?.[1];
  const name = alt || "picture";
  const url = safeLink(target);
  if (url) return make("a", { href: url, rel: "noopener noreferrer nofollow" }, name);
  const named = make("span", { className: "file" }, name);
  if (id && imageAddress)
    imageAddress(id).then((address) => {
      if (!address) return;
      const image = make("img", { alt, loading: "lazy" });
      image.addEventListener("load", () => named.replaceWith(image));
      // Kept elsewhere, it is not loaded into this page.
      image.addEventListener("error", () => named.replaceChildren(make("a", { href: address }, name)));
      image.src = address;
      if (image.loading === "lazy") image.loading = "eager";
    }, () => {});
  return named;
}

// The first that fits at a place counts. None looks further than the line it is in.
const spans = [
  [/\\([!-/:-@[-`{-~])/y, ([, sign]) => sign],
  [/(`+)([^`]|[^`][^]*?[^`])\1(?!`)/y, ([, , code]) => make("code", {}, code.replace(/^ (.*[^ ].*) $/, "$1"))],
  [/!\[((?:\\.|[^\]\\])*)\]\(<?([^)\s>]*)>?(?: "[^"]*")?\)/y, ([, alt, target], inner) => picture(plain(alt), plain(target), inner.imageAddress)],
  [/\[((?:\\.|[^\]\\])*)\]\(<?([^)\s>]*)>?(?: "[^"]*")?\)/y, ([, words, target], inner) => {
    const url = safeLink(plain(target));
    return url
      ? make("a", { href: url, rel: "noopener noreferrer nofollow" }, ...inner.read(words))
      : make("span", {}, ...inner.read(words));
  }],
  [/<(https?:\/\/[^\s>]*)>/y, ([, url]) => make("a", { href: url, rel: "noopener noreferrer nofollow" }, url)],
  [/\*\*(?=\S)((?:\\.|[^*\\]|\*(?!\*))+)\*\*/y, ([, words], inner) => make("strong", {}, ...inner.read(words))],
  [/~~(?=\S)((?:\\.|[^~\\])+)~~/y, ([, words], inner) => make("s", {}, ...inner.read(words))],
  [/\*(?=\S)((?:\\.|[^*\\])+)\*/y, ([, words], inner) => make("em", {}, ...inner.read(words))],
  [/_(?=\S)((?:\\.|[^_\\])+)_(?!\w)/y, ([, words], inner) => make("em", {}, ...inner.read(words))],
  [/<u>([^<]*)<\/u>/y, ([, words], inner) => make("u", {}, ...inner.read(words))],
  [/(?:\\|  +)\n/y, () => make("br")],
  [/&(amp|lt|gt|quot|nbsp|#\d{1,6});/y, ([, name]) =>
    ({ amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0" })[name] ?? String.fromCodePoint(Math.min(Number(name.slice(1)), 0x10ffff))],
];
const plain = (text) => text.replace(/\\([!-/:-@[-`{-~])/g, "$1");

function inline(text, imageAddress, depth = 0) {
  // What is open for long is no mark: the work stays in proportion to the text.
  if (depth > 8 || text.length > 20_000) return [text];
  const inner = { imageAddress, read: (words) => inline(words, imageAddress, depth + 1) };
  const out = [];
  let word = "";
  for (let at = 0; at < text.length;) {
    let step = 0;
    if (/[\\`![<*~_&\n ]/.test(text[at]))
      for (const [pattern, made] of spans) {
        pattern.lastIndex = at;
        const found = pattern.exec(text.slice(0, at + 2_000));
        if (!found) continue;
        if (word) out.push(word);
        word = "";
        out.push(made(found, inner));
        step = found[0].length;
        break;
      }
    if (!step) word += text[at++];
    at += step;
  }
  if (word) out.push(word);
  return out;
}

const item = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const fence = /^( {0,3})(`{3,}|~{3,})\s*([\w+#.-]*)/;
const row = /^\s*\|.*\|\s*$/;
const cellsOf = (line) => line.trim().slice(1, -1).split(/(?<!\\)\|/).map((each) => each.trim());

/** Takes lines off the front as long as they fit. */
function take(lines, fits) {
  let count = 0;
  while (count < lines.length && fits(lines[count], count)) count += 1;
  return lines.splice(0, count);
}

function list(lines, imageAddress, depth) {
  const [, , first] = item.exec(lines[0]);
  const ordered = /\d/.test(first);
  const made = make(ordered ? "ol" : "ul", ordered && parseInt(first, 10) !== 1 ? { start: parseInt(first, 10) } : {});
  while (lines.length) {
    const found = item.exec(lines[0]);
    if (!found || /\d/.test(found[2]) !== ordered) break;
    const width = found[1].length + found[2].length + Math.min(Math.max(found[3].length, 1), 4);
    const start = lines.shift().slice(width);
    const rest = take(lines, (line, at) => line.startsWith(" ".repeat(width)) || (line === "" && (lines[at + 1] ?? "").startsWith(" ".repeat(width))));
    if (lines[0] === "" && item.test(lines[1] ?? "")) lines.shift();
    const task = /^\[([ xX])\] /.exec(start);
    const body = [task ? start.slice(4) : start, ...rest.map((line) => line.slice(width))];
    const content = blocks(body, imageAddress, depth + 1, true);
    made.append(task
      ? make("li", { className: "task" }, make("input", { type: "checkbox", checked: task[1] !== " ", disabled: true, ariaLabel: task[1] === " " ? "to do" : "done" }), " ", ...content)
      : make("li", {}, ...content));
  }
  return made;
}

function table(lines, imageAddress) {
  const rows = lines.map(cellsOf);
  const cells = (tag, row) => make("tr", {}, ...row.map((each) => make(tag, {}, ...inline(each, imageAddress))));
  return make("div", { className: "scroll", tabIndex: 0 },
    make("table", {}, make("thead", {}, cells("th", rows[0])), make("tbody", {}, ...rows.slice(2).map((each) => cells("td", each)))));
}

function details(lines, imageAddress, depth) {
  let open = 0;
  const body = take(lines, (line, at) => {
    if (/^<details/.test(line)) open += 1;
    if (at > 0 && /^<\/details>/.test(lines[at - 1])) open -= 1;
    return open > 0;
  });
  const summary = /<summary>(.*?)<\/summary>/.exec(body.slice(0, 2).join(""))?.[1] ?? "";
  const rest = body.slice(1, -1).filter((line) => !/^<summary>/.test(line));
  return make("details", {}, make("summary", {}, ...inline(summary, imageAddress)), ...blocks(rest, imageAddress, depth + 1));
}

const beginsBlock = (line) =>
  line === "" || /^(#{1,6} |> ?|<details|\s{0,3}([-*_])(\s*\2){2,}\s*$)/.test(line) || fence.test(line) || item.test(line) || row.test(line) || mark.test(line);

function blocks(lines, imageAddress, depth, tight = false) {
  if (depth > 20) return [make("pre", {}, lines.join("\n"))];
  lines = [...lines];
  const out = [];
  while (lines.length) {
    const line = lines[0];
    const title = /^(#{1,6}) (.*)$/.exec(line);
    const code = fence.exec(line);
    if (line.trim() === "" || mark.test(line.trim())) lines.shift();
    else if (title) {
      lines.shift();
      out.push(make(`h${Math.min(title[1].length + 1, 6)}`, {}, ...inline(title[2], imageAddress)));
    } else if (code) {
      lines.shift();
      const end = new RegExp(`^ {0,3}${code[2][0]}{${code[2].length},}\\s*$`);
      const body = take(lines, (each) => !end.test(each));
      lines.shift();
      out.push(make("pre", { tabIndex: 0 }, make("code", {}, body.map((each) => each.slice(code[1].length)).join("\n"))));
    } else if (/^>/.test(line)) {
      const body = take(lines, (each) => /^>/.test(each)).map((each) => each.replace(/^> ?/, ""));
      const callout = /^\[!\w+\]\s*$/.test(body[0]);
      out.push(make("blockquote", callout ? { className: "callout" } : {}, ...blocks(callout ? body.slice(1) : body, imageAddress, depth + 1)));
    } else if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
      lines.shift();
      out.push(make("hr"));
    } else if (item.test(line)) out.push(list(lines, imageAddress, depth));
    else if (/^<details/.test(line)) out.push(details(lines, imageAddress, depth));
    else if (row.test(line) && /^\s*\|[\s:|-]+\|\s*$/.test(lines[1] ?? ""))
      out.push(table(take(lines, (each) => row.test(each)), imageAddress));
    else {
      const words = [lines.shift(), ...take(lines, (each) => !beginsBlock(each))].join("\n");
      const content = inline(words, imageAddress);
      out.push(...(tight && out.length === 0 ? content : [make("p", {}, ...content)]));
    }
  }
  return out;
}
