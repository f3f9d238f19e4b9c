// The editor itself, around ProseMirror: its keys, its rules, what is pasted and dropped.
import { baseKeymap, chainCommands, deleteSelection, toggleMark } from "prosemirror-commands";
import { dropCursor } from "prosemirror-dropcursor";
import { history, redo, undo } from "prosemirror-history";
import { InputRule, inputRules } from "prosemirror-inputrules";
import { keymap } from "prosemirror-keymap";
import type { Node, Slice } from "prosemirror-model";
import { EditorState, Plugin, type Command, type Transaction } from "prosemirror-state";
import { Decoration, DecorationSet, EditorView } from "prosemirror-view";
import { newId } from "../app/newId";
import { t } from "../app/words";
import { safeLink } from "../parts/markdownLines";
import { become, insertBlocks, insertNodes, joinAfter, joinBefore, leave, lift, nest, shift, split, toggleCheck } from "./commands";
import type { Block } from "./model";
import { blocksOfMarkdown, looksLikeMarkdown, spansOfLine } from "./paste";
import { isPicture } from "../parts/upload";
import { lineView, wholeView } from "./nodeViews";
import { blockNode, childrenOf, docOf, eachBlock, schema, takesBlocks } from "./schema";

export interface Slash {
  query: string;
  /** Where the slash is, on the screen. */
  left: number;
  bottom: number;
  /** Takes what was written away, and runs the command. */
  choose(command: Command): void;
}
export interface Host {
  editable: boolean;
  label: string;
  onChange(doc: Node): void;
  onSlash(slash: Slash | null): void;
  /** A key while the menu is open; whether it was used. */
  onSlashKey(key: string): boolean;
  /** Pictures that were pasted or dropped; they go behind this block, or to the end. */
  onPictures?: (files: File[], block: string | undefined) => void;
  onBlur(): void;
}

const { nodes, marks } = schema;

/** Ids are there and unique, also after pasting and splitting; a copy begins as a new block. */
const uniqueIds = new Plugin({
  appendTransaction(transactions, _, state) {
    if (!transactions.some((each) => each.docChanged)) return null;
    const seen = new Set<string>();
    const tr = state.tr;
    eachBlock(state.doc, (block, at) => {
      const id = block.attrs.id as string;
      if (!id || seen.has(id)) tr.setNodeMarkup(at, undefined, { id: newId(), version: 0 });
      seen.add(id);
    });
    return tr.docChanged ? tr.setMeta("addToHistory", false) : null;
  },
});

/** What stands below a block that takes none, as after a deletion or a paste, comes out behind it. */
const noneBelow = new Plugin({
  appendTransaction(transactions, _, state) {
    if (!transactions.some((each) => each.docChanged && !each.getMeta("remote"))) return null;
    let tr: Transaction | undefined; // of the first; it is looked at once more after that
    eachBlock(state.doc, (block, at) => {
      if (tr || block.childCount === 1 || takesBlocks(block.firstChild!)) return;
      const from = at + 1 + block.firstChild!.nodeSize;
      const group = block.child(1);
      // The block ends before what was below it, which has its place behind it.
      tr = state.tr.delete(from, from + group.nodeSize).insert(from + 1, group.content);
    });
    return tr;
  },
});

const placeholder = new Plugin({
  props: {
    decorations({ doc, selection }) {
      const { $from, empty } = selection;
      const isBlank = doc.textContent === "" && doc.firstChild!.childCount === 1;
      if (!empty || $from.parent.type !== nodes.line || $from.parent.content.size) return null;
      const words = isBlank ? t("Write, or press / for blocks") : t("/ for blocks");
      return DecorationSet.create(doc, [Decoration.node($from.before(), $from.after(), { class: "placeholder", "data-placeholder": words })]);
    },
  },
});

const lineRule = (pattern: RegExp, type: string, props: (found: RegExpMatchArray) => Record<string, unknown> = () => ({})) =>
  new InputRule(pattern, (state, found, start, end) => {
    const { $from } = state.selection;
    if ($from.parent.type !== nodes.line || $from.parent.attrs.type !== "paragraph") return null;
    let made: Transaction | null = null;
    become(type, props(found), end - start)(state, (tr) => (made = tr));
    return made;
  });

/** What stands between two signs of Markdown gets the mark when the second is complete. Not within words: 2*3*4 stays. */
const markRule = (sign: string, mark: string) => {
  const [first] = sign;
  const signs = `\\${[...sign].join("\\")}`;
  const inner = mark === "code" ? "[^`]+" : `[^\\s${first}](?:[^${first}]*[^\\s${first}])?`;
  return new InputRule(new RegExp(`(?:^|[\\s("'])${signs}(${inner})${signs}$`), (state, found, start, end) => {
    const from = start + found[0].indexOf(sign);
    const to = from + sign.length + found[1]!.length;
    if (state.selection.$from.parent.type !== nodes.line || state.doc.rangeHasMark(from, end, marks.code!)) return null;
    return state.tr.delete(to, end).delete(from, from + sign.length).addMark(from, to - sign.length, marks[mark]!.create()).removeStoredMark(marks[mark]!);
  });
};

const rules = inputRules({
  rules: [
    markRule("**", "bold"), markRule("*", "italic"), markRule("~~", "strike"), markRule("`", "code"),
    lineRule(/^# $/, "heading_1"), lineRule(/^## $/, "heading_2"), lineRule(/^### $/, "heading_3"), lineRule(/^#### $/, "heading_4"),
    lineRule(/^[-*+] $/, "bulleted_list_item"), lineRule(/^1[.)] $/, "numbered_list_item"),
    lineRule(/^\[([ x]?)\] $/, "to_do", ([, mark]) => ({ checked: mark === "x" })),
    lineRule(/^> $/, "quote"), lineRule(/^``` $/, "code", () => ({ language: "plain text" })),
  ],
});

/** The words from the slash to the cursor, while a command is being written. */
function slashAt(state: EditorState): { query: string; from: number } | null {
  const { $from, empty } = state.selection;
  if (!empty || $from.parent.type !== nodes.line) return null;
  const before = $from.parent.textBetween(0, $from.parentOffset, undefined, "\ufffc");
  const found = /(?:^|\s)\/((?:\p{L}[\p{L}\d ]{0,19})?)$/u.exec(before); // "120 km / h" and "1 /2" are none
  return found ? { query: found[1]!, from: $from.pos - found[1]!.length - 1 } : null;
}

function slashPlugin(host: Host) {
  let closedAt = -1; // Escape closes the menu of one slash
  let open = false;
  return new Plugin({
    view: () => ({
      update(view, previous) {
        if (previous.doc.eq(view.state.doc) && previous.selection.eq(view.state.selection)) return;
        const found = slashAt(view.state);
        if (!found || found.from === closedAt) {
          if (!found) closedAt = -1;
          if (open) host.onSlash(null);
          open = false;
          return;
        }
        open = true;
        const { left, bottom } = view.coordsAtPos(found.from);
        host.onSlash({
          query: found.query, left, bottom,
          choose(command) {
            const now = slashAt(view.state);
            if (now) view.dispatch(view.state.tr.delete(now.from, view.state.selection.from));
            command(view.state, view.dispatch, view);
            view.focus();
          },
        });
      },
      destroy: () => host.onSlash(null),
    }),
    props: {
      handleKeyDown(view, event) {
        if (!open) return false;
        if (event.key === "Escape") {
          closedAt = slashAt(view.state)?.from ?? -1;
          open = false;
          host.onSlash(null);
          return true;
        }
        return /^(Arrow(Up|Down)|Enter|Tab)$/.test(event.key) && host.onSlashKey(event.key);
      },
    },
  });
}

const addLink: Command = (state, dispatch) => {
  if (state.selection.empty) return false;
  if (dispatch) {
    const given = window.prompt(t("Address of the link; empty takes it away"), "https://");
    if (given === null) return true;
    const { from, to } = state.selection;
    const url = safeLink(given.trim());
    const tr = state.tr.removeMark(from, to, marks.link);
    dispatch(url && url !== "https://" ? tr.addMark(from, to, marks.link!.create({ value: url })) : tr);
  }
  return true;
};

const keys = () => keymap({
  Escape: leave,
  Enter: split,
  "Shift-Enter": (state, dispatch) => { dispatch?.(state.tr.insertText("\n").scrollIntoView()); return true; },
  Tab: nest, "Shift-Tab": lift,
  "Alt-Shift-ArrowUp": shift(-1), "Alt-Shift-ArrowDown": shift(1),
  Backspace: chainCommands(deleteSelection, joinBefore),
  Delete: chainCommands(deleteSelection, joinAfter),
  "Mod-b": toggleMark(marks.bold!), "Mod-i": toggleMark(marks.italic!), "Mod-u": toggleMark(marks.underline!), "Mod-e": toggleMark(marks.code!),
  "Mod-Shift-x": toggleMark(marks.strike!), "Mod-l": addLink, "Mod-Enter": toggleCheck,
  "Mod-z": undo, "Mod-y": redo, "Mod-Shift-z": redo,
});

/** Whole blocks that were copied in an editor like this one; undefined where it is a piece of a line. */
function copiedBlocks({ content }: Slice): Node[] | undefined {
  while (content.childCount === 1 && content.firstChild!.type === nodes.group) content = content.firstChild!.content;
  const [first] = childrenOf(content);
  if (first?.type !== nodes.block) return undefined;
  return content.childCount > 1 || first.childCount > 1 || first.firstChild!.type === nodes.whole ? childrenOf(content) : undefined;
}

/** A press goes to where it is made, to write there: with Ctrl it follows the link. */
function follow(event: MouseEvent, editable: boolean): boolean {
  const link = (event.target as HTMLElement).closest<HTMLAnchorElement>(".line a[href]");
  if (!link || !editable || !(event.ctrlKey || event.metaKey)) return false;
  window.open(link.href, "_blank", "noopener,noreferrer");
  event.preventDefault();
  return true;
}

export function createEditor(place: HTMLElement, blocks: Block[], host: Host): EditorView {
  const state = EditorState.create({
    doc: docOf(blocks),
    plugins: [slashPlugin(host), rules, keys(), keymap(baseKeymap), history(), dropCursor(), noneBelow, uniqueIds, placeholder],
  });
  const view: EditorView = new EditorView(place, {
    state,
    editable: () => host.editable,
    attributes: { class: "editor", role: "textbox", "aria-multiline": "true", "aria-label": host.label },
    nodeViews: { line: lineView, whole: wholeView },
    handlePaste(_, event, slice) {
      const pictures = [...(event.clipboardData?.files ?? [])].filter(isPicture);
      if (pictures.length && host.onPictures) {
        host.onPictures(pictures, blockAt(view.state, view.state.selection.from));
        return true;
      }
      const text = event.clipboardData?.getData("text/plain") ?? "";
      const html = event.clipboardData?.getData("text/html") ?? "";
      const copied = copiedBlocks(slice);
      if (html.includes("data-pm-slice") && copied) return insertNodes(copied)(view.state, view.dispatch);
      if (html.includes("data-pm-slice") || view.state.selection.$from.parent.type === nodes.code_block || !looksLikeMarkdown(text)) return false;
      const made = blocksOfMarkdown(text);
      const [only] = made;
      if (made.length === 1 && only!.type === "paragraph") {
        const inline = docOf([{ ...only!, content: spansOfLine(text) }]).firstChild!.firstChild!.firstChild!.content;
        view.dispatch(view.state.tr.replaceWith(view.state.selection.from, view.state.selection.to, inline).scrollIntoView());
        return true;
      }
      return insertBlocks(made)(view.state, view.dispatch);
    },
    handleDrop(_, event) {
      const pictures = [...(event.dataTransfer?.files ?? [])].filter(isPicture);
      if (pictures.length === 0 || !host.onPictures) return false;
      const at = view.posAtCoords({ left: event.clientX, top: event.clientY });
      host.onPictures(pictures, at ? blockAt(view.state, at.pos) : undefined);
      event.preventDefault();
      return true;
    },
    handleDOMEvents: { blur: () => (host.onBlur(), false), click: (_, event) => follow(event, host.editable) },
    dispatchTransaction(tr) {
      view.updateState(view.state.apply(tr));
      if (tr.docChanged && !tr.getMeta("remote")) host.onChange(view.state.doc);
    },
  });
  return view;
}

/** The block that a place is in. */
export function blockAt({ doc }: EditorState, at: number): string | undefined {
  const $at = doc.resolve(at);
  for (let depth = $at.depth; depth > 0; depth -= 1) if ($at.node(depth).type === nodes.block) return $at.node(depth).attrs.id as string;
  return undefined;
}

/** Gives blocks with these ids others, whatever is undone later. */
export function renewIds(view: EditorView, spent: ReadonlySet<string>) {
  const tr = view.state.tr.setMeta("remote", true).setMeta("addToHistory", false);
  eachBlock(view.state.doc, (block, at) => {
    if (spent.has(block.attrs.id as string)) tr.setNodeMarkup(at, undefined, { id: newId(), version: 0 });
  });
  view.dispatch(tr);
}

/** Puts a block behind another one, in front of one that is blank, or at the end when that is gone; the
    cursor stays where it is. */
export function insertBehind(view: EditorView, after: string | undefined, block: Block) {
  const { doc } = view.state;
  let place = doc.content.size - 1;
  eachBlock(doc, (node, at) => {
    const isBlank = node.childCount === 1 && node.firstChild!.type === nodes.line && node.firstChild!.content.size === 0;
    if (node.attrs.id === after) place = isBlank ? at : at + node.nodeSize;
  });
  view.dispatch(view.state.tr.insert(place, blockNode(block)).scrollIntoView());
}
