import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import { isKeyAllowed } from "../../app/commands";
import { ago, briefly } from "../../app/time";
import { t } from "../../app/words";
import { Labels } from "../../parts/Labels";
import { Face } from "../../parts/Who";
import { priorities } from "./priorities";
import { useBoard, useSelection, useStoreVersion } from "./context";
import { isLate } from "./due";
import { pressOnChosen } from "./keyboard";
import type { Card } from "./store";
import { archiveFrom, clickOn, useCardKeys } from "./useCardKeys";

type Sort = "column" | "title" | "priority" | "due" | "edited";
const rank = (card: Card) => priorities.indexOf(card.priority);
const orders: Record<Exclude<Sort, "column">, (a: Card, b: Card) => number> = {
  title: (a, b) => a.title.localeCompare(b.title),
  priority: (a, b) => rank(a) - rank(b),
  due: (a, b) => (a.due ?? "9").localeCompare(b.due ?? "9"),
  edited: (a, b) => b.last_edited_time.localeCompare(a.last_edited_time),
};

/** The cards below each other, to be sorted; the rows in sight are drawn and no others. */
export default function ListView({ onMove }: { onMove: (cards: string[]) => void }) {
  const board = useBoard();
  const { store, canEdit, open, hrefOf } = board;
  const [sort, setSort] = useState<Sort>("column");
  const scroller = useRef<HTMLDivElement>(null);
  const version = useStoreVersion();
  const cards = useMemo(() => {
    const all = store.allShown();
    return sort === "column" ? all : all.sort(orders[sort]);
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [store, sort, version]);
  const selection = useSelection(store);
  const [asked, setAsked] = useState("");
  const order = () => cards.map(({ id }) => id);
  const indexOf = (id: string) => cards.findIndex((card) => card.id === id);
  const focused = (cards[indexOf(asked)] ?? cards[0])?.id ?? "";
  const virtualizer = useVirtualizer({ count: cards.length, getScrollElement: () => scroller.current, estimateSize: () => 42, overscan: 8, getItemKey: (index) => cards[index]!.id });
  const press = (id: string, key: string) => {
    const index = indexOf(id);
    if (index < 0 || !isKeyAllowed(key)) return false;
    const moves: Record<string, number> = { ArrowDown: index + 1, j: index + 1, ArrowUp: index - 1, k: index - 1, Home: 0, End: cards.length - 1 };
    const archive = (ids: string[]) => archiveFrom(store, order(), ids, cardKeys.focus);
    if (!(key in moves)) return pressOnChosen({ store, canEdit, open, move: onMove, archive }, id, key);
    const next = cards[moves[key]!];
    if (next) cardKeys.focus(next.id);
    return true;
  };
  const cardKeys = useCardKeys(scroller, { press, first: focused, reveal: (id) => virtualizer.scrollToIndex(indexOf(id)) });
  const head = (id: Sort, label: string) => (
    <button type="button" className="button quiet small" aria-pressed={sort === id} onClick={() => setSort(id)}>{label}</button>
  );
  return (
    <div className="list-view">
      <div className="row list-sort" role="group" aria-label={t("Sort by")}>
        <span className="soft small">{t("Sort by")}</span>
        {head("column", t("Column"))}{head("title", t("Title"))}{head("priority", t("Priority"))}{head("due", t("Due"))}{head("edited", t("Last edited"))}
        <span className="grow" /><span className="soft small" role="status">{t("{{count}} cards", { count: cards.length })}</span>
      </div>
      <div className="list-rows" ref={scroller} {...cardKeys.handlers} tabIndex={-1}>
        <ul role="list" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map((item) => {
            const card = cards[item.index]!;
            return (
              <li key={item.key} style={{ transform: `translateY(${item.start}px)` }} aria-setsize={cards.length} aria-posinset={item.index + 1}
                className={selection.has(card.id) ? "selected" : undefined}>
                <a href={hrefOf(card.id)} data-card={card.id} tabIndex={card.id === focused ? 0 : -1} onFocus={() => setAsked(card.id)}
                  onClick={(event) => clickOn(board, event, card.id, { order: order(), anchor: cardKeys.anchor.current })}>
                  <span className="key soft">{card.key}</span>
                  <span className="grow named">
                    <span className="clip title" dir="auto" title={card.title}>{card.title}</span>
                    {card.labels.length > 0 && <span className="wide-only"><Labels labels={card.labels} most={2} /></span>}
                  </span>
                  <span className="soft small in-column clip" title={store.column(card.column_id)?.name}>{store.column(card.column_id)?.name}</span>
                  <span className="small wide-only in-priority">{card.priority !== "none" && t(card.priority)}</span>
                  <span className={`small in-due${isLate(card) ? " late" : ""}`}>{card.due && briefly(card.due)}</span>
                  <span className="whos wide-only in-who">{card.assignees.slice(0, 3).map((who) => <Face key={who.id} who={who} />)}</span>
                  <span className="soft small wide-only in-time">{ago(card.last_edited_time)}</span>
                </a>
              </li>
            );
          })}
        </ul>
        {cards.length === 0 && <p className="empty">{t("No cards.")}</p>}
      </div>
    </div>
  );
}
