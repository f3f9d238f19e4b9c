// What lines of Markdown look like, for those that read it: the shared pages and the editor's paste.
export const mark = /^<!-- (?:\/?columns?|\/?below|empty|breadcrumb|table_of_contents|card [\w-]+) -->$/;
export const item = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
export const fence = /^( {0,3})(`{3,}|~{3,})\s*([\w+#.-]*)/;
export const row = /^\s*\|.*\|\s*$/;
export const rule = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;

export const cellsOf = (line: string) => line.trim().slice(1, -1).split(/(?<!\\)\|/).map((each) => each.trim());

export const beginsBlock = (line: string) =>
  line === "" || /^(#{1,6} |> ?|<details)/.test(line) || rule.test(line) || fence.test(line) || item.test(line) || row.test(line) || mark.test(line);

/** Takes lines off the front as long as they fit. */
export function take(lines: string[], fits: (line: string, at: number) => boolean): string[] {
  let count = 0;
  while (count < lines.length && fits(lines[count]!, count)) count += 1;
  return lines.splice(0, count);
}

const mostOfLink = 1_500; // letters; the server takes 2,000 bytes

/** An address that a link may lead to, as the server takes it; what has another is words. */
export function safeLink(url: string): string | undefined {
  const isLink = /^(https?:\/\/[^/?#@]+([/?#]|$)|mailto:.)/i.test(url) && !/[\s<>"{}|\\^`]/.test(url) && url.length <= mostOfLink;
  return isLink && URL.canParse(url) ? url : undefined;
}
