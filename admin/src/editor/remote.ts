// What others have written, put into a document that somebody is writing in.
import { Fragment, type Node, type ResolvedPos } from "prosemirror-model";
import { TextSelection, type EditorState, type Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { placeAfter } from "./merge";
import { risingRun, type Block } from "./model";
import { childrenOf, docOf, eachBlock, schema } from "./schema";
import { blockAt } from "./view";

const { nodes } = schema;
const idOf = (block: Node) => block.attrs.id as string;

/** The blocks as a document, with the nodes that are shown now for those that are as they were. */
function docLike(shown: Node, blocks: Block[]): Node {
  const known = new Map<string, Node>();
  eachBlock(shown, (block) => known.set(idOf(block), block));
  const as = (node: Node): Node => {
    if (node.isLeaf || node.isTextblock) return node;
    const content = Fragment.from(childrenOf(node).map(as));
    const was = node.type === nodes.block ? known.get(idOf(node)) : undefined;
    if (was?.content.eq(content)) return was;
    // That an empty block is the server's matters, and no version else.
    const isEmpty = content.firstChild?.content.size === 0;
    return was && !isEmpty ? nodes.block!.create(was.attrs, content) : node.copy(content);
  };
  return as(docOf(blocks));
}

/** Makes the other document of the one that is shown, and leaves alone what is the same: what was done to that can be undone. */
function replaced(state: EditorState, next: Node): Transaction {
  const { doc, tr } = state;
  patchGroup(tr, 1, doc.firstChild!, next.firstChild!);
  return tr.doc.eq(next) ? tr : state.tr.replaceWith(0, doc.content.size, next.content);
}

/** `start` is where its first block begins. From the last to the first, so that places before stay what they are. */
function patchGroup(tr: Transaction, start: number, old: Node, next: Node) {
  const [before, after] = [childrenOf(old), childrenOf(next)];
  const at = new Map(before.map((block, index) => [idOf(block), index]));
  const both = after.flatMap((block, index) => (at.has(idOf(block)) ? [{ index, was: at.get(idOf(block))! }] : []));
  const run = risingRun(both.map(({ was }) => was));
  const kept = both.filter((_, index) => run.has(index));
  const starts = before.map(() => 0);
  before.reduce((place, block, index) => (starts[index] = place) + block.nodeSize, start);
  let [oldEnd, newEnd, end] = [before.length, after.length, start + old.content.size];
  for (let one = kept.length - 1; one >= -1; one -= 1) {
    const { index, was } = kept[one] ?? { index: -1, was: -1 };
    const from = was < 0 ? start : starts[was]! + before[was]!.nodeSize;
    if (oldEnd > was + 1 || newEnd > index + 1) tr.replaceWith(from, end, after.slice(index + 1, newEnd));
    if (was < 0) break;
    patchBlock(tr, starts[was]!, before[was]!, after[index]!);
    [oldEnd, newEnd, end] = [was, index, starts[was]!];
  }
}

function patchBlock(tr: Transaction, at: number, old: Node, next: Node) {
  if (old.eq(next)) return;
  const [leaf, other] = [old.firstChild!, next.firstChild!];
  const below = at + 1 + leaf.nodeSize;
  if (!old.sameMarkup(next)) return void tr.replaceWith(at, at + old.nodeSize, next);
  if (old.childCount > 1 && next.childCount > 1) patchGroup(tr, below + 1, old.child(1), next.child(1));
  else if (old.childCount > 1) tr.delete(below, below + old.child(1).nodeSize);
  else if (next.childCount > 1) tr.insert(below, next.child(1));
  const from = leaf.content.findDiffStart(other.content);
  const end = leaf.content.findDiffEnd(other.content);
  if (!leaf.sameMarkup(other)) tr.replaceWith(at + 1, below, other);
  else if (from !== null && end) {
    const overlap = Math.max(0, from - Math.min(end.a, end.b));
    tr.replace(at + 2 + from, at + 2 + end.a + overlap, other.slice(from, end.b + overlap));
  }
}

/** Puts other blocks in place, as somebody else has made them; cursor and selection stay in their blocks, and what
    was done before can be undone. */
export function replaceDoc(view: EditorView, blocks: Block[]) {
  const { $anchor, $head } = view.state.selection;
  const tr = replaced(view.state, docLike(view.state.doc, blocks)).setMeta("remote", true).setMeta("addToHistory", false);
  const [anchor, head] = [$anchor, $head].map((at) => placeIn(tr.doc, at, blockAt(view.state, at.pos)));
  if (view.state.selection instanceof TextSelection && anchor !== undefined && head !== undefined)
    tr.setSelection(TextSelection.between(tr.doc.resolve(anchor), tr.doc.resolve(head)));
  view.dispatch(tr);
}

/** Where in the changed document a place of the same block is. */
function placeIn(doc: Node, $at: ResolvedPos, id: string | undefined): number | undefined {
  let place: number | undefined;
  eachBlock(doc, (block, at) => {
    if (idOf(block) === id) place = at;
  });
  if (place === undefined) return undefined;
  const leaf = doc.nodeAt(place + 1);
  // Pieces count as one in places and in texts.
  const words = (node: Node) => node.textBetween(0, node.content.size, undefined, "\ufffc");
  const offset = leaf?.isTextblock && $at.parent.isTextblock ? placeAfter(words($at.parent), words(leaf), $at.parentOffset) : 0;
  return place + 2 + Math.min(offset, leaf?.content.size ?? 0);
}
