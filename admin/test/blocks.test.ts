import { describe, expect, test } from "vitest";
import { EditorState, TextSelection, type Command } from "prosemirror-state";
import { applyOps, difference, flat, sameContent, type Block, type Span } from "../src/editor/model";
import { mergeSpans, placeAfter } from "../src/editor/merge";
import { blocksIn, docOf } from "../src/editor/schema";
import { blocksOfMarkdown, looksLikeMarkdown, spansOfLine } from "../src/editor/paste";
import { become, insertBlocks, joinAfter, joinBefore, lift, nest, shift, split } from "../src/editor/commands";
import { richOf, spansOf } from "../src/editor/rich";

let count = 0;
const block = (text: string, children: Block[] = [], type = "paragraph", id = `n${++count}`): Block =>
  ({ id, type, props: {}, content: text ? [{ text }] : [], children });
const bare = (blocks: Block[]): unknown[] => blocks.map(({ id, type, content, children }) => [id, type, content.map(({ text }) => text).join(""), bare(children)]);

describe("the difference of two trees", () => {
  test("typing is one update, nesting one move, deleting takes what is below along", () => {
    const tree = [block("a", [], "paragraph", "a"), block("b", [block("c", [], "paragraph", "c")], "paragraph", "b")];
    const typed = structuredClone(tree);
    typed[0]!.content = [{ text: "a!" }];
    expect(difference(tree, typed)).toMatchObject([{ op: "update", block: { id: "a" } }]);
    expect(difference(tree, [{ ...tree[0]!, children: [tree[1]!] }])).toEqual([{ op: "move", id: "b", parent: "a", after: null }]);
    expect(difference(tree, [tree[0]!])).toMatchObject([{ op: "delete", id: "b" }]);
    expect(difference(tree, structuredClone(tree))).toEqual([]);
  });

  test("a block that is changed and moved is changed first: its version is that of before", () => {
    const tree = [block("a", [], "paragraph", "a"), block("b", [], "paragraph", "b"), block("c", [], "paragraph", "c")];
    const next = [{ ...tree[2]!, content: [{ text: "c!" }] }, tree[0]!, tree[1]!];
    expect(difference(tree, next).map((op) => op.op)).toEqual(["update", "move"]);
  });

  test("the order of fields is no difference, but what is below a table is one", () => {
    const bold = (marks: object) => ({ ...block("x", [], "paragraph", "a"), content: [{ text: "x", marks: marks as never }] });
    expect(difference([bold({ bold: true, link: "l" })], [bold({ link: "l", bold: true })])).toEqual([]);
    const table = (cell: string) => block("", [{ ...block("", [], "table_row", "r"), props: { cells: [cell] } }], "table", "t");
    expect(difference([table("1")], [table("1")])).toEqual([]);
    expect(difference([table("1")], [table("2")])).toMatchObject([{ op: "update", block: { id: "t" } }]);
  });

  test("one of many that goes to the end is one move", () => {
    const tree = Array.from({ length: 30 }, (_, at) => block(String(at), [], "paragraph", `k${at}`));
    const next = [...tree.slice(1), tree[0]!];
    expect(difference(tree, next)).toEqual([{ op: "move", id: "k0", parent: null, after: "k29" }]);
  });

  test("its calls make the one tree of the other, whatever was done", () => {
    let seed = 11;
    const random = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) % below;
    const parentOf = (root: Block, id: string): Block | undefined => [root, ...flat(root.children)].find((each) => each.children.some((child) => child.id === id));
    let tree: Block[] = [block("start")];
    for (let round = 0; round < 1_500; round += 1) {
      const root: Block = { ...block("", structuredClone(tree)), id: "root" };
      for (let edits = 1 + random(4); edits > 0; edits -= 1) {
        const all = flat(root.children);
        const one = all[random(all.length)];
        const what = random(4);
        if (!one || what === 0) {
          const into = all.length && random(2) ? all[random(all.length)]! : root;
          into.children.splice(random(into.children.length + 1), 0, block(`new ${round}`));
        } else if (what === 1) one.content = [{ text: `edited ${round}` }];
        else if (what === 2 && all.length > 3) parentOf(root, one.id)!.children = parentOf(root, one.id)!.children.filter(({ id }) => id !== one.id);
        else {
          const inside = new Set([one, ...flat(one.children)].map(({ id }) => id));
          const places = [root, ...all].filter(({ id }) => !inside.has(id));
          const from = parentOf(root, one.id)!;
          from.children = from.children.filter(({ id }) => id !== one.id);
          const into = places[random(places.length)]!;
          into.children.splice(random(into.children.length + 1), 0, one);
        }
      }
      const next = root.children;
      expect(bare(applyOps(tree, difference(tree, next)))).toEqual(bare(next));
      tree = next.length > 40 ? [block("start again")] : next;
    }
  });

  test("two who write at once both keep what they wrote", () => {
    const base = [block("a", [], "paragraph", "a"), block("b", [], "paragraph", "b")];
    const theirs = [block("a by them", [], "paragraph", "a"), block("b", [], "paragraph", "b"), block("theirs", [], "paragraph", "t")];
    const mine = [block("a", [], "paragraph", "a"), block("b by me", [], "paragraph", "b"), block("mine", [], "paragraph", "m")];
    expect(bare(applyOps(theirs, difference(base, mine))).map((each) => (each as unknown[])[2])).toEqual(["a by them", "b by me", "mine", "theirs"]);
  });

  test("what somebody has written into a block that I delete, or make another of, is still there", () => {
    const base = [block("a", [], "paragraph", "a"), block("b", [], "paragraph", "b")];
    const theirs = [block("a", [], "paragraph", "a"), block("b by them", [], "paragraph", "b")];
    expect(bare(applyOps(theirs, difference(base, [base[0]!])))).toEqual(bare(theirs));
    const [parent, withTheirs] = [[block("p", [block("c", [], "paragraph", "c")], "toggle", "p")], [block("p", [block("c", [], "paragraph", "c"), block("new", [], "paragraph", "d")], "toggle", "p")]];
    expect(applyOps(withTheirs, difference(parent, []))).toEqual(withTheirs);
    expect(applyOps(parent, difference(parent, []))).toEqual([]);
    const mine = [base[0]!, block("b", [], "to_do", "c")];
    expect(applyOps(theirs, difference(base, mine)).map(({ content }) => content[0]!.text)).toEqual(["a", "b", "b by them"]);
  });

  test("a block that was made before is not made again, and has what is written in it now", () => {
    const made = [block("a", [], "paragraph", "a"), block("b", [block("below", [], "paragraph", "c")], "paragraph", "b")];
    const mine = [made[0]!, block("b!", [made[1]!.children[0]!], "paragraph", "b")];
    expect(bare(applyOps(made, difference([made[0]!], mine)))).toEqual(bare(mine));
  });

  test("what I wrote into a block that somebody deleted is still there", () => {
    const base = [block("a", [], "paragraph", "a"), block("b", [], "paragraph", "b")];
    const mine = [block("a", [], "paragraph", "a"), block("my words", [], "paragraph", "b")];
    expect(applyOps([base[0]!], difference(base, mine), () => "fresh").map(({ id, content }) => [id, content[0]!.text])).toEqual([["a", "a"], ["fresh", "my words"]]);
  });
});

describe("one text that two have changed", () => {
  const merge = (base: string, theirs: string, mine: string) => mergeSpans([{ text: base }], [{ text: theirs }], [{ text: mine }]).map(({ text }) => text).join("");

  test("has both changes, wherever they are", () => {
    expect(merge("one two three", "zero one two three", "one two three four")).toBe("zero one two three four");
    expect(merge("one two three", "one two three four", "zero one two three")).toBe("zero one two three four");
    expect(merge("one", "one theirs", "one mine")).toBe("one theirs mine");
    expect(merge("one two three", "one 2 three", "one two three")).toBe("one 2 three");
    expect(merge("one two three", "one 2 three", "one second three")).toBe("one 2 second three");
    expect(merge("one two", "one 2", "one 2")).toBe("one 2");
    expect(merge("gone", "", "gone but kept")).toBe(" but kept");
    expect(merge("one", "one two", "one two")).toBe("one two");
    expect(merge("one", "one two", "one two three")).toBe("one two three");
    expect(merge("one two three", "one two three", "one three")).toBe("one three");
    expect(merge("We ship Monday maybe", "We ship maybe", "We ship Tuesday maybe")).toBe("We ship Tuesday maybe");
    expect(merge("one two three", "one three", "one TWO three")).toBe("one TWO three");
    expect(merge("Price: 200", "Price: 250", "Price: 300")).toBe("Price: 250 300");
    expect(merge("Hello wrld", "Hello world", "Hello world")).toBe("Hello world");
    expect(merge("hel", "hel yes", "hello")).toBe("hello yes");
    expect(merge("x".repeat(9), `${"a ".repeat(90_000)}x`, "y")).toHaveLength(180_003);
    expect(merge("alpha beta gamma", "alpha BETA gamma", "x alpha beta gamma y")).toBe("x alpha BETA gamma y");
    expect(merge("one two three four", "1 two three 4", "one two 3 four")).toBe("1 two 3 4");
    expect(merge("same words", "all the same words here", "same few words")).toBe("all the same few words here");
  });

  test("keeps marks and whole pieces as they are", () => {
    const base: Span[] = [{ text: "see " }, { text: "@Ada", whole: { id: 1 } }, { text: " now" }];
    const theirs: Span[] = [{ text: "see ", marks: { bold: true } }, { text: "@Ada", whole: { id: 1 } }, { text: " now" }];
    const mine: Span[] = [{ text: "see " }, { text: "@Ada", whole: { id: 1 } }, { text: " now, please" }];
    expect(mergeSpans(base, theirs, mine)).toEqual([{ text: "see ", marks: { bold: true } }, { text: "@Ada", whole: { id: 1 } }, { text: " now, please" }]);
  });

  test("has no word twice where one has changed how the words look and the other what they are", () => {
    const plain: Span[] = [{ text: "one two three" }], bold: Span[] = [{ text: "one two three", marks: { bold: true } }], words: Span[] = [{ text: "one 2 three" }];
    const both = [{ text: "one ", marks: { bold: true } }, { text: "2" }, { text: " three", marks: { bold: true } }];
    expect(mergeSpans(plain, words, bold)).toEqual(both);
    expect(mergeSpans(plain, bold, words)).toEqual(both);
    expect(mergeSpans(plain, bold, [{ text: "one two three", marks: { italic: true } }])).toEqual([{ text: "one two three", marks: { italic: true } }]);
    const some: Span[] = [{ text: "one big two", marks: { bold: true } }, { text: " three" }];
    expect(mergeSpans(plain, some, [{ text: "one small two three" }])).toEqual([{ text: "one big ", marks: { bold: true } }, { text: "small " }, { text: "two", marks: { bold: true } }, { text: " three" }]);
    // Nor is it a change that marks come in another order.
    const link = (text: string, marks: Span["marks"]): Span[] => [{ text, marks }, { text: " end" }];
    expect(mergeSpans(link("see this", { bold: true, link: "u" }), link("see that", { bold: true, link: "u" }), [...link("see this", { link: "u", bold: true }), { text: "." }]))
      .toEqual([{ text: "see that", marks: { bold: true, link: "u" } }, { text: " end." }]);
  });

  test("loses no word of two who type it at the same time, in whichever order they are heard", () => {
    const base = [block("middle", [], "paragraph", "a")];
    let server = structuredClone(base);
    const known = [structuredClone(base), structuredClone(base)];
    const shown = [structuredClone(base), structuredClone(base)];
    let seed = 5;
    const random = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) % below;
    const words: string[] = [];
    for (let round = 0; round < 300; round += 1) {
      const who = random(2);
      if (random(3)) {
        const word = `${who ? "b" : "a"}${round} `;
        words.push(word);
        const text = shown[who]![0]!.content[0]?.text ?? "";
        const at = random(text.split(" ").length + 1);
        const parts = text.split(" ");
        shown[who]![0]!.content = [{ text: [...parts.slice(0, at), word.trim(), ...parts.slice(at)].join(" ") }];
      } else {
        shown[who] = applyOps(server, difference(known[who]!, shown[who]!));
        server = structuredClone(shown[who]!);
        known[who] = structuredClone(server);
      }
    }
    for (const who of [0, 1, 0]) {
      shown[who] = applyOps(server, difference(known[who]!, shown[who]!));
      server = structuredClone(shown[who]!);
      known[who] = structuredClone(server);
    }
    const text = server[0]!.content.map((span) => span.text).join("");
    for (const word of words) expect(text).toContain(word.trim());
    expect(bare(shown[0]!)).toEqual(bare(server));
  });

  test("takes the cursor along", () => {
    expect(placeAfter("one", "zero one", 2)).toBe(7);
    expect(placeAfter("one", "one two", 2)).toBe(2);
    expect(placeAfter("one", "one two", 3)).toBe(3);
    expect(placeAfter("one two", "one", 5)).toBe(3);
  });
});

describe("Markdown that is pasted", () => {
  test("becomes blocks, with lists within lists", () => {
    const made = blocksOfMarkdown("# Plan\n\nSome **bold** words\n\n- [x] done\n- [ ] open\n  - below\n1. one\n\n> quoted\n\n```sh\nls -l\n```\n\n---");
    expect(made.map(({ type }) => type)).toEqual(["heading_1", "paragraph", "to_do", "to_do", "numbered_list_item", "quote", "code", "divider"]);
    expect(made[1]!.content).toEqual([{ text: "Some " }, { text: "bold", marks: { bold: true } }, { text: " words" }]);
    expect(made[2]!.props).toEqual({ checked: true });
    expect(made[3]!.children.map(({ type, content }) => [type, content[0]!.text])).toEqual([["bulleted_list_item", "below"]]);
    expect(made[6]).toMatchObject({ content: [{ text: "ls -l" }], props: { language: "sh" } });
  });

  test("leads to nowhere but the web and mail", () => {
    expect(spansOfLine("[x](javascript:alert(1)) [y](https://e.com/)").filter(({ marks }) => marks?.link)).toEqual([{ text: "y", marks: { link: "https://e.com/" } }]);
  });

  test("is told from words", () => {
    for (const text of ["# a", "- a", "one\n\ntwo", "**a**", "1. a"]) expect(looksLikeMarkdown(text), text).toBe(true);
    for (const text of ["a", "a - b", "two\nlines"]) expect(looksLikeMarkdown(text), text).toBe(false);
  });

  test("takes time in proportion to its length", () => {
    const started = Date.now();
    for (const piece of ["**", "[a](", "`", "- ", "> ", "*a_"]) blocksOfMarkdown(piece.repeat(20_000));
    expect(Date.now() - started).toBeLessThan(4_000);
  });
});

describe("keys on blocks", () => {
  /** The document after a command with the cursor in the block of this id. */
  const after = (blocks: Block[], id: string, offset: number, command: Command) => {
    let state = EditorState.create({ doc: docOf(blocks) });
    let at = 0;
    state.doc.descendants((node, pos) => { if (node.attrs.id === id) at = pos + 2 + offset; });
    state = state.apply(state.tr.setSelection(TextSelection.create(state.doc, at)));
    command(state, (tr) => (state = state.apply(tr)));
    state.doc.check();
    return blocksIn(state.doc);
  };
  const texts = (blocks: Block[]): unknown[] => blocks.map(({ content, children }) => (children.length ? [content.map(({ text }) => text).join(""), texts(children)] : content.map(({ text }) => text).join("")));
  const tree = () => [block("one", [], "paragraph", "x1"), block("two", [block("below", [], "paragraph", "x3")], "paragraph", "x2"), block("three", [], "paragraph", "x4")];

  test("documents and blocks are the same", () => {
    const blocks = blocksOfMarkdown("# T\n\n- a\n  - b\n\n| a | b |\n|---|---|\n| 1 | 2 |");
    expect(blocksIn(docOf(blocks)).every((each, at) => sameContent(each, blocks[at]!))).toBe(true);
  });

  test("Enter splits, and goes below where there are blocks below", () => {
    expect(texts(after(tree(), "x1", 2, split))).toEqual(["on", "e", ["two", ["below"]], "three"]);
    expect(texts(after(tree(), "x2", 3, split))).toEqual(["one", ["two", ["", "below"]], "three"]);
    expect(texts(after(tree(), "x2", 1, split))).toEqual(["one", ["t", ["wo", "below"]], "three"]);
  });

  test("Tab and Shift Tab nest and lift", () => {
    expect(texts(after(tree(), "x4", 0, nest))).toEqual(["one", ["two", ["below", "three"]]]);
    expect(texts(after(tree(), "x2", 0, nest))).toEqual([["one", [["two", ["below"]]]], "three"]);
    expect(texts(after(tree(), "x3", 0, lift))).toEqual(["one", "two", "below", "three"]);
    expect(texts(after(tree(), "x1", 0, nest))).toEqual(texts(tree()));
  });

  test("Alt with an arrow changes places", () => {
    expect(texts(after(tree(), "x2", 0, shift(-1)))).toEqual([["two", ["below"]], "one", "three"]);
    expect(texts(after(tree(), "x2", 0, shift(1)))).toEqual(["one", "three", ["two", ["below"]]]);
  });

  test("Backspace at the start makes a paragraph, and then joins", () => {
    const list = [block("a", [], "paragraph", "y1"), block("b", [], "to_do", "y2")];
    const plain = after(list, "y2", 0, joinBefore);
    expect(plain.map(({ type }) => type)).toEqual(["paragraph", "paragraph"]);
    expect(plain[1]!.id).not.toBe("y2");
    expect(texts(after(plain, plain[1]!.id, 0, joinBefore))).toEqual(["ab"]);
  });

  test("Backspace and Delete join the lines that follow each other, however deep they are, and no block goes unseen", () => {
    expect(texts(after(tree(), "x4", 0, joinBefore))).toEqual(["one", ["two", ["belowthree"]]]);
    expect(texts(after(tree(), "x3", 5, joinAfter))).toEqual(["one", ["two", ["belowthree"]]]);
    expect(texts(after(tree(), "x2", 3, joinAfter))).toEqual(["one", "twobelow", "three"]);
    expect(texts(after(tree(), "x2", 0, joinBefore))).toEqual(texts(tree())); // what is below it would go along
    expect(texts(after(tree(), "x1", 3, joinAfter))).toEqual(texts(tree()));
    const lined = [block("one", [], "paragraph", "x1"), { ...block("", [], "divider", "x2") }, block("two", [], "paragraph", "x3")];
    expect(after(lined, "x3", 0, joinBefore)).toHaveLength(3); // it is selected first
    expect(after(lined, "x1", 3, joinAfter)).toHaveLength(3);
    expect(texts(after([block("end", [], "paragraph", "x1")], "x1", 3, joinAfter))).toEqual(["end"]);
  });

  test("another type is another block, with its text and what is below where it takes that", () => {
    const [, two] = after(tree(), "x2", 1, become("quote"));
    expect(two).toMatchObject({ type: "quote", content: [{ text: "two" }], children: [{ id: "x3" }] });
    expect(two!.id).not.toBe("x2");
    const [, heading, below] = after(tree(), "x2", 1, become("heading_2"));
    expect(heading).toMatchObject({ type: "heading_2", content: [{ text: "two" }], children: [] });
    expect(below).toMatchObject({ id: "x3" });
  });

  test("blocks that are put in take the place of an empty line", () => {
    expect(texts(after([block("", [], "paragraph", "z")], "z", 0, insertBlocks(blocksOfMarkdown("a\n\nb"))))).toEqual(["a", "b"]);
    expect(texts(after(tree(), "x1", 1, insertBlocks([block("new")])))).toEqual(["one", "new", ["two", ["below"]], "three"]);
  });
});

test("rich text goes to the editor and back", () => {
  const annotations = { bold: true, italic: false, strikethrough: false, underline: false, code: false, color: "red" as const };
  const rich = [
    { type: "text" as const, text: { content: "hi", link: { url: "https://e.com/" } }, annotations, plain_text: "hi", href: "https://e.com/" },
    { type: "mention" as const, mention: { type: "user" as const, user: { object: "user" as const, id: "u" } }, annotations: { ...annotations, bold: false, color: "default" as const }, plain_text: "@Ada", href: null },
  ];
  const spans = spansOf(rich as never);
  expect(spans).toEqual([{ text: "hi", marks: { bold: true, color: "red", link: "https://e.com/" } }, { text: "@Ada", whole: rich[1] }]);
  expect(richOf(spans)).toEqual([{ type: "text", text: rich[0]!.text, annotations }, rich[1]]);
  expect(richOf([{ text: "a".repeat(4_500) }]).map((each) => each.text!.content.length)).toEqual([2_000, 2_000, 500]);
  const runs = richOf([{ text: "a".repeat(1_999) + "😀b" }]);
  expect(runs.map((each) => each.text!.content.length)).toEqual([1_999, 3]); // no pair of surrogates is split
  expect(spansOf(runs.map((each) => ({ ...each, plain_text: "" })) as never)).toEqual([{ text: "a".repeat(1_999) + "😀b" }]);
});
