import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore, type MouseEvent } from "react";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { moveCards } from "./actions";
import { ColumnView, type Reveal } from "./ColumnView";
import { useBoard, useColumnOrder } from "./context";
import { DragEngine } from "./drag";
import type { BoardStore } from "./store";
import { pressOn, putBack, type Grab, type KeyHost } from "./keyboard";
import { archiveFrom, clickOn, useCardKeys } from "./useCardKeys";

/** The first card of the first column that has any. */
function firstShown(store: BoardStore): string {
  for (const column of store.columnOrder()) {
    const [first] = store.shown(column);
    if (first) return first;
  }
  return "";
}

/** The columns of a board side by side, with their cards to take hold of. */
export function Columns({ adding, onAdd, onMove, onNewColumn }: {
  adding: string | null;
  onAdd: (column: string | null) => void;
  onMove: (cards: string[]) => void;
  onNewColumn: () => void;
}) {
  const board = useBoard();
  const { store, canEdit, open } = board;
  const order = useColumnOrder(store);
  const root = useRef<HTMLDivElement>(null);
  const live = useRef<HTMLDivElement>(null);
  const [asked, setFocused] = useState("");
  // One card is where Tab leads; when it goes, the first that shows is.
  const focused = useSyncExternalStore(store.subscribe("cards"), () => (store.place(asked) ? asked : firstShown(store)));
  const [grab, setGrab] = useState<Grab | null>(null);
  const reveals = useRef(new Map<string, Reveal>());
  const current = useRef<KeyHost>(null);

  const cardKeys = useCardKeys(root, {
    press: (id, key) => pressOn(current.current!, id, key),
    held: grab?.id,
    first: focused,
    reveal: (id) => {
      const place = store.place(id);
      if (place) reveals.current.get(place.column)?.(place.index);
    },
  });
  const pursue = cardKeys.focus;
  const focus = useCallback((id: string) => {
    setFocused(id);
    pursue(id);
  }, [pursue]);
  const say = useCallback((words: string) => {
    if (live.current) live.current.textContent = words;
  }, []);
  const onReveal = useCallback((column: string, reveal: Reveal | null) => {
    if (reveal) reveals.current.set(column, reveal);
    else reveals.current.delete(column);
  }, []);

  const engine = useMemo(() => new DragEngine(store, {
    say,
    picked: setFocused,
    dropped: (cards, column, index) => {
      void moveCards(store, cards, column, index);
      focus(cards[0]!);
      say(t("Dropped in {{column}}, position {{position}}", { column: store.column(column)?.name, position: index + 1 }));
    },
  }), [store, say, focus]);
  useEffect(() => (canEdit && root.current ? engine.attach(root.current) : undefined), [engine, canEdit]);

  const host: KeyHost = {
    store, canEdit, grab, setGrab, focus, say, open, move: onMove, add: onAdd,
    archive: (cards) => archiveFrom(store, store.shown(store.place(cards[0]!)?.column ?? ""), cards, focus),
    settle: ({ id, mutation }) => {
      // It was only moved about here: the server gets the place where it ended, from where it began.
      const place = store.place(id)!;
      store.revert(mutation);
      void moveCards(store, [id], place.column, place.index);
      store.release();
    },
  };
  current.current = host;
  useEffect(() => () => { if (current.current) putBack({ ...current.current, focus: () => undefined }); }, []);
  const onClick = (event: MouseEvent) => {
    const tile = (event.target as HTMLElement).closest<HTMLElement>("[data-card]");
    if (!tile) return;
    const id = tile.dataset.card!;
    clickOn(board, event, id, { order: store.shown(store.place(id)?.column ?? ""), anchor: cardKeys.anchor.current });
  };

  return (
    <div className={`board${grab ? " grabbing" : ""}`} ref={root} {...cardKeys.handlers} onClick={onClick}
      onFocus={(event) => {
        const id = (event.target as HTMLElement).dataset?.card;
        if (id && id !== focused) setFocused(id);
      }}
      onBlur={(event) => {
        // Focus that leaves the board while a card is held puts it back, lest it be forgotten.
        if (grab && event.relatedTarget && !root.current?.contains(event.relatedTarget as Node)) putBack({ ...host, focus: () => undefined });
      }}>
      {order.map((id) => (
        <ColumnView key={id} id={id} engine={engine} focused={store.place(focused)?.column === id ? focused : ""} grabbed={grab?.id ?? null}
          onReveal={onReveal} onAdd={onAdd} isAdding={adding === id} />
      ))}
      {canEdit && (
        <button type="button" className="button quiet new-column" onClick={onNewColumn}><Icon name="plus" />{t("New column")}</button>
      )}
      <div ref={live} className="unseen" role="status" aria-live="assertive" />
      <p id="board-help" className="unseen">
        {t("Enter opens the card. Arrow keys go to others. Space picks it up, X selects it, M moves it by a dialog.")}
      </p>
    </div>
  );
}
