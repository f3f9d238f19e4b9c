// Of a document: doc → group → block+; a block has its text and perhaps a group of blocks below it. Each
// block carries the id of the server's row.
import { Fragment, Schema, type Mark, type MarkSpec, type Node, type NodeSpec } from "prosemirror-model";
import { newId } from "../app/newId";
import { t } from "../app/words";
import { safeLink } from "../parts/markdownLines";
import { isText, type Block, type Span } from "./model";

const tags: Record<string, string> = { heading_1: "h2", heading_2: "h3", heading_3: "h4", heading_4: "h5", quote: "blockquote" };
const simple = (tag: string, ...also: string[]): MarkSpec => ({ parseDOM: [tag, ...also].map((each) => ({ tag: each })), toDOM: () => [tag, 0] });
const read = (type: string, props: Record<string, unknown> = {}) => () => ({ type, props });

const objectOf = (value: unknown) => (value && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : {});
/** What a copied element says of itself beyond its tag: the clipboard holds it, and any page may have written it. */
const saidBy = (dom: HTMLElement, name: string) => {
  try {
    return objectOf(JSON.parse(dom.dataset[name] ?? "{}"));
  } catch {
    return {};
  }
};
const blocksOf = (value: unknown): Block[] => (Array.isArray(value) ? value : []).map(objectOf).filter(({ type }) => typeof type === "string").map((each) => ({
  id: newId(), type: each.type as string, props: objectOf(each.props), content: [], children: blocksOf(each.children),
}));

const line: NodeSpec = {
  content: "inline*",
  group: "leaf",
  attrs: { type: { default: "paragraph" }, props: { default: {} } },
  defining: true,
  parseDOM: [
    {
      tag: "[data-line]",
      getAttrs: (dom) => {
        const { type, props } = saidBy(dom, "line");
        return typeof type === "string" && isText(type) && type !== "code" && { type, props: objectOf(props) };
      },
    },
    { tag: "p", getAttrs: read("paragraph") },
    { tag: "h1", getAttrs: read("heading_1") }, { tag: "h2", getAttrs: read("heading_2") }, { tag: "h3", getAttrs: read("heading_3") },
    { tag: "h4,h5,h6", getAttrs: read("heading_4") },
    { tag: "ol > li", getAttrs: read("numbered_list_item") }, { tag: "li", getAttrs: read("bulleted_list_item") },
    { tag: "blockquote", getAttrs: read("quote") },
  ],
  toDOM: ({ attrs }) => [tags[attrs.type as string] ?? "p", { class: `line ${attrs.type}`, "data-line": JSON.stringify(attrs), ...(attrs.props.color && attrs.props.color !== "default" && { "data-color": attrs.props.color }) }, 0],
};

export const schema = new Schema({
  nodes: {
    doc: { content: "group" },
    group: { content: "block+", selectable: false, parseDOM: [{ tag: "div.group" }], toDOM: () => ["div", { class: "group" }, 0] },
    block: {
      content: "leaf group?",
      attrs: { id: { default: "" }, version: { default: 0 } },
      defining: true,
      selectable: false,
      parseDOM: [{ tag: "div[data-block]" }], // a copy is a new block
      toDOM: ({ attrs }) => ["div", { class: "block", "data-block": attrs.id }, 0],
    },
    line,
    code_block: {
      content: "text*", group: "leaf", marks: "", code: true, defining: true,
      attrs: { props: { default: {} } },
      parseDOM: [{ tag: "pre", preserveWhitespace: "full", getAttrs: (dom) => ({ props: dom.dataset.language ? { language: dom.dataset.language } : {} }) }],
      toDOM: ({ attrs }) => ["pre", { class: "line code", "data-language": attrs.props.language ?? "" }, ["code", 0]],
    },
    whole: {
      group: "leaf", atom: true, selectable: true,
      attrs: { type: {}, props: { default: {} }, below: { default: [] } },
      parseDOM: [
        {
          tag: "[data-whole]",
          getAttrs: (dom) => {
            const { type, props, below } = saidBy(dom, "whole");
            return typeof type === "string" && !isText(type) && { type, props: objectOf(props), below: blocksOf(below) };
          },
        },
        { tag: "hr", getAttrs: () => ({ type: "divider" }) },
      ],
      toDOM: ({ attrs }) => ["div", { class: "whole", "data-whole": JSON.stringify(attrs) }, ...(attrs.type === "divider" ? [["hr"]] : [])],
    },
    text: { group: "inline" },
    piece: {
      group: "inline", inline: true, atom: true,
      attrs: { text: {}, whole: {} },
      parseDOM: [{
        tag: "[data-piece]",
        getAttrs: (dom) => {
          const { text, whole } = saidBy(dom, "piece");
          return typeof text === "string" && text !== "" && { text, whole: objectOf(whole) };
        },
      }],
      toDOM: ({ attrs }) => ["span", { class: "piece", "data-piece": JSON.stringify(attrs) }, attrs.text],
      leafText: ({ attrs }) => attrs.text as string,
    },
  },
  marks: {
    link: {
      attrs: { value: {} }, inclusive: false,
      parseDOM: [{
        tag: "a[href]",
        getAttrs: (dom) => {
          const value = safeLink(dom.getAttribute("href") ?? "");
          return value !== undefined && { value };
        },
      }],
      toDOM: ({ attrs }) => ["a", { href: attrs.value, rel: "noopener noreferrer" }, 0],
    },
    bold: simple("strong", "b"), italic: simple("em", "i"), strike: simple("s", "del"), underline: simple("u"), code: simple("code"),
    color: { attrs: { value: {} }, toDOM: ({ attrs }) => ["span", { "data-color": attrs.value }, 0] },
  },
});

const { nodes, marks } = schema;

function inlineOf({ text, marks: given, whole }: Span): Node {
  if (whole) return nodes.piece!.create({ text, whole });
  const all = Object.entries(given ?? {}).map(([name, value]): Mark => marks[name]!.create(value === true ? null : { value }));
  return schema.text(text, all);
}

export function leafOf({ type, props, content, children }: Block): Node {
  if (type === "code") {
    const text = content.map((span) => span.text).join("");
    return nodes.code_block!.create({ props }, text ? schema.text(text) : null);
  }
  if (!isText(type)) return nodes.whole!.create({ type, props, below: children });
  return nodes.line!.create({ type, props }, content.filter(({ text }) => text).map(inlineOf));
}

export const blockNode = (block: Block): Node => nodes.block!.create({ id: block.id, version: block.version ?? 0 }, [
  leafOf(block),
  ...(isText(block.type) && block.children.length ? [nodes.group!.create(null, block.children.map(blockNode))] : []),
]);

/** All blocks of a document with their places, each before those below it. */
export function eachBlock(doc: Node, look: (block: Node, at: number) => void) {
  doc.descendants((node, at) => {
    if (node.type === nodes.block) look(node, at);
    return node.type === nodes.block || node.type === nodes.group;
  });
}
export const childrenOf = (node: Node | Fragment): Node[] => Array.from({ length: node.childCount }, (_, at) => node.child(at));

/** Whether the server takes blocks below one that begins like this. */
export const takesBlocks = ({ type, attrs }: Node) =>
  type === nodes.line && (!/^heading/.test(attrs.type as string) || (attrs.props as { is_toggleable?: boolean }).is_toggleable === true);

export const emptyBlock = (): Block => ({ id: newId(), type: "paragraph", props: {}, content: [], children: [] });
export const docOf = (blocks: Block[]) => nodes.doc!.create(null, nodes.group!.create(null, (blocks.length ? blocks : [emptyBlock()]).map(blockNode)));

function spansIn(leaf: Node): Span[] {
  const spans: Span[] = [];
  leaf.forEach((child) => {
    if (child.type === nodes.piece) return void spans.push({ text: child.attrs.text as string, whole: child.attrs.whole });
    const given: Span["marks"] = Object.fromEntries(child.marks.map((mark) => [mark.type.name, (mark.attrs.value as string | undefined) ?? (true as const)]));
    spans.push({ text: child.text ?? "", ...(child.marks.length && { marks: given }) });
  });
  return spans;
}

// What did not change since is converted once.
const known = new WeakMap<Node, Block>();

export function blockIn(node: Node): Block {
  const before = known.get(node);
  if (before) return before;
  const leaf = node.firstChild!;
  const children: Block[] = [];
  if (node.childCount > 1) node.child(1).forEach((child) => void children.push(blockIn(child)));
  const type = leaf.type === nodes.code_block ? "code" : (leaf.attrs.type as string);
  const block: Block = {
    id: node.attrs.id as string, type, props: leaf.attrs.props as Record<string, unknown>, content: spansIn(leaf),
    children: leaf.type === nodes.whole ? (leaf.attrs.below as Block[]) : children, version: (node.attrs.version as number) || undefined,
  };
  known.set(node, block);
  return block;
}

/** The document's blocks; the one empty line of an empty document is none. */
export function blocksIn(doc: Node): Block[] {
  const out: Block[] = [];
  doc.firstChild!.forEach((node) => void out.push(blockIn(node)));
  const [only] = out;
  if (out.length === 1 && only!.type === "paragraph" && only!.content.length === 0 && only!.children.length === 0 && !only!.version) return [];
  return out;
}

/** What is said of a block that is shown as one. */
export function wholeWords(type: string, props: Record<string, unknown>): string {
  const { url, external, name, expression } = props as { url?: string; external?: { url: string }; name?: string; expression?: string };
  const what: Record<string, string> = {
    table: t("Table"), image: t("Picture"), bookmark: t("Link"), embed: t("Embedded page"), file: t("File"), video: t("Video"), audio: t("Sound"), pdf: t("PDF"),
    equation: t("Equation"), column_list: t("Columns"), card_ref: t("Card"), breadcrumb: t("Breadcrumb"), table_of_contents: t("Table of contents"),
  };
  return [what[type] ?? type, name ?? expression ?? url ?? external?.url].filter(Boolean).join(": ");
}
export { Fragment };
