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

interface Change {
  from: number;
  to: number;
  units: Unit[];
}

/** What was replaced by what, as one stretch. */
function changeOf(before: Unit[], after: Unit[]): Change {
  let from = 0;
  const most = Math.min(before.length, after.length);
  while (from < most && before[from]!.key === after[from]!.key) from += 1;
  let end = 0;
  while (end < most - from && before[before.length - 1 - end]!.key === after[after.length - 1 - end]!.key) end += 1;
  return { from, to: before.length - end, units: after.slice(from, after.length - end) };
}

/** The text with both changes of `base`. Where they meet, theirs stands first. */
export function mergeSpans(base: Span[], theirs: Span[], mine: Span[]): Span[] {
  const all = unitsOf(base);
  const [a, b] = [changeOf(all, unitsOf(theirs)), changeOf(all, unitsOf(mine))];
  if (a.to <= b.from) return spansOf([...all.slice(0, a.from), ...a.units, ...all.slice(a.to, b.from), ...b.units, ...all.slice(b.to)]);
  if (b.to <= a.from) return spansOf([...all.slice(0, b.from), ...b.units, ...all.slice(b.to, a.from), ...a.units, ...all.slice(a.to)]);
  const same = a.from === b.from && a.to === b.to && a.units.map(({ key }) => key).join() === b.units.map(({ key }) => key).join();
  const [from, to] = [Math.min(a.from, b.from), Math.max(a.to, b.to)];
  return spansOf([...all.slice(0, from), ...all.slice(from, a.from), ...a.units, ...all.slice(a.to, to), ...(same ? [] : b.units), ...all.slice(to)]);
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
