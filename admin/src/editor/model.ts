// The editor's view of a card's blocks, and the difference of two such trees as calls on single blocks.
// Every block is a row of the server's: its id stays with it, whatever is done around it.
import { newId } from "../app/newId";
import { mergeSpans } from "./merge";
import { said } from "./said";

export interface Span {
  text: string;
  marks?: Record<string, string | true>;
  /** A mention or an equation, as the server has it: kept as it is. */
  whole?: unknown;
}
export interface Block {
  id: string;
  /** Never changes on the server: another type is another block. */
  type: string;
  /** What there is besides text: checked, language, color … */
  props: Record<string, unknown>;
  content: Span[];
  children: Block[];
  version?: number;
}

export type Op =
  | { op: "create"; block: Block; parent: string | null; after: string | null }
  | { op: "update"; block: Block; was: Block }
  | { op: "move"; id: string; parent: string | null; after: string | null }
  | { op: "delete"; id: string; was: Block };

/** Levels of blocks that are read, and so may be made here. */
export const deepest = 10;

/** Types that hold text and may be edited here; all others are shown, moved and deleted as one. */
export const textTypes = [
  "paragraph", "heading_1", "heading_2", "heading_3", "heading_4", "bulleted_list_item", "numbered_list_item", "to_do", "toggle", "quote", "callout", "code",
] as const;
export const isText = (type: string) => (textTypes as readonly string[]).includes(type);

interface Flat {
  block: Block;
  parent: string | null;
  after: string | null;
  at: number;
}

/** All of them, each before those below it. */
export const flat = (blocks: Block[]): Block[] => blocks.flatMap((block) => [block, ...flat(block.children)]);

/** By id, in the order of the tree; what is below a block that is kept as one is a part of it. */
function flatten(tree: Block[], parent: string | null = null, out = new Map<string, Flat>()) {
  let after: string | null = null;
  tree.forEach((block, at) => {
    out.set(block.id, { block, parent, after, at });
    if (isText(block.type)) flatten(block.children, block.id, out);
    after = block.id;
  });
  return out;
}

const owns = new WeakMap<Block, string>();

/** What a block says, with what is below it where it is kept as one. */
function own(block: Block): string {
  const known = owns.get(block);
  if (known !== undefined) return known;
  const { type, props, content, children } = block;
  const all = said([type, props, content, isText(type) ? 0 : children.map(own)]);
  owns.set(block, all);
  return all;
}
export const sameContent = (a: Block, b: Block) => own(a) === own(b);

/** The longest rising run: those that may stay where they are while the others move. */
export function risingRun(values: number[]): Set<number> {
  const tails: number[] = [];
  const before = new Array<number>(values.length).fill(-1);
  values.forEach((value, at) => {
    let low = 0;
    for (let high = tails.length; low < high;) {
      const middle = (low + high) >> 1;
      if (values[tails[middle]!]! < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[at] = tails[low - 1]!;
    tails[low] = at;
  });
  const kept = new Set<number>();
  for (let at = tails.at(-1) ?? -1; at >= 0; at = before[at]!) kept.add(at);
  return kept;
}

/** The calls that make `next` of `previous`, in an order in which each finds what it names. */
export function difference(previous: Block[], next: Block[]): Op[] {
  const [a, b] = [flatten(previous), flatten(next)];
  const staying = new Set<string>();
  const siblings = new Map<string | null, string[]>();
  for (const [id, { parent }] of b) siblings.set(parent, [...(siblings.get(parent) ?? []), id]);
  for (const [parent, ids] of siblings) {
    const known = ids.filter((id) => a.get(id)?.parent === parent && a.has(id));
    const run = risingRun(known.map((id) => a.get(id)!.at));
    known.forEach((id, at) => { if (run.has(at)) staying.add(id); });
  }
  const ops: Op[] = [];
  for (const [id, { block, parent, after }] of b) {
    const was = a.get(id);
    if (!was) {
      ops.push({ op: "create", block, parent, after });
      continue;
    }
    // It names the version that the block has, which a move of the same block would raise.
    if (!sameContent(was.block, block)) ops.push({ op: "update", block, was: was.block });
    if (!staying.has(id)) ops.push({ op: "move", id, parent, after });
  }
  // Last, so that nothing that stays goes with what it was below.
  for (const [id, { block, parent }] of a) if (!b.has(id) && (parent === null || b.has(parent))) ops.push({ op: "delete", id, was: block });
  return ops;
}

/** Whether a block says what it said, and so does all that is below it: what is not there any more does not count. */
function isWithin(block: Block, was: Block): boolean {
  const below = new Map(was.children.map((child) => [child.id, child]));
  return sameContent(block, was) && block.children.every((child) => below.has(child.id) && isWithin(child, below.get(child.id)!));
}

/** Both changes of a block: text is merged; of the rest, what only they have changed is theirs. */
function merged(was: Block, theirs: Block, mine: Block): Pick<Block, "type" | "props" | "content"> {
  const same = (a: unknown, b: unknown) => said(a) === said(b);
  return {
    type: mine.type,
    props: same(was.props, mine.props) ? theirs.props : mine.props,
    content: same(was.content, theirs.content) ? mine.content : mergeSpans(was.content, theirs.content, mine.content),
  };
}

/** The tree after these calls, which may have changed since they were made: then both changes are in it.
    What they name and is gone does not stop them: text that was written into a block that somebody
    deleted comes back as a block of its own, and a block that somebody has written in is not deleted. */
export function applyOps(tree: Block[], ops: Op[], makeId: () => string = newId): Block[] {
  const root: Block = { id: "", type: "", props: {}, content: [], children: structuredClone(tree) };
  const index = () => {
    const parents = new Map<string, Block>();
    const walk = (parent: Block) => parent.children.forEach((child) => { parents.set(child.id, parent); walk(child); });
    walk(root);
    return parents;
  };
  let parents = index();
  const find = (id: string) => parents.get(id)?.children.find((child) => child.id === id);
  const put = (block: Block, parent: string | null, after: string | null) => {
    const into = (parent !== null && find(parent)) || root;
    const at = after === null ? 0 : into.children.findIndex(({ id }) => id === after) + 1 || into.children.length;
    into.children.splice(at, 0, block);
    parents = index();
  };
  const take = (id: string) => {
    const siblings = parents.get(id)?.children;
    const at = siblings?.findIndex((child) => child.id === id) ?? -1;
    const [taken] = at >= 0 ? siblings!.splice(at, 1) : [];
    parents = index();
    return taken;
  };
  for (const op of ops) {
    if (op.op === "create") {
      const there = find(op.block.id);
      const { props, content } = structuredClone(op.block);
      if (there) Object.assign(there, { props, content }); // made before; what is written in it now counts
      else put({ ...op.block, props, content, children: isText(op.block.type) ? [] : op.block.children }, op.parent, op.after);
    } else if (op.op === "move") {
      const within = (id: string | null): boolean => id !== null && (id === op.id || within(parents.get(id)?.id || null));
      if (within(op.parent)) continue;
      const moved = take(op.id);
      if (moved) put(moved, op.parent, op.after);
    } else if (op.op === "update") {
      const known = find(op.block.id);
      const { type, props, content } = structuredClone(op.block);
      if (known) Object.assign(known, structuredClone(merged(op.was, known, op.block)));
      else put({ id: makeId(), type, props, content, children: [] }, null, root.children.at(-1)?.id ?? null);
    } else {
      const known = find(op.id);
      if (known && isWithin(known, op.was)) take(op.id);
    }
  }
  return root.children;
}
