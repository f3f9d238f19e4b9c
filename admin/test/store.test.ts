import { beforeEach, describe, expect, test } from "vitest";
import { BoardStore, type Card, type Snapshot } from "../src/screens/board/store";
import { predicate, readFilter, writeFilter } from "../src/screens/board/filter";
import type { Event } from "../src/api/live";

let sequence = 0;
const card = (id: string, column_id: string, position: number, more: Partial<Card> = {}): Card => ({
  object: "card", id, org_id: "o", board_id: "b", column_id, key: id.toUpperCase(), title: `Card ${id}`, position, labels: [], assignees: [], due: null, start: null,
  priority: "none", estimate: null, properties: {}, parent_card_id: null, blocked_by: [], blocked: false, external_key: null, has_children: false, block_count: 0, comment_count: 0,
  queue: { state: "idle", attempts: 0, available_at: null, last_error: null }, lease: null, is_archived: false, in_trash: false, completed_at: null, url: "", created_time: "",
  created_by: { object: "user", id: "u", principal_type: "user", name: "Ada" }, last_edited_time: "", last_edited_by: { object: "user", id: "u", principal_type: "user", name: "Ada" }, version: 1, ...more,
});
const column = (id: string, cards: Card[], next_cursor: string | null = null, card_count = cards.length) => ({ id, name: id, card_count, cards, next_cursor });
const event = (kind: string, id: string, version: number, changes: object, more: object = {}) =>
  ({ kind, sequence: ++sequence, board_id: "b", data: { id, version, changes, previous: {}, ...more } }) as unknown as Event;

const mine = Symbol("mine");
const other = Symbol("other");
let store: BoardStore;
const anchor = (column: string, index: number, moving: string[]) => store.anchorAt(store.spot(column, index, new Set(moving)), new Set(moving));
beforeEach(() => {
  sequence = 10;
  store = new BoardStore({
    board: { id: "b", name: "B", labels: [], properties: [] },
    columns: [column("todo", [card("a", "todo", 10), card("b", "todo", 20), card("c", "todo", 30)]), column("done", [card("d", "done", 10)], "more", 5)],
    event_sequence: 10,
  } as unknown as Snapshot);
});

describe("moving", () => {
  test("a local move stands between its neighbours, counts, and can be taken back", () => {
    store.moveLocally("a", { column_id: "todo", after_id: "b" }, mine);
    expect(store.shown("todo")).toEqual(["b", "a", "c"]);
    store.moveLocally("a", { column_id: "done", before_id: "d" }, mine);
    expect(store.shown("done")).toEqual(["a", "d"]);
    expect(store.column("todo")!.card_count).toBe(2);
    expect(store.column("done")!.card_count).toBe(6);
    store.revert(mine);
    expect(store.shown("todo")).toEqual(["a", "b", "c"]);
    expect(store.column("done")!.card_count).toBe(5);
  });

  test("what the server said meanwhile is not taken back", () => {
    store.moveLocally("a", { column_id: "done" }, mine);
    store.apply(event("card.moved", "a", 2, { column_id: "todo", position: 25, version: 2 }));
    store.revert(mine);
    expect(store.shown("todo")).toEqual(["b", "a", "c"]);
  });

  test("anchors name a neighbour that does not move along", () => {
    expect(anchor("todo", 0, ["a"])).toEqual({ column_id: "todo", before_id: "b" });
    expect(anchor("todo", 2, ["a"])).toEqual({ column_id: "todo", after_id: "c" });
    expect(anchor("todo", 9, ["a"])).toEqual({ column_id: "todo", after_id: "c" });
    expect(anchor("todo", 1, ["a", "b", "c"])).toEqual({ column_id: "todo" });
  });

  test("a card comes back to the nearest of its neighbours that is still there", () => {
    const spot = store.spotOf("c")!;
    const now = (...out: string[]) => store.anchorAt(spot, new Set(out));
    expect(now()).toEqual({ column_id: "todo", after_id: "b" });
    expect(now("b")).toEqual({ column_id: "todo", after_id: "a" });
    store.moveLocally("b", { column_id: "done" }, mine);
    expect(now()).toEqual({ column_id: "todo", after_id: "a" });
    store.changeLocally("a", { is_archived: true }, mine);
    expect(now()).toEqual({ column_id: "todo" });
    expect(store.anchorAt({ ...spot, below: ["gone", "c"] }, new Set())).toEqual({ column_id: "todo", before_id: "c" });
  });

  test("what another has changed meanwhile is read again when a move is taken back", () => {
    store.moveLocally("a", { column_id: "done" }, mine);
    store.apply(event("card.updated", "a", 2, { priority: "high" }));
    store.refuse(mine);
    expect(store.card("a")).toMatchObject({ column_id: "todo", priority: "high" });
    expect([...store.wanted.cards]).toEqual(["a"]);
  });

  test("what is on its way stays over what the server says of the card as it was, until that has its answer", () => {
    store.moveLocally("a", { column_id: "done", before_id: "d" }, mine);
    store.changeLocally("a", { title: "Mine" }, other);
    store.put(card("a", "todo", 10, { comment_count: 3 }));
    store.apply(event("card.updated", "a", 1, { title: "Card a" }));
    expect(store.shown("done")).toEqual(["a", "d"]);
    expect(store.card("a")).toMatchObject({ title: "Mine", comment_count: 3 });
    store.put(card("a", "done", 4, { version: 2, comment_count: 3 }), mine);
    expect(store.card("a")).toMatchObject({ title: "Mine", column_id: "done", position: 4 });
    store.refuse(other);
    expect(store.card("a")).toMatchObject({ title: "Card a", column_id: "done", position: 4, version: 2 });
    expect([...store.wanted.cards]).toEqual(["a"]);
  });

  test("an answer covers what was done before it to the same fields, although the answer to that is late", () => {
    store.moveLocally("a", { column_id: "done", before_id: "d" }, mine);
    store.changeLocally("a", { title: "First" }, mine);
    store.moveLocally("a", { column_id: "todo", after_id: "c" }, other);
    store.put(card("a", "todo", 40, { version: 3 }), other);
    expect(store.shown("todo")).toEqual(["b", "c", "a"]);
    expect(store.card("a")!.title).toBe("First");
    store.put(card("a", "done", 5, { version: 2 }), mine);
    expect(store.card("a")).toMatchObject({ column_id: "todo", position: 40, title: "Card a", version: 3 });
  });

  test("what is refused takes nothing along that was done before or after it", () => {
    store.changeLocally("a", { title: "First", priority: "low" }, mine);
    store.changeLocally("a", { title: "Second" }, other);
    expect(store.revert(mine)).toEqual(["a"]);
    expect(store.card("a")).toMatchObject({ title: "Second", priority: "none" });
    store.changeLocally("a", { title: "Third" }, mine);
    expect(store.revert(mine)).toEqual(["a"]);
    expect(store.card("a")!.title).toBe("Second");
  });

  test("what went without an answer of its own comes back when it is restored", () => {
    store.changeLocally("a", { in_trash: true }, mine);
    store.settle(mine);
    expect(store.shown("todo")).toEqual(["b", "c"]);
    store.put(card("a", "todo", 10, { version: 3 }));
    expect(store.shown("todo")).toEqual(["a", "b", "c"]);
    store.drop("a");
    expect(store.shown("todo")).toEqual(["b", "c"]);
    // Another has brought it back before the answer comes.
    store.changeLocally("b", { in_trash: true }, other);
    store.apply(event("card.deleted", "b", 2, { in_trash: true }));
    store.apply(event("card.restored", "b", 3, { in_trash: false }));
    store.settle(other);
    expect(store.shown("todo")).toEqual(["b", "c"]);
  });

  test("any order of moves leaves every card in exactly one place", () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) % below;
    const ids = ["a", "b", "c", "d"];
    for (let count = 0; count < 500; count += 1) {
      const id = ids[random(4)]!;
      const to = ["todo", "done"][random(2)]!;
      store.moveLocally(id, anchor(to, random(5), [id]), count % 3 ? mine : Symbol());
      const all = [...store.shown("todo"), ...store.shown("done")];
      expect([...all].sort()).toEqual(ids);
      for (const each of ["todo", "done"]) {
        const positions = store.shown(each).map((one) => store.card(one)!.position);
        expect(positions).toEqual([...positions].sort((x, y) => x - y));
      }
    }
  });
});

describe("events", () => {
  test("a card comes, changes, moves and goes", () => {
    store.apply(event("card.created", "e", 1, card("e", "todo", 15)));
    expect(store.shown("todo")).toEqual(["a", "e", "b", "c"]);
    store.apply(event("card.updated", "e", 2, { title: "Other" }));
    expect(store.card("e")!.title).toBe("Other");
    store.apply(event("card.moved", "e", 3, { column_id: "done", position: 5 }));
    expect(store.shown("done")).toEqual(["e", "d"]);
    store.apply(event("card.archived", "e", 4, { is_archived: true }));
    expect(store.shown("done")).toEqual(["d"]);
    expect(store.column("done")!.card_count).toBe(5);
  });

  test("what is older than what is known changes nothing, and what comes twice counts once", () => {
    store.put(card("a", "done", 1, { version: 5 }));
    store.apply(event("card.moved", "a", 4, { column_id: "todo", position: 10 }));
    expect(store.shown("done")).toEqual(["a", "d"]);
    expect([...store.wanted.cards]).toEqual(["a"]);
    const made = event("card.created", "a", 1, card("a", "todo", 10));
    store.apply(made);
    store.apply(made);
    expect(store.column("todo")!.card_count).toBe(2);
  });

  test("while a card is held, events wait", () => {
    store.hold(["b"]);
    store.apply(event("card.moved", "a", 2, { column_id: "done", position: 1 }));
    store.put(card("b", "todo", 40, { version: 2 })); // the answer to what was done to it before
    expect(store.shown("todo")).toEqual(["a", "b", "c"]);
    store.release();
    expect(store.shown("todo")).toEqual(["c", "b"]);
    expect(store.shown("done")).toEqual(["a", "d"]);
    expect(store.sequence).toBe(11);
  });

  test("a claim shows at once, and how it ends is asked for", () => {
    store.apply(event("lease.claimed", "l", 1, { holder: { id: "x", name: "Robot" }, attempt: 2, expires_at: "2030-01-01T00:00:00Z" }, { card_id: "a" }));
    expect(store.card("a")!.lease).toMatchObject({ id: "l", attempt: 2 });
    expect(store.card("a")!.queue.state).toBe("leased");
    store.apply(event("lease.failed", "l", 1, { state: "failed" }, { card_id: "a" }));
    expect([...store.wanted.cards]).toEqual(["a"]);
  });

  test("cards follow the labels and properties of their board that change", () => {
    const [bug, odd] = [{ id: "l1", name: "bug", color: "red" }, { id: "l2", name: "odd", color: "blue" }] as Card["labels"];
    const [s, m] = [{ id: "s", name: "S", color: "gray" }, { id: "m", name: "M", color: "gray" }];
    store.board.properties.push(...([{ id: "p1", name: "Size" }, { id: "p2", name: "Sizes" }, { id: "p3", name: "Note" }] as never[]));
    const properties = { Size: { type: "select", select: s }, Sizes: { type: "multi_select", multi_select: [s, m] }, Note: { type: "number", number: 1 } };
    store.put(card("a", "todo", 10, { labels: [bug!, odd!], properties: properties as never, version: 2 }));
    let told = 0;
    store.subscribe("card:b")(() => (told += 1));
    store.apply(event("label.updated", "l1", 2, { name: "defect" }));
    store.apply(event("label.deleted", "l2", 2, {}, { previous: odd }));
    expect(store.card("a")!.labels).toEqual([{ ...bug, name: "defect" }]);
    store.apply(event("property.updated", "p3", 2, { name: "Count" }, { previous: { name: "Note" } }));
    store.apply(event("property.updated", "p1", 2, { options: [{ ...m, name: "Middle" }] }));
    store.apply(event("property.updated", "p2", 2, { options: [{ ...m, name: "Middle" }], name: "All" }, { previous: { name: "Sizes" } }));
    expect(store.card("a")!.properties).toEqual({
      Size: { type: "select", select: null }, All: { type: "multi_select", multi_select: [{ ...m, name: "Middle" }] }, Count: { type: "number", number: 1 },
    });
    store.apply(event("property.deleted", "p1", 3, {}, { previous: { name: "Size" } }));
    expect(Object.keys(store.card("a")!.properties).sort()).toEqual(["All", "Count"]);
    expect(told).toBe(0);
  });

  test("a card that was not read yet is asked for when it comes", () => {
    store.apply(event("card.moved", "far", 3, { column_id: "todo", position: 11 }));
    expect([...store.wanted.cards]).toEqual(["far"]);
    store.put(card("far", "todo", 11, { version: 3 }));
    expect(store.shown("todo")).toEqual(["a", "far", "b", "c"]);
  });

  test("while pages are on their way, a card on one of them that changes is asked for", () => {
    store.apply(event("card.updated", "far", 3, { title: "New" }));
    expect([...store.wanted.cards]).toEqual(["far"]);
  });

  test("cards that are known before their column are in it when it comes", () => {
    store.apply(event("card.created", "e", 1, card("e", "new", 5)));
    store.apply(event("card.moved", "a", 2, { column_id: "new", position: 3 }));
    store.setBoard(store.board, [...store.columns(), { ...column("new", []), card_count: 2 } as never]);
    expect(store.shown("new")).toEqual(["a", "e"]);
  });
});

describe("pages and listeners", () => {
  test("a page that follows brings no card twice, and none that has moved since", () => {
    store.apply(event("card.moved", "a", 2, { column_id: "done", position: 40 }));
    store.addPage("done", [card("f", "done", 30), card("a", "todo", 10)], null);
    expect(store.shown("done")).toEqual(["d", "f", "a"]);
    expect(store.isComplete).toBe(true);
  });

  test("only the columns and cards that have changed are told", () => {
    const told: string[] = [];
    for (const topic of ["column:todo", "column:done", "card:a", "card:b"] as const) store.subscribe(topic)(() => told.push(topic));
    const done = store.shown("done");
    store.apply(event("card.updated", "a", 2, { title: "New" }));
    expect(told).toEqual(["card:a"]);
    store.apply(event("card.moved", "a", 3, { column_id: "todo", position: 25 }));
    expect(told).toEqual(["card:a", "column:todo", "card:a"]);
    expect(store.shown("done")).toBe(done);
  });

  test("what is done to the selection is done to what shows of it, in the board's order", () => {
    store.setSelection(["d", "c", "a"]);
    expect(store.chosen()).toEqual(["a", "c", "d"]);
    store.setFilter(({ id }) => id !== "a");
    expect(store.chosen()).toEqual(["c", "d"]);
    store.setFilter(({ id }) => id === "b");
    expect(store.chosenOr("b")).toEqual(["b"]);
  });

  test("the selection forgets a card that goes", () => {
    store.setSelection(["a", "b"]);
    store.apply(event("card.deleted", "a", 2, { in_trash: true }));
    expect([...store.selection()]).toEqual(["b"]);
  });
});

describe("filters", () => {
  const bug = { id: "l1", name: "bug", color: "red" as const };
  test("the address says all of a filter, and nothing of none", () => {
    const query = new URLSearchParams("view=list&q=two+words&label=l1,l2&assignee=nobody&priority=high&due=week&state=stuck");
    expect(writeFilter(readFilter(query), new URLSearchParams("view=list")).toString()).toBe(new URLSearchParams([
      ["view", "list"], ["q", "two words"], ["assignee", "nobody"], ["label", "l1,l2"], ["priority", "high"], ["due", "week"], ["state", "stuck"],
    ]).toString());
    expect(predicate(readFilter(new URLSearchParams("view=list&due=nonsense")))).toBeNull();
  });

  test("cards that do not fit are left out of columns, and come back", () => {
    store.put(card("b", "todo", 20, { labels: [bug], priority: "high", version: 2 }));
    store.setFilter(predicate(readFilter(new URLSearchParams("label=l1&priority=high,urgent"))));
    expect(store.shown("todo")).toEqual(["b"]);
    expect(anchor("todo", 1, ["d"])).toEqual({ column_id: "todo", after_id: "b" });
    store.setFilter(predicate(readFilter(new URLSearchParams("q=BUG+card"))));
    expect(store.shown("todo")).toEqual(["b"]);
    store.setFilter(null);
    expect(store.shown("todo")).toEqual(["a", "b", "c"]);
  });

  test("dates are days: overdue is before today", () => {
    const overdue = predicate(readFilter(new URLSearchParams("due=overdue")))!;
    expect(overdue(card("x", "todo", 1, { due: "2001-01-01" }))).toBe(true);
    expect(overdue(card("x", "todo", 1, { due: "2999-01-01" }))).toBe(false);
    expect(overdue(card("x", "todo", 1))).toBe(false);
  });

  test("what needs attention is held or has used up its attempts; a pause ends by itself", () => {
    const needsSomebody = predicate(readFilter(new URLSearchParams("state=stuck")))!;
    const inState = (state: Card["queue"]["state"]) => card("x", "todo", 1, { queue: { ...card("y", "todo", 1).queue, state } });
    expect((["ready", "leased", "backoff", "held", "exhausted"] as const).filter((state) => needsSomebody(inState(state)))).toEqual(["held", "exhausted"]);
  });
});
