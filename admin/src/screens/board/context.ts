import { createContext, useContext, useMemo, useRef, useSyncExternalStore } from "react";
import { useToday } from "../../app/useToday";
import type { Board, BoardStore, Card } from "./store";
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
  /** The day that it is: views that show many cards are drawn once more on the next. */
  today: string;
}

export const BoardContext = createContext<BoardHandle | null>(null);
export const useBoard = (): BoardHandle => {
  const board = useContext(BoardContext);
  if (!board) throw new Error("not on a board");
  return board;
};

/** What is due may be late without any change of it, when midnight passes. */
export const useCard = (store: BoardStore, id: string): Card | undefined => {
  useToday();
  return useSyncExternalStore(store.subscribe(`card:${id}`), () => store.card(id));
};
export const useBoardRecord = (store: BoardStore): Board => useSyncExternalStore(store.subscribe("board"), () => store.board);
export const useShown = (store: BoardStore, column: string) =>
  useSyncExternalStore(store.subscribe(`column:${column}`), () => store.shown(column));
export const useColumn = (store: BoardStore, id: string) =>
  useSyncExternalStore(store.subscribe("columns"), () => store.column(id));
export const useColumnOrder = (store: BoardStore) => useSyncExternalStore(store.subscribe("columns"), store.columnOrder);
export const useSelection = (store: BoardStore) => useSyncExternalStore(store.subscribe("selection"), store.selection);

/** Rises whenever any of the cards that show may be another. */
export function useStoreVersion(): number {
  const { store } = useBoard();
  const version = useRef(0);
  return useSyncExternalStore(
    useMemo(() => (listener: () => void) => store.subscribe("cards")(() => { version.current += 1; listener(); }), [store]),
    () => version.current,
  );
}
