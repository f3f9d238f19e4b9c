// What people do to cards on a board: it shows at once, is taken back when the server refuses, and can
// be undone for 8 seconds.
import { api, ask, type Schemas } from "../../api/client";
import { Refusal } from "../../api/refusal";
import { day, dayOf, onDay } from "../../app/time";
import { t } from "../../app/words";
import { toast, toastError } from "../../parts/toasts";
import { asChanges, fieldsIn, indexIn, type By, type Lane } from "./lanes";
import type { Mutation } from "./layers";
import type { Anchor, BoardStore, Card, Spot } from "./store";

export type Changes = Schemas["Body_update_card"];
type Local = Partial<Card>;

const most = 100; // operations of a batch
const inParts = <T>(all: T[]) => Array.from({ length: Math.ceil(all.length / most) }, (_, at) => all.slice(at * most, (at + 1) * most));

/** Several changes, all or none of each hundred; the cards are as the answers say. */
async function sendBatch(store: BoardStore, operations: Schemas["BatchItem"][], mutation: Mutation) {
  for (const part of inParts(operations)) {
    const { results } = await ask(api.POST("/v1/cards:batch", { body: { operations: part, atomic: true } }));
    for (const { card } of results) if (card) store.put(card, mutation);
  }
  store.settle(mutation);
}

/** Says at once what is being done. It can be undone as soon as it is done; whether it was. */
async function announce(text: string, work: Promise<unknown>, undo: () => Promise<unknown>): Promise<boolean> {
  const dismiss = toast({ text, undo: () => void work.then(() => undo().catch(toastError), () => undefined) });
  try {
    await work;
    return true;
  } catch (error) {
    dismiss();
    toastError(error);
    return false;
  }
}

/** The selection goes when what was done to it is done: what was refused may be tried again, and another selection has
    nothing to do with it. */
export function unselectAfter(store: BoardStore, work: () => Promise<boolean>) {
  const selection = store.selection();
  void work().then((isDone) => { if (isDone && store.selection() === selection) store.setSelection([]); });
}

// ------------------------------------------------------------------------------------------- moving

interface Move {
  id: string;
  to: Spot;
  /** What becomes of its fields. */
  fields?: Local;
}

async function sendMoves(store: BoardStore, operations: Schemas["BatchItem"][], mutation: Mutation) {
  const [only] = operations;
  if (operations.length > 1 || !only?.move) return sendBatch(store, operations, mutation);
  const { card_id, ...body } = only.move;
  store.put((await ask(api.POST("/v1/cards/{card_id}:move", { params: { path: { card_id } }, body }))) as Card, mutation);
}

/** Which card the server did not find where another was to be put beside it. */
function missing(error: unknown, operations: Schemas["BatchItem"][]): string | undefined {
  if (!(error instanceof Refusal) || error.status !== 422) return undefined;
  for (const { loc } of error.faults) {
    const field = loc.find((each) => each === "after_id" || each === "before_id");
    const at = loc.find((each) => typeof each === "number") ?? 0;
    if (field) return operations[at as number]?.move?.[field as keyof Anchor] ?? undefined;
  }
  return undefined;
}

/** Moves cards one after the other, all or none. A neighbour that has gone, as somebody else has moved it, is none. */
async function make(store: BoardStore, moves: Move[]) {
  const gone = new Set<string>();
  for (;;) {
    const coming = new Set([...moves.map(({ id }) => id), ...gone]);
    const mutation = Symbol();
    const operations = moves.flatMap(({ id, to, fields }): Schemas["BatchItem"][] => {
      const anchor = store.anchorAt(to, coming);
      coming.delete(id);
      store.moveLocally(id, anchor, mutation);
      const changes = asChanges(fields ?? {});
      if (fields) store.changeLocally(id, fields, mutation);
      return [{ move: { card_id: id, ...anchor } }, ...(Object.keys(changes).length ? [{ update: { card_id: id, ...changes } }] : [])];
    });
    try {
      return await sendMoves(store, operations, mutation);
    } catch (error) {
      store.refuse(mutation);
      const other = missing(error, operations);
      if (!other || gone.has(other)) throw error;
      gone.add(other);
    }
  }
}

/** Each below the one before it. */
const chain = (ids: string[], first: Spot): Spot[] => ids.map((_, at) => ({ ...first, above: [...ids.slice(0, at).reverse(), ...first.above] }));

/** Where these are now, as moves to come back by. */
const back = (store: BoardStore, ids: string[]): Move[] => ids.flatMap((id) => {
  const to = store.spotOf(id);
  return to ? [{ id, to }] : [];
});

/** Moves cards to where `index` is among the others of the column, in the order in which they stand. */
export async function moveCards(store: BoardStore, cards: string[], column: string, index: number): Promise<boolean> {
  const ids = store.inOrder(cards);
  const was = store.place(ids[0]!);
  const isWithin = ids.length === 1 && was?.column === column;
  if (isWithin && was.index === index) return true;
  const spots = chain(ids, store.spot(column, index, new Set(ids)));
  const undo = back(store, ids);
  const name = store.column(column)?.name;
  return announce(
    isWithin ? t("Moved within {{column}}", { column: name }) : t("{{count}} moved", { count: ids.length, column: name }),
    make(store, ids.map((id, at) => ({ id, to: spots[at]! }))),
    () => make(store, undo),
  );
}

/** Puts cards into a lane, and where they were dropped there: one change, all or none. */
export async function moveToLane(store: BoardStore, cards: string[], { by, lane, column, index }: { by: By; lane: Lane; column: string; index: number }): Promise<boolean> {
  const ids = store.inOrder(cards);
  const moving = new Set(ids);
  const spots = chain(ids, store.spot(column, indexIn(store, column, lane.cells.get(column) ?? [], index, moving), moving));
  const moves = ids.map((id, at): Move => ({ id, to: spots[at]!, fields: fieldsIn(store, by, lane, store.card(id)!) }));
  const undo = back(store, ids).map((move, at): Move => {
    const card = store.card(move.id)!;
    return { ...move, fields: Object.fromEntries(Object.keys(moves[at]!.fields!).map((name) => [name, card[name as keyof Card]])) };
  });
  return announce(t("{{count}} moved to {{lane}}", { count: ids.length, lane: lane.name }), make(store, moves), () => make(store, undo));
}

// ----------------------------------------------------------------------------------------- changing

/** Changes fields of cards; `local` says how they look until the server answers. */
async function change(store: BoardStore, ids: string[], changes: (card: Card) => Changes, local: (card: Card) => Local) {
  const cards = ids.map((id) => store.card(id)).filter((each) => each !== undefined);
  const mutation = Symbol();
  for (const card of cards) store.changeLocally(card.id, local(card), mutation);
  const [only] = cards;
  try {
    if (cards.length === 1) store.put((await ask(api.PATCH("/v1/cards/{card_id}", { params: { path: { card_id: only!.id } }, body: changes(only!) }))) as Card, mutation);
    else await sendBatch(store, cards.map((card) => ({ update: { card_id: card.id, ...changes(card) } })), mutation);
  } catch (error) {
    store.refuse(mutation);
    throw error;
  }
}

export async function changeCards(store: BoardStore, ids: string[], changes: (card: Card) => Changes, local: (card: Card) => Local): Promise<boolean> {
  try {
    await change(store, ids, changes, local);
  } catch (error) {
    toastError(error);
    return false;
  }
  if (ids.length > 1) toast(t("{{count}} changed", { count: ids.length }));
  return true;
}

/** Makes cards due on a day, at the hour that they are due at. */
export async function moveToDay(store: BoardStore, cards: string[], date: string): Promise<boolean> {
  const before = new Map(cards.map((id) => [id, store.card(id)?.due ?? null]));
  const ids = cards.filter((id) => before.get(id) === null || dayOf(before.get(id)!) !== date);
  if (ids.length === 0) return true;
  const then = ({ due }: Card) => ({ due: onDay(due, date) });
  const was = ({ id }: Card) => ({ due: before.get(id) ?? null });
  return announce(t("{{count}} due on {{day}}", { count: ids.length, day: day(date) }), change(store, ids, then, then), () => change(store, ids, was, was));
}

type Away = "archive" | "delete";
const wordsOf: Record<Away, (count: number) => string> = {
  archive: (count) => t("{{count}} archived", { count }),
  delete: (count) => t("{{count}} in the trash", { count }),
};

/** All of them are tried; those that did not come back can be tried once more. */
async function restore(store: BoardStore, ids: string[], how: Away) {
  const left: string[] = [];
  let why: unknown;
  for (const card_id of ids)
    try {
      store.put((await ask(api.POST("/v1/cards/{card_id}:restore", { params: { path: { card_id } } }))) as Card);
    } catch (error) {
      left.push(card_id);
      why = error;
    }
  if (left.length === 0) return;
  void announce(wordsOf[how](left.length), Promise.resolve(), () => restore(store, left, how));
  throw why;
}

/** Takes cards off the board, into the archive or the trash. */
export async function archiveOrDelete(store: BoardStore, ids: string[], how: Away): Promise<boolean> {
  // Each hundred is all or none, and is announced for itself.
  const all = await Promise.all(inParts(ids).map((part) => {
    const mutation = Symbol();
    for (const id of part) store.changeLocally(id, how === "archive" ? { is_archived: true } : { in_trash: true }, mutation);
    const work = sendBatch(store, part.map((card_id) => (how === "archive" ? { archive: { card_id } } : { delete: { card_id } })), mutation).catch((error: unknown) => {
      store.refuse(mutation);
      throw error;
    });
    return announce(wordsOf[how](part.length), work, () => restore(store, part, how));
  }));
  return all.every(Boolean);
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
