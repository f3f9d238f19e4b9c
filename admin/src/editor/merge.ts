// One text that two have changed at once: both changes are in the result, and no word of either is lost.
import type { Span } from "./model";
import { joined } from "./rich";
import { said } from "./said";

/** A character with its marks, or something that is kept as one. */
interface Unit {
  text: string;
  /** Tells units apart. */
  key: string;
  span: Span;
}
/** A word, or a single character between words. */
interface Token {
  units: Unit[];
  key: string;
  /** What it says, however that looks. */
  words: string;
  isWord: boolean;
}

function unitsOf(spans: Span[]): Unit[] {
  return spans.flatMap((span): Unit[] => {
    const style = said([span.marks ?? {}, span.whole ?? null]);
    const pieces = span.whole ? [span.text] : [...span.text];
    return pieces.map((text) => ({ text, key: text + style, span }));
  });
}

function tokensOf(spans: Span[]): Token[] {
  const tokens: Token[] = [];
  for (const unit of unitsOf(spans)) {
    const isWord = !unit.span.whole && /[\p{L}\p{N}]/u.test(unit.text);
    const last = tokens.at(-1);
    if (isWord && last?.isWord) {
      last.units.push(unit);
      last.key += unit.key;
      last.words += unit.text;
    } else tokens.push({ units: [unit], key: unit.key, words: unit.span.whole ? unit.key : unit.text, isWord });
  }
  return tokens;
}

/** What of a list of tokens is replaced by what. */
interface Change {
  from: number;
  to: number;
  tokens: Token[];
}

const mostCompared = 1_000_000; // pairs of tokens; of longer texts one stretch is taken

/** Token by token, so that changes in several places are several. */
function changesOf(before: Token[], after: Token[], by: "key" | "words" = "key"): Change[] {
  let start = 0;
  const most = Math.min(before.length, after.length);
  while (start < most && before[start]![by] === after[start]![by]) start += 1;
  let end = 0;
  while (end < most - start && before[before.length - 1 - end]![by] === after[after.length - 1 - end]![by]) end += 1;
  const [a, b] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  if (a.length === 0 && b.length === 0) return [];
  if (a.length * b.length > mostCompared) return [{ from: start, to: start + a.length, tokens: b }];
  // How long the longest common sequence is from two tokens on.
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      common[i * width + j] = a[i]![by] === b[j]![by] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const changes: Change[] = [];
  let open: Change | undefined;
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i]![by] === b[j]![by]) {
      open = undefined;
      i += 1;
      j += 1;
      continue;
    }
    if (!open) changes.push((open = { from: start + i, to: start + i, tokens: [] }));
    if (j < b.length && (i === a.length || common[i * width + j + 1]! >= common[(i + 1) * width + j]!)) open.tokens.push(b[j++]!);
    else open.to = start + ++i;
  }
  return changes;
}

/** A stretch of the base by some changes within it. */
function changed(base: Token[], from: number, to: number, changes: Change[]): Token[] {
  const parts: Token[][] = [];
  let at = from;
  for (const each of changes) {
    parts.push(base.slice(at, each.from), each.tokens);
    at = each.to;
  }
  return [...parts, base.slice(at, to)].flat();
}

const keyOf = (tokens: Token[]) => tokens.map(({ key }) => key).join("");

/** The places in both of the words that have stayed. */
function stayed(before: Token[], after: Token[]): [number, number][] {
  const places: [number, number][] = [];
  let [i, j] = [0, 0];
  for (const { from, to, tokens } of [...changesOf(before, after, "words"), { from: before.length, to: before.length, tokens: [] }]) {
    while (i < from) places.push([i++, j++]);
    [i, j] = [to, j + tokens.length];
  }
  return places;
}

/** The same three texts, where all words that have stayed look as whoever changed their looks has them, of two I: that
    is no change of words any more. */
function alike(base: Token[], theirs: Token[], mine: Token[]): [Token[], Token[], Token[]] {
  const looks = [...base];
  const sides = [theirs, mine].map((side) => ({ side: [...side], places: stayed(base, side) }));
  for (const { side, places } of sides) for (const [i, j] of places) if (side[j]!.key !== base[i]!.key) looks[i] = side[j]!;
  for (const { side, places } of sides) for (const [i, j] of places) side[j] = looks[i]!;
  return [looks, sides[0]!.side, sides[1]!.side];
}

/** One stretch that both have changed: what only one of them has changed is theirs, what goes on with the other's words,
    as after an answer that was lost, has these once, and all else is there as both have it, theirs first. */
function bothOf(base: Token[], theirs: Token[], mine: Token[]): Token[] {
  const [was, left, right] = [base, theirs, mine].map(keyOf) as [string, string, string];
  if (left === was) return mine;
  if (right === was || left.startsWith(right)) return theirs;
  if (right.startsWith(left)) return mine;
  return [...theirs, ...mine];
}

const isInsertion = ({ from, to }: Change) => from === to;
/** Whether a change is of the stretch that ends at `to`: what is put in at its end is behind it. */
const touches = (change: Change | undefined, from: number, to: number) =>
  change !== undefined && (change.from < to || (change.from === from && to === from && isInsertion(change)));

/** The text with all changes of `base` that two have made. */
export function mergeSpans(base: Span[], theirs: Span[], mine: Span[]): Span[] {
  const [all, ...both] = alike(tokensOf(base), tokensOf(theirs), tokensOf(mine));
  const [left, right] = both.map((each) => changesOf(all, each)) as [Change[], Change[]];
  const parts: Token[][] = [];
  let at = 0;
  while (left.length || right.length) {
    // The next stretch that one has changed, with all that is within it.
    const first = !right[0] || (left[0] && (left[0].from < right[0].from || (left[0].from === right[0].from && isInsertion(left[0])))) ? left : right;
    const { from } = first[0]!;
    let { to } = first[0]!;
    const taken: [Change[], Change[]] = [[], []];
    taken[first === left ? 0 : 1].push(first.shift()!);
    for (;;) {
      const next = touches(left[0], from, to) ? left : touches(right[0], from, to) ? right : undefined;
      if (!next) break;
      to = Math.max(to, next[0]!.to);
      taken[next === left ? 0 : 1].push(next.shift()!);
    }
    parts.push(all.slice(at, from), bothOf(all.slice(from, to), changed(all, from, to, taken[0]), changed(all, from, to, taken[1])));
    at = to;
  }
  return joined(spaced([...parts, all.slice(at)].flat()));
}

/** Words that stood apart and do no more, as the space between them went, do so again. */
const spaced = (tokens: Token[]): Span[] => tokens.flatMap(({ units, isWord }, at) => [
  ...(isWord && tokens[at - 1]?.isWord ? [{ ...units[0]!.span, text: " " }] : []),
  ...units.map(({ text, span }) => ({ ...span, text })),
]);

/** Where a cursor goes when the text around it becomes another. */
export function placeAfter(before: string, after: string, place: number): number {
  let from = 0;
  const most = Math.min(before.length, after.length);
  while (from < most && before[from] === after[from]) from += 1;
  if (place <= from) return place; // what is put right behind it does not push it
  let end = 0;
  while (end < most - from && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  if (place >= before.length - end) return Math.max(0, place + after.length - before.length);
  return Math.min(from, after.length);
}
