// Everything that a pointer does on a board, by keys: the arrows (or h j k l) go from card to card; Space
// picks one up, and then they move it; Space puts it down, Escape puts it back.
import { isKeyAllowed } from "../../app/commands";
import { t } from "../../app/words";
import type { Mutation } from "./layers";
import type { BoardStore } from "./store";

export interface Grab {
  id: string;
  /** Where it was carried to. */
  mutation: Mutation;
}
export interface KeyHost {
  store: BoardStore;
  canEdit: boolean;
  grab: Grab | null;
  setGrab(grab: Grab | null): void;
  focus(card: string): void;
  say(words: string): void;
  open(card: string): void;
  move(cards: string[]): void;
  add(column: string): void;
  archive(cards: string[]): void;
  /** Sends a card that was moved about to where it stands now. */
  settle(grab: Grab): void;
}

/** Keys that go from card to card; letters among them only where single keys are allowed. */
export const isStep = (key: string) => key in steps && isKeyAllowed(key);

const steps: Record<string, "down" | "up" | "right" | "left" | "first" | "last"> = {
  ArrowDown: "down", j: "down", ArrowUp: "up", k: "up", ArrowRight: "right", l: "right", ArrowLeft: "left", h: "left", Home: "first", End: "last",
};

/** The place that a step leads to from another; none at the border. */
export function stepFrom(store: BoardStore, column: string, index: number, step: string, carrying: boolean): { column: string; index: number } | undefined {
  const order = store.columnOrder();
  const size = store.shown(column).length;
  if (step === "down") return index + 1 < size ? { column, index: index + 1 } : undefined;
  if (step === "up") return index > 0 ? { column, index: index - 1 } : undefined;
  if (step === "first") return { column, index: 0 };
  if (step === "last") return { column, index: size - 1 };
  const by = step === "right" ? 1 : -1;
  for (let at = order.indexOf(column) + by; at >= 0 && at < order.length; at += by) {
    const there = store.shown(order[at]!).length;
    if (there || carrying) return { column: order[at]!, index: Math.min(index, carrying ? there : there - 1) };
  }
  return undefined;
}

const whereWords = (store: BoardStore, id: string) => {
  const place = store.place(id);
  return place
    ? t("{{column}}, position {{position}} of {{all}}", { column: store.column(place.column)?.name, position: place.index + 1, all: store.shown(place.column).length })
    : "";
};

function walk(host: KeyHost, id: string, step: string) {
  const { store, grab } = host;
  const place = store.place(id);
  if (!place) return;
  const to = stepFrom(store, place.column, place.index, step, grab !== null);
  if (!to) return;
  if (!grab) return host.focus(store.shown(to.column)[to.index]!);
  const self = new Set([id]);
  store.moveLocally(id, store.anchorAt(store.spot(to.column, to.index, self), self), grab.mutation);
  host.focus(id);
  host.say(whereWords(store, id));
}

function grabOrDrop(host: KeyHost, id: string) {
  const { store, grab } = host;
  if (grab) {
    host.settle(grab);
    host.setGrab(null);
    host.say(t("Dropped: {{where}}", { where: whereWords(store, id) }));
  } else {
    store.hold([id]);
    host.setGrab({ id, mutation: Symbol(id) });
    host.say(t("Picked up {{key}}. Arrow keys move it, Space drops it, Escape puts it back.", { key: store.card(id)!.key }));
  }
}

export function putBack(host: KeyHost) {
  const { store, grab } = host;
  if (!grab) return;
  store.revert(grab.mutation);
  store.release();
  host.setGrab(null);
  host.focus(grab.id);
  host.say(t("Put back: {{where}}", { where: whereWords(store, grab.id) }));
}

/** What a key does in every view, to what is selected and shows, or else to the card that has the focus. */
export function pressOnChosen({ store, canEdit, open, move, archive }: Pick<KeyHost, "store" | "canEdit" | "open" | "move" | "archive">, id: string, key: string): boolean {
  if (key === "Enter") open(id);
  else if (key === "Escape" && store.selection().size) store.setSelection([]);
  else if (!canEdit) return false;
  else if (key === "x") store.select(id);
  else if (key === "m") move(store.chosenOr(id));
  else if (key === "e") archive(store.chosenOr(id));
  else return false;
  return true;
}

/** What a key does to the card that is held, or else has the focus; whether it did something. */
export function pressOn(host: KeyHost, focused: string, key: string): boolean {
  if (!isKeyAllowed(key)) return false;
  const { store, grab, canEdit } = host;
  const id = grab?.id ?? focused;
  const step = steps[key];
  if (step) walk(host, id, step);
  else if (key === " " && canEdit) grabOrDrop(host, id);
  else if (key === "Escape" && grab) putBack(host);
  else if (key === "Enter" && grab) grabOrDrop(host, id);
  else if (grab) return false;
  else if (pressOnChosen(host, id, key)) {
    if (key === "x") host.say(t("{{count}} selected", { count: store.chosen().length }));
  } else if (key === "n" && canEdit) host.add(store.card(id)!.column_id);
  else return false;
  return true;
}
