// What people do to cards on a board: it shows at once, is taken back when the server refuses, and can
// be undone for 8 seconds.
import { api, ask, type Schemas } from "../../api/client";
import { day } from "../../app/time";
import { t } from "../../app/words";
import { toast, toastError } from "../../parts/toasts";
import { asChanges, fieldsIn, indexIn, type By, type Lane } from "./lanes";
import type { Anchor, BoardStore, Card } from "./store";

export type Changes = Schemas["Body_update_card"];

async function sendMove(store: BoardStore, card_id: string, body: Anchor) {
  store.put((await ask(api.POST("/v1/cards/{card_id}:move", { params: { path: { card_id } }, body }))) as Card);
}

/** Several changes, all or none; the cards as they are then. */
async function sendBatch(store: BoardStore, operations: Schemas["BatchItem"][]) {
  for (let from = 0; from < operations.length; from += 100) {
    const { results } = await ask(api.POST("/v1/cards:batch", { body: { operations: operations.slice(from, from + 100), atomic: true } }));
    for (const { card } of results) if (card) store.put(card);
  }
}

/** Each behind the one before it. */
const chain = (ids: string[], first: Anchor): Anchor[] =>
  ids.map((_, at) => (at === 0 ? first : { column_id: first.column_id, after_id: ids[at - 1]! }));

async function moveTo(store: BoardStore, ids: string[], anchors: Anchor[]) {
  const was = ids.map((id, at) => store.moveLocally(id, anchors[at]!));
  try {
    if (ids.length === 1) await sendMove(store, ids[0]!, anchors[0]!);
    else await sendBatch(store, ids.map((card_id, at) => ({ move: { card_id, ...anchors[at]! } })));
  } catch (error) {
    for (const each of was.reverse()) store.revert(each);
    throw error;
  }
}

/** Moves cards to where `index` is among the others of the column. */
export async function moveCards(store: BoardStore, ids: string[], column: string, index: number) {
  const moving = new Set(ids);
  const first = store.anchor(column, index, moving);
  const back = ids.map((id) => store.anchorOf(id)).filter((each) => each !== undefined);
  const [was, now] = [store.place(ids[0]!), ids.length === 1 ? index : undefined];
  if (ids.length === 1 && was?.column === column && was.index === now) return;
  try {
    await moveTo(store, ids, chain(ids, first));
  } catch (error) {
    return toastError(error);
  }
  const name = store.column(column)?.name;
  // Backwards, so that each finds its neighbour in place again.
  const undo = () => moveTo(store, [...ids].reverse(), [...back].reverse()).catch(toastError);
  toast({
    text: ids.length === 1 && was?.column === column ? t("Moved within {{column}}", { column: name }) : t("{{count}} moved", { count: ids.length, column: name }),
    action: { label: t("Undo"), run: () => void undo() },
  });
}

/** Puts cards into a lane, and where they were dropped there: one change, all or none. */
export async function moveToLane(store: BoardStore, ids: string[], { by, lane, column, index }: { by: By; lane: Lane; column: string; index: number }) {
  const moving = new Set(ids);
  const anchors = chain(ids, store.anchor(column, indexIn(store, column, lane.cells.get(column) ?? [], index, moving), moving));
  const before = ids.map((id) => store.card(id)!);
  const back = ids.map((id) => store.anchorOf(id)!);
  const fields = before.map((card) => fieldsIn(store, by, lane, card));
  const send = (places: Anchor[], all: Local[], order: string[]) => {
    const was = order.map((id) => store.card(id)!);
    order.forEach((id, at) => { store.moveLocally(id, places[at]!); store.changeLocally(id, all[at]!); });
    return sendBatch(store, order.flatMap((card_id, at): Schemas["BatchItem"][] => [
      { move: { card_id, ...places[at]! } }, ...(Object.keys(all[at]!).length ? [{ update: { card_id, ...asChanges(all[at]!) } }] : []),
    ])).catch((error: unknown) => {
      for (const each of was.reverse()) store.revert(each);
      throw error;
    });
  };
  try {
    await send(anchors, fields, ids);
  } catch (error) {
    return toastError(error);
  }
  const own = before.map((card, at): Local => Object.fromEntries(Object.keys(fields[at]!).map((name) => [name, card[name as keyof Card]])));
  const undo = () => send([...back].reverse(), [...own].reverse(), [...ids].reverse()).catch(toastError);
  toast({ text: t("{{count}} moved to {{lane}}", { count: ids.length, lane: lane.name }), action: { label: t("Undo"), run: () => void undo() } });
}

type Local = Partial<Card>;

/** Changes fields of cards; `local` says how they look until the server answers. Whether it was done. */
async function change(store: BoardStore, ids: string[], changes: (card: Card) => Changes, local: (card: Card) => Local): Promise<boolean> {
  const cards = ids.map((id) => store.card(id)).filter((each) => each !== undefined);
  const was = cards.map((card) => store.changeLocally(card.id, local(card)));
  const send = (all: { id: string; body: Changes }[]) => {
    const [only] = all;
    if (all.length === 1)
      return ask(api.PATCH("/v1/cards/{card_id}", { params: { path: { card_id: only!.id } }, body: only!.body })).then((card) => store.put(card as Card));
    return sendBatch(store, all.map(({ id, body }) => ({ update: { card_id: id, ...body } })));
  };
  try {
    await send(cards.map((card, at) => ({ id: card.id, body: changes(was[at] ?? card) })));
    return true;
  } catch (error) {
    for (const each of was) store.revert(each);
    toastError(error);
    return false;
  }
}

export async function changeCards(store: BoardStore, ids: string[], changes: (card: Card) => Changes, local: (card: Card) => Local) {
  if ((await change(store, ids, changes, local)) && ids.length > 1) toast(t("{{count}} changed", { count: ids.length }));
}

/** Makes cards due on a day. */
export async function moveToDay(store: BoardStore, ids: string[], date: string) {
  const before = new Map(ids.map((id) => [id, store.card(id)?.due ?? null]));
  if ([...before.values()].every((due) => due === date)) return;
  if (!(await change(store, ids, () => ({ due: date }), () => ({ due: date })))) return;
  const was = ({ id }: Card) => ({ due: before.get(id) ?? null });
  toast({ text: t("{{count}} due on {{day}}", { count: ids.length, day: day(date) }), action: { label: t("Undo"), run: () => void change(store, ids, was, was) } });
}

/** Takes cards off the board, into the archive or the trash. */
export async function archiveOrDelete(store: BoardStore, ids: string[], how: "archive" | "delete") {
  const was = ids.map((id) => store.changeLocally(id, how === "archive" ? { is_archived: true } : { in_trash: true }));
  try {
    await sendBatch(store, ids.map((card_id) => (how === "archive" ? { archive: { card_id } } : { delete: { card_id } })));
  } catch (error) {
    for (const each of was) store.revert(each);
    return toastError(error);
  }
  const undo = async () => {
    for (const card_id of ids)
      store.put((await ask(api.POST("/v1/cards/{card_id}:restore", { params: { path: { card_id } } }))) as Card);
  };
  toast({
    text: how === "archive" ? t("{{count}} archived", { count: ids.length }) : t("{{count}} in the trash", { count: ids.length }),
    action: { label: t("Undo"), run: () => void undo().catch(toastError) },
  });
}

const lastCreated = new WeakMap<BoardStore, Promise<unknown>>();

/** One after the other, so that cards stand in the order in which they were written. */
export function createCard(store: BoardStore, column_id: string, title: string): Promise<Card> {
  const create = async () => {
    const card = await ask(api.POST("/v1/boards/{board_id}/cards", {
      params: { path: { board_id: store.board.id } },
      body: { column_id, title },
    }));
    store.put(card as Card);
    return card as Card;
  };
  const created = (lastCreated.get(store) ?? Promise.resolve()).then(create, create);
  lastCreated.set(store, created);
  return created;
}

export async function duplicateCard(store: BoardStore, card_id: string) {
  try {
    store.put((await ask(api.POST("/v1/cards/{card_id}:duplicate", { params: { path: { card_id } }, body: {} }))) as Card);
  } catch (error) {
    toastError(error);
  }
}
