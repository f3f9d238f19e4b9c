import { createContext, useContext, useSyncExternalStore } from "react";
import type { BoardStore, Card } from "./store";
import type { BoardSync } from "./sync";

export interface BoardHandle {
  store: BoardStore;
  sync: BoardSync;
  /** Whether the reader may change it. */
  canEdit: boolean;
  /** Opens a card beside the board; undefined closes it. */
  open(card: string | undefined): void;
  /** The address of a card, for links. */
  hrefOf(card: string): string;
}

export const BoardContext = createContext<BoardHandle | null>(null);
export const useBoard = (): BoardHandle => {
  const board = useContext(BoardContext);
  if (!board) throw new Error("not on a board");
  return board;
};

export const useCard = (store: BoardStore, id: string): Card | undefined =>
  useSyncExternalStore(store.subscribe(`card:${id}`), () => store.card(id));
export const useShown = (store: BoardStore, column: string) =>
  useSyncExternalStore(store.subscribe(`column:${column}`), () => store.shown(column));
export const useColumn = (store: BoardStore, id: string) =>
  useSyncExternalStore(store.subscribe("columns"), () => store.column(id));
export const useColumnOrder = (store: BoardStore) => useSyncExternalStore(store.subscribe("columns"), store.columnOrder);
export const useSelection = (store: BoardStore) => useSyncExternalStore(store.subscribe("selection"), store.selection);
