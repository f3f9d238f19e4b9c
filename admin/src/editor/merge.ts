// One text that two have changed at once: both changes are in the result, and no word of either is lost.
import type { Span } from "./model";

/** A character with its marks, or something that is kept as one. */
interface Unit {
  text: string;
  /** Tells units apart. */
  key: string;
  span: Span;
}

function unitsOf(spans: Span[]): Unit[] {
  return spans.flatMap((span): Unit[] => {
    const style = JSON.stringify([span.marks ?? {}, span.whole ?? null]);
    const pieces = span.whole ? [span.text] : [...span.text];
    return pieces.map((text) => ({ text, key: text + style, span }));
  });
}

function spansOf(units: Unit[]): Span[] {
  const out: Span[] = [];
  let style = "";
  for (const { text, key, span } of units) {
    const own = key.slice(text.length);
    const last = out.at(-1);
    if (last && own === style && !span.whole) last.text += text;
    else out.push({ ...span, text });
    style = own;
  }
  return out;
}

/** What of `before` is replaced by what. */
interface Change {
  from: number;
  to: number;
  units: Unit[];
}

/** As one stretch. */
function changeOf(before: Unit[], after: Unit[]): Change {
  let from = 0;
  const most = Math.min(before.length, after.length);
  while (from < most && before[from]!.key === after[from]!.key) from += 1;
  let end = 0;
  while (end < most - from && before[before.length - 1 - end]!.key === after[after.length - 1 - end]!.key) end += 1;
  return { from, to: before.length - end, units: after.slice(from, after.length - end) };
}

/** Words, and what stands between them, as lists of units. */
function wordsOf(units: Unit[]): Unit[][] {
  const words: Unit[][] = [];
  for (const unit of units) {
    const last = words.at(-1);
    if (last && isLetter(unit) && isLetter(last[0]!)) last.push(unit);
    else words.push([unit]);
  }
  return words;
}
const isLetter = ({ text, span }: Unit) => !span.whole && /[\p{L}\p{N}]/u.test(text);
const mostCompared = 1_000_000; // pairs of words; of longer texts one stretch is taken

/** Word by word, so that changes in several places are several. */
function changesOf(before: Unit[], after: Unit[]): Change[] {
  const whole = changeOf(before, after);
  const [a, b] = [wordsOf(before.slice(whole.from, whole.to)), wordsOf(whole.units)];
  if (a.length * b.length > mostCompared) return [whole];
  const [left, right] = [a, b].map((words) => words.map((units) => units.map(({ key }) => key).join())) as [string[], string[]];
  // The longest common sequence of what follows two words.
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      common[i * width + j] = left[i] === right[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const changes: Change[] = [];
  let [i, j, at] = [0, 0, whole.from];
  let open: Change | undefined;
  const change = () => {
    if (!open) changes.push((open = { from: at, to: at, units: [] }));
    return open;
  };
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && left[i] === right[j]) {
      at += a[i]!.length;
      open = undefined;
      i += 1;
      j += 1;
    } else if (j < b.length && (i === a.length || common[i * width + j + 1]! >= common[(i + 1) * width + j]!)) change().units.push(...b[j++]!);
    else {
      change().to = at += a[i++]!.length;
    }
  }
  return changes;
}

/** What a stretch of the base is by some changes within it. */
function changed(base: Unit[], from: number, to: number, changes: Change[]): Unit[] {
  const out: Unit[] = [];
  let at = from;
  for (const each of changes) {
    out.push(...base.slice(at, each.from), ...each.units);
    at = each.to;
  }
  return [...out, ...base.slice(at, to)];
}

const textOf = (units: Unit[]) => units.map(({ key }) => key).join();

/** Both changes of one stretch. Where they meet, theirs stands first; what goes on with the other's words, as after an
    answer that was lost, has these once. */
function bothOf(base: Unit[], theirs: Unit[], mine: Unit[]): Unit[] {
  const [a, b] = [changeOf(base, theirs), changeOf(base, mine)];
  if (a.from === b.from && a.to === b.to) {
    const [shorter, longer] = a.units.length < b.units.length ? [a, b] : [b, a];
    if (textOf(longer.units.slice(0, shorter.units.length)) === textOf(shorter.units)) return changed(base, 0, base.length, [longer]);
  }
  if (a.to <= b.from) return changed(base, 0, base.length, [a, b]);
  if (b.to <= a.from) return changed(base, 0, base.length, [b, a]);
  const [from, to] = [Math.min(a.from, b.from), Math.max(a.to, b.to)];
  return [...base.slice(0, from), ...base.slice(from, a.from), ...a.units, ...base.slice(a.to, to), ...b.units, ...base.slice(to)];
}

/** The text with all changes of `base` that two have made. */
export function mergeSpans(base: Span[], theirs: Span[], mine: Span[]): Span[] {
  const all = unitsOf(base);
  const left = changesOf(all, unitsOf(theirs)), right = changesOf(all, unitsOf(mine));
  const out: Unit[] = [];
  let at = 0;
  while (left.length || right.length) {
    // The next stretch that one has changed, with all that touch it.
    const a: Change[] = [], b: Change[] = [];
    const from = Math.min(left[0]?.from ?? Infinity, right[0]?.from ?? Infinity);
    let to = from;
    for (;;) {
      if (left.length && left[0]!.from <= to) to = Math.max(to, (a.push(left[0]!), left.shift()!).to);
      else if (right.length && right[0]!.from <= to) to = Math.max(to, (b.push(right[0]!), right.shift()!).to);
      else break;
    }
    out.push(...all.slice(at, from), ...bothOf(all.slice(from, to), changed(all, from, to, a), changed(all, from, to, b)));
    at = to;
  }
  return spansOf([...out, ...all.slice(at)]);
}

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
