// A board's cards in lanes: by whom they are assigned to, by label, or by priority. A card stands in one
// lane: that of its first assignee, and of the first of its labels in the board's order.
import type { Schemas } from "../../api/client";
import { t } from "../../app/words";
import { nameOf } from "../../parts/Who";
import type { Changes } from "./actions";
import { priorities } from "./priorities";
import type { BoardStore, Card } from "./store";

export const ways = ["assignee", "label", "priority"] as const;
export type By = (typeof ways)[number];
export const none = "none";

export interface Lane {
  id: string;
  name: string;
  who?: Schemas["PrincipalRef"];
  /** Cards by column, from top to bottom. */
  cells: Map<string, string[]>;
  count: number;
}

/** The lane that a card stands in. */
export function laneOf(store: BoardStore, by: By, card: Card): string {
  if (by === "assignee") return card.assignees[0]?.id ?? none;
  if (by === "priority") return card.priority;
  return store.board.labels.find(({ id }) => card.labels.some((label) => label.id === id))?.id ?? none;
}

/** The lanes that have cards, and those that cards can always be put into, from top to bottom. */
export function lanesOf(store: BoardStore, by: By): Lane[] {
  const lanes = new Map<string, Lane>();
  const add = (id: string, name: string, who?: Lane["who"]) => lanes.set(id, { id, name, who, cells: new Map(), count: 0 });
  const cards = store.allShown();
  if (by === "priority") for (const each of priorities) add(each, t(each));
  else if (by === "label") for (const { id, name } of store.board.labels) add(id, name);
  else {
    const people = new Map(cards.flatMap(({ assignees: [first] }) => (first ? [[first.id, first] as const] : [])));
    for (const who of [...people.values()].sort((a, b) => nameOf(a).localeCompare(nameOf(b)))) add(who.id, nameOf(who), who);
  }
  if (by !== "priority") add(none, by === "assignee" ? t("Nobody") : t("No label"));
  for (const card of cards) {
    const lane = lanes.get(laneOf(store, by, card)) ?? lanes.get(none)!;
    lane.cells.set(card.column_id, [...(lane.cells.get(card.column_id) ?? []), card.id]);
    lane.count += 1;
  }
  return [...lanes.values()];
}

/** What becomes of a card that is put into another lane. */
export function fieldsIn(store: BoardStore, by: By, lane: Lane, card: Card): Partial<Pick<Card, "assignees" | "labels" | "priority">> {
  const from = laneOf(store, by, card);
  if (from === lane.id) return {};
  if (by === "priority") return { priority: lane.id as Card["priority"] };
  if (by === "assignee") {
    const others = card.assignees.filter(({ id }) => id !== from && id !== lane.id);
    return { assignees: lane.who ? [lane.who, ...others] : [] };
  }
  const label = store.board.labels.find(({ id }) => id === lane.id);
  return { labels: label ? [label, ...card.labels.filter(({ id }) => id !== from && id !== lane.id)] : [] };
}

export const asChanges = ({ assignees, labels, priority }: ReturnType<typeof fieldsIn>): Changes => ({
  ...(assignees && { assignees: assignees.map(({ id }) => id) }),
  ...(labels && { labels: labels.map(({ id }) => id) }),
  ...(priority && { priority }),
});

/** Where in the column a place in a cell is, the cards that move left out. */
export function indexIn(store: BoardStore, column: string, cell: readonly string[], index: number, moving: ReadonlySet<string>): number {
  const rest = store.shown(column).filter((id) => !moving.has(id));
  const own = cell.filter((id) => !moving.has(id));
  if (own.length === 0) {
    const [first] = moving;
    const place = first && store.place(first);
    return place && place.column === column ? Math.min(place.index, rest.length) : rest.length;
  }
  return index > 0 ? rest.indexOf(own[Math.min(index, own.length) - 1]!) + 1 : rest.indexOf(own[0]!);
}
