import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { preferencesQuery } from "../../api/queries";
import { day, dayOf, monthName, today, weekdayName } from "../../app/time";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { moveToDay } from "./actions";
import { useBoard, useStoreVersion } from "./context";
import { DayList } from "./DayList";
import { DragEngine } from "./drag";
import { isLate } from "./due";
import type { Card } from "./store";
import { weeksOf } from "./weeks";

const firstDays = { sunday: 0, monday: 1, saturday: 6 };
const most = 4; // cards of a day that are shown
const monthOf = (date: string): [number, number] => [Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1];

/** The cards by the days on which they are due; dropping one on another day changes that. */
export default function CalendarView() {
  const { store, canEdit } = useBoard();
  const preferences = useQuery(preferencesQuery);
  const version = useStoreVersion();
  const root = useRef<HTMLDivElement>(null);
  const live = useRef<HTMLDivElement>(null);
  const [[year, month], setMonth] = useState(() => monthOf(today()));
  const [shown, setShown] = useState(today);
  const show = (date: string) => {
    setShown(date);
    setMonth(monthOf(date));
  };
  const tap = (date: string) => {
    setShown(date);
    requestAnimationFrame(() => root.current?.querySelector(".day-list")?.scrollIntoView({ block: "nearest" }));
  };
  const weekStart = firstDays[preferences.data?.week_start ?? "monday"];
  const weeks = weeksOf(year, month, weekStart);
  const byDay = useMemo(() => {
    const days = new Map<string, Card[]>();
    for (const card of store.allShown()) if (card.due) days.set(dayOf(card.due), [...(days.get(dayOf(card.due)) ?? []), card]);
    return days;
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [store, version]);
  const without = store.allShown().filter(({ due }) => !due).length;
  const turn = (by: number) => {
    const to = new Date(year, month + by, 1);
    setMonth([to.getFullYear(), to.getMonth()]);
  };
  const engine = useMemo(() => new DragEngine(store, {
    say: (words) => { if (live.current) live.current.textContent = words; },
    picked: () => undefined,
    dropped: (cards, _column, _index, date) => { if (date) void moveToDay(store, cards, date); },
  }), [store]);
  useEffect(() => (canEdit && root.current ? engine.attach(root.current) : undefined), [engine, canEdit]);
  return (
    <div className="calendar" ref={root}>
      <div className="row">
        <button type="button" className="button small icon" aria-label={t("Month before")} onClick={() => turn(-1)}><Icon name="left" /></button>
        <button type="button" className="button small icon" aria-label={t("Month after")} onClick={() => turn(1)}><Icon name="right" /></button>
        <h2 aria-live="polite">{monthName(year, month)}</h2>
        <button type="button" className="button small" onClick={() => show(today())}>{t("Today")}</button>
        <span className="grow" /><span className="soft small">{t("{{count}} without a date", { count: without })}</span>
      </div>
      <div className="scroll-x" tabIndex={0} role="region" aria-label={t("Calendar")}>
        <table>
          <thead><tr>{weeks[0]!.map((_, at) => <th key={at} scope="col">{weekdayName((weekStart + at) % 7)}</th>)}</tr></thead>
          <tbody>
            {weeks.map((week) => (
              <tr key={week[0]}>
                {week.map((date) => <Day key={date} date={date} isOther={monthOf(date)[1] !== month} isShown={date === shown} onShow={() => tap(date)} cards={byDay.get(date) ?? []} engine={engine} />)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <DayList date={shown} cards={byDay.get(shown) ?? []} onDay={show} />
      <div ref={live} className="unseen" role="status" aria-live="assertive" />
    </div>
  );
}

function Day({ date, isOther, isShown, onShow, cards, engine }: { date: string; isOther: boolean; isShown: boolean; onShow: () => void; cards: Card[]; engine: DragEngine }) {
  const { open, hrefOf } = useBoard();
  const [all, setAll] = useState(false);
  const cell = useRef<HTMLTableCellElement>(null);
  const line = useRef<HTMLDivElement>(null);
  // The day is the target's lane: it is met within its own rectangle, and has no places.
  useEffect(() => engine.register({ key: date, column: "", lane: date, scroller: cell.current!, line: line.current!, ids: () => [], placeAt: () => ({ index: 0, top: 0 }) }), [engine, date]);
  return (
    <td ref={cell} data-day={date} className={`${date === today() ? "today" : ""}${isOther ? " other" : ""}${isShown ? " shown" : ""}`} onClick={onShow}>
      <span className="date"><span aria-hidden="true">{Number(date.slice(8))}</span><span className="unseen">{day(date)}</span></span>
      {cards.length > 0 && (
        <ul>
          {cards.slice(0, all ? undefined : most).map((card) => (
            <li key={card.id}>
              <a className={`day-card clip${card.completed_at ? " done" : isLate(card) ? " late" : ""}`} href={hrefOf(card.id)} data-card={card.id} draggable={false} dir="auto" title={card.title}
                onClick={(event) => { event.preventDefault(); open(card.id); }}>{card.title}</a>
            </li>
          ))}
        </ul>
      )}
      {cards.length > most && !all && (
        <button type="button" className="button quiet small" onClick={() => setAll(true)}>{t("+{{count}}", { count: cards.length - most })}<span className="unseen"> {t("more on {{day}}", { day: day(date) })}</span></button>
      )}
      <div className="drop-line" ref={line} aria-hidden="true" />
    </td>
  );
}
