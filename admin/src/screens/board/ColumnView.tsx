import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useRef, useState } from "react";
import { t } from "../../app/words";
import { AddCard } from "./AddCard";
import { ColumnHead } from "./ColumnHead";
import { useBoard, useColumn, useShown } from "./context";
import { placeIn, type DragEngine } from "./drag";
import { Tile } from "./Tile";

export interface Reveal {
  (index: number): void;
}

/** One column: its head, the cards that are in sight, and a line to add one. */
export function ColumnView({ id, engine, focused, grabbed, onReveal, onAdd, isAdding }: {
  id: string;
  engine: DragEngine;
  /** The card that the keyboard is at. */
  focused: string;
  grabbed: string | null;
  onReveal: (column: string, reveal: Reveal | null) => void;
  onAdd: (column: string | null) => void;
  isAdding: boolean;
}) {
  const { store, canEdit, hrefOf } = useBoard();
  const column = useColumn(store, id);
  const ids = useShown(store, id);
  const section = useRef<HTMLElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const isNear = useNear(section);
  const at = ids.indexOf(focused);
  const virtualizer = useVirtualizer<HTMLElement, Element>({
    count: ids.length,
    enabled: isNear || at >= 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => 74,
    overscan: 4,
    paddingStart: 2,
    getItemKey: (index) => ids[index]!,
    // The card that has the focus, or is held, is never unmounted.
    rangeExtractor: (range) => {
      const all = defaultRangeExtractor(range);
      return at >= 0 && !all.includes(at) ? [...all, at].sort((a, b) => a - b) : all;
    },
  });
  useEffect(() => engine.register({
    key: id, column: id, scroller: scroller.current!, line: line.current!, ids: () => store.shown(id),
    placeAt: (offset) => placeIn(virtualizer, store.shown(id).length, offset),
  }), [engine, id, store, virtualizer]);
  const reveal = useCallback((index: number) => {
    section.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
    virtualizer.scrollToIndex(index, { align: "auto" });
  }, [virtualizer]);
  useEffect(() => {
    onReveal(id, reveal);
    return () => onReveal(id, null);
  }, [id, onReveal, reveal]);
  // Where a new card goes may be far below what is in sight.
  const show = (card: string) => requestAnimationFrame(() => {
    const index = store.shown(id).indexOf(card);
    if (index >= 0) reveal(index);
  });
  if (!column) return null;
  return (
    <section className={`column tint-${column.color}`} aria-labelledby={`column-${id}`} ref={section} data-column={id}>
      <ColumnHead column={column} onAdd={() => onAdd(id)} />
      <div className="column-cards" ref={scroller} tabIndex={-1}>
        <ul role="list" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map((item) => {
            const card = ids[item.index];
            if (!card) return null;
            return (
              <li key={item.key} data-index={item.index} ref={virtualizer.measureElement} aria-setsize={ids.length} aria-posinset={item.index + 1}
                className={card === grabbed ? "grabbed" : undefined} style={{ transform: `translateY(${item.start}px)` }}>
                <Tile store={store} id={card} href={hrefOf(card)} isCurrent={card === focused} />
              </li>
            );
          })}
        </ul>
        <div className="drop-line" ref={line} aria-hidden="true" />
        {ids.length === 0 && <p className="soft small nothing">{store.isFiltered() ? t("Nothing fits the filter.") : t("No cards.")}</p>}
      </div>
      {canEdit && <AddCard column={id} isOpen={isAdding} onOpen={(open) => onAdd(open ? id : null)} onAdded={show} />}
    </section>
  );
}

/** Whether something is in sight, or nearly: columns far to the side show no cards. */
function useNear(element: React.RefObject<HTMLElement | null>): boolean {
  const [isNear, setNear] = useState(true);
  const observe = useCallback(() => {
    if (!element.current) return undefined;
    const observer = new IntersectionObserver(([entry]) => setNear(entry!.isIntersecting), { root: element.current.closest(".board"), rootMargin: "0px 400px" });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  useEffect(observe, [observe]);
  return isNear;
}
