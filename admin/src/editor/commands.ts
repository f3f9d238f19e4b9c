// What keys do to blocks: Enter splits, Tab puts a block below the one above, Alt with an arrow moves it.
import { Fragment, Slice, type Node } from "prosemirror-model";
import { NodeSelection, TextSelection, type Command, type EditorState } from "prosemirror-state";
import { newId } from "../app/newId";
import { blockNode, childrenOf, emptyBlock, schema, takesBlocks } from "./schema";
import { deepest, type Block } from "./model";

const { nodes } = schema;

/** How deep the block is in which the selection begins; -1 in none. */
export function blockDepth({ selection: { $from } }: Pick<EditorState, "selection">): number {
  for (let depth = $from.depth; depth > 0; depth -= 1) if ($from.node(depth).type === nodes.block) return depth;
  return -1;
}

/** 1 of a block at the top, by its depth in the document. */
const levelOf = (depth: number) => depth / 2;
const heightOf = (block: Node): number => 1 + (block.childCount > 1 ? Math.max(...childrenOf(block.child(1)).map(heightOf)) : 0);
const ordinary = (type: string) => /^heading|^quote|^callout|^toggle/.test(type);

/** Another type is another block on the server: it has a new id, and its text and what is below go with it. */
export const become = (type: string, props: Record<string, unknown> = {}, cut = 0): Command => (state, dispatch) => {
  const depth = blockDepth(state);
  if (depth < 0) return false;
  const { $from } = state.selection;
  const block = $from.node(depth);
  const at = $from.before(depth);
  const leaf = block.firstChild!;
  if (leaf.type === nodes.whole) return false;
  if (dispatch) {
    const content = leaf.content.cut(cut);
    const next = type === "code"
      ? nodes.code_block!.create({ props }, leaf.textContent.slice(cut) ? schema.text(leaf.textContent.slice(cut)) : null)
      : nodes.line!.create({ type, props }, content);
    const group = block.childCount > 1 ? block.child(1) : null;
    const below = group && takesBlocks(next) ? [group] : [];
    const after = group && !takesBlocks(next) ? group.content : Fragment.empty;
    const made = nodes.block!.create({ id: newId(), version: 0 }, [next, ...below]);
    const tr = state.tr.replaceWith(at, at + block.nodeSize, Fragment.from(made).append(after));
    const offset = Math.max(0, Math.min($from.parentOffset - cut, next.content.size));
    dispatch(tr.setSelection(TextSelection.create(tr.doc, at + 2 + offset)).scrollIntoView());
  }
  return true;
};

export const split: Command = (state, dispatch, view) => {
  const depth = blockDepth(state);
  const { $from, $to } = state.selection;
  if (state.selection instanceof NodeSelection && state.selection.node.type === nodes.whole) return insertBlocks([emptyBlock()])(state, dispatch);
  if (depth < 0) return false;
  if (!$from.sameParent($to)) {
    if (!view) return false;
    view.dispatch(state.tr.deleteSelection());
    return split(view.state, dispatch, view);
  }
  if ($from.parent.type === nodes.code_block) {
    dispatch?.(state.tr.insertText("\n").scrollIntoView());
    return true;
  }
  const type = $from.parent.attrs.type as string;
  // An empty item of a list ends it.
  if ($from.parent.content.size === 0 && type !== "paragraph") return (depth > 3 && /list|to_do/.test(type) ? lift : become("paragraph"))(state, dispatch);
  if (!dispatch) return true;
  const tr = state.tr;
  if (!state.selection.empty) tr.deleteSelection();
  const $cut = tr.doc.resolve(tr.mapping.map($from.pos));
  const rest = $cut.parent.content.cut($cut.parentOffset);
  const next = ordinary(type) ? nodes.line!.create({ type: "paragraph", props: {} }, rest)
    : nodes.line!.create({ type, props: type === "to_do" ? { ...$cut.parent.attrs.props, checked: false } : $cut.parent.attrs.props }, rest);
  const fresh = nodes.block!.create({ id: newId(), version: 0 }, [next]);
  if (rest.size) tr.delete($cut.pos, $cut.end());
  const block = $from.node(depth);
  const end = tr.mapping.map($from.end(depth));
  // With blocks below, the next is the first of them.
  const at = block.childCount > 1 ? tr.mapping.map($from.after(depth + 1)) + 1 : end + 1;
  tr.insert(at, fresh);
  dispatch(tr.setSelection(TextSelection.create(tr.doc, at + 2)).scrollIntoView());
  return true;
};

/** Puts the block below the one before it. */
export const nest: Command = (state, dispatch) => {
  const depth = blockDepth(state);
  if (depth < 0) return false;
  const { $from } = state.selection;
  const index = $from.index(depth - 1);
  if (index === 0) return true;
  const group = $from.node(depth - 1);
  const before = group.child(index - 1);
  const kind = before.firstChild!;
  if (!takesBlocks(kind) || levelOf(depth) + heightOf($from.node(depth)) > deepest) return true;
  if (dispatch) {
    const block = $from.node(depth);
    const from = $from.before(depth);
    const offset = $from.pos - from;
    const tr = state.tr.delete(from, from + block.nodeSize);
    const at = before.childCount > 1 ? from - 2 : from;
    if (before.childCount > 1) tr.insert(at, block);
    else tr.insert(from - 1, nodes.group!.create(null, block));
    dispatch(tr.setSelection(TextSelection.create(tr.doc, at + offset)).scrollIntoView());
  }
  return true;
};

/** Takes the block out from below its parent; what came after it there goes below it. */
export const lift: Command = (state, dispatch) => {
  const depth = blockDepth(state);
  if (depth < 4) return depth >= 0;
  if (dispatch) {
    const { $from } = state.selection;
    const group = $from.node(depth - 1);
    const index = $from.index(depth - 1);
    const block = $from.node(depth);
    const isLine = takesBlocks(block.firstChild!);
    const later: Node[] = [];
    if (isLine) for (let at = index + 1; at < group.childCount; at += 1) later.push(group.child(at));
    const below = block.childCount > 1 ? childrenOf(block.child(1)) : [];
    const kept = [...below, ...later];
    const lifted = nodes.block!.create(block.attrs, [block.firstChild!, ...(kept.length ? [nodes.group!.create(null, kept)] : [])]);
    const takesGroup = index === 0 && (isLine || group.childCount === 1);
    const from = takesGroup ? $from.before(depth - 1) : $from.before(depth);
    const to = takesGroup ? $from.after(depth - 1) : isLine ? $from.end(depth - 1) : $from.after(depth);
    const tr = state.tr.delete(from, to);
    const at = tr.mapping.map($from.after(depth - 2));
    tr.insert(at, lifted);
    dispatch(tr.setSelection(TextSelection.create(tr.doc, at + ($from.pos - $from.before(depth)))).scrollIntoView());
  }
  return true;
};

/** Changes places with the block before or after it. */
export const shift = (by: -1 | 1): Command => (state, dispatch) => {
  const depth = blockDepth(state);
  if (depth < 0) return false;
  const { $from } = state.selection;
  const group = $from.node(depth - 1);
  const index = $from.index(depth - 1);
  if (index + by < 0 || index + by >= group.childCount) return true;
  if (dispatch) {
    const first = Math.min(index, index + by);
    const [a, b] = [group.child(first), group.child(first + 1)];
    const start = by < 0 ? $from.before(depth) - a.nodeSize : $from.before(depth);
    const tr = state.tr.replace(start, start + a.nodeSize + b.nodeSize, new Slice(Fragment.from([b, a]), 0, 0));
    const base = by < 0 ? start : start + b.nodeSize;
    dispatch(tr.setSelection(TextSelection.create(tr.doc, base + ($from.pos - $from.before(depth)))).scrollIntoView());
  }
  return true;
};

/** At the start of a block: it becomes a paragraph, then comes out, then joins the one before it. */
export const joinBefore: Command = (state, dispatch, view) => {
  const { $from, empty } = state.selection;
  if (!empty || $from.parentOffset > 0 || (view && !view.endOfTextblock("backward", state))) return false;
  const depth = blockDepth(state);
  if (depth < 0) return false;
  if ($from.parent.type !== nodes.line || $from.parent.attrs.type !== "paragraph") return become("paragraph")(state, dispatch);
  const index = $from.index(depth - 1);
  if (index === 0) return depth >= 4 ? lift(state, dispatch) : true;
  // The line that is written last before it takes its words.
  let [before, end] = [$from.node(depth - 1).child(index - 1), $from.before(depth)];
  for (; before.childCount > 1; end -= 2) before = before.child(1).lastChild!;
  return join(end - before.nodeSize + 1, $from.before(depth))(state, dispatch);
};

/** At the end of a line: what is written first behind it joins it. */
export const joinAfter: Command = (state, dispatch, view) => {
  const { $from, empty } = state.selection;
  if (!empty || $from.parentOffset < $from.parent.content.size || (view && !view.endOfTextblock("forward", state))) return false;
  const depth = blockDepth(state);
  if (depth < 0) return false;
  const line = $from.start(depth);
  if ($from.node(depth).childCount > 1) return join(line, line + $from.parent.nodeSize + 1)(state, dispatch);
  // The next beside it, or beside the nearest above it that has one.
  for (let at = depth; at > 0; at -= 2)
    if ($from.index(at - 1) + 1 < $from.node(at - 1).childCount) return join(line, $from.after(at))(state, dispatch);
  return true;
};

/** Puts the words of the block at `from` behind the line at `line`. What is shown as one is selected instead, and
    code and what has blocks below it stay as they are: nothing goes that one does not see go. */
const join = (line: number, from: number): Command => (state, dispatch) => {
  const { doc, tr } = state;
  const [into, block] = [doc.nodeAt(line)!, doc.nodeAt(from)!];
  const other = block.firstChild!;
  const whole = into.type === nodes.whole ? line : other.type === nodes.whole ? from + 1 : undefined;
  if (whole !== undefined) dispatch?.(tr.setSelection(NodeSelection.create(doc, whole)).scrollIntoView());
  else if (into.type === nodes.line && other.type === nodes.line && block.childCount === 1) {
    const edge = doc.resolve(from).parent.childCount === 1 ? 1 : 0; // its group goes with the last of its blocks
    const end = line + into.nodeSize - 1;
    tr.delete(from - edge, from + block.nodeSize + edge).insert(end, other.content);
    dispatch?.(tr.setSelection(TextSelection.create(tr.doc, end)).scrollIntoView());
  }
  return true;
};

export const toggleCheck: Command = (state, dispatch) => {
  const { $from } = state.selection;
  const { type, props } = $from.parent.attrs as { type?: string; props?: Record<string, unknown> };
  if (type !== "to_do") return false;
  dispatch?.(state.tr.setNodeMarkup($from.before(), undefined, { type, props: { ...props, checked: !props?.checked } }));
  return true;
};

/** Puts blocks in place of an empty one, or behind the one with the cursor; words that are selected go. */
export const insertNodes = (made: Node[]): Command => (state, dispatch) => {
  const { tr } = state;
  if (!(tr.selection instanceof NodeSelection)) tr.deleteSelection();
  const depth = blockDepth(tr);
  if (depth < 0 || made.length === 0) return false;
  const { $from } = tr.selection;
  const block = $from.node(depth);
  const isEmpty = block.childCount === 1 && block.firstChild!.type === nodes.line && block.firstChild!.content.size === 0;
  const at = isEmpty ? $from.before(depth) : $from.after(depth);
  tr.replaceWith(at, $from.after(depth), made);
  const end = at + made.reduce((size, node) => size + node.nodeSize, 0);
  dispatch?.(tr.setSelection(TextSelection.near(tr.doc.resolve(end - 1), -1)).scrollIntoView());
  return true;
};

/** Behind a line across the page there is one to write in. */
export const insertBlocks = (blocks: Block[]): Command =>
  insertNodes([...blocks, ...(blocks.at(-1)?.type === "divider" ? [emptyBlock()] : [])].map(blockNode));

/** Tab is the text's own, so there is another way out: what comes next on the page is a Tab away then. */
export const leave: Command = (_state, _dispatch, view) => {
  view?.dom.blur();
  return true;
};
