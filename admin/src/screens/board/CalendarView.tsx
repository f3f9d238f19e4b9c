import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { preferencesQuery } from "../../api/queries";
import { day, dayOf, monthName, today, weekdayName } from "../../app/time";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { changeCards } from "./actions";
import { useBoard } from "./context";
import { useStoreVersion } from "./ListView";
import type { Card } from "./store";
import { weeksOf } from "./weeks";

const firstDays = { sunday: 0, monday: 1, saturday: 6 };
const most = 4; // cards of a day that are shown

/** The cards by the days on which they are due; dropping one on another day changes that. */
export default function CalendarView() {
  const { store, canEdit, open, hrefOf } = useBoard();
  const preferences = useQuery(preferencesQuery);
  const version = useStoreVersion();
  const now = new Date();
  const [[year, month], setMonth] = useState([now.getFullYear(), now.getMonth()]);
  const weekStart = firstDays[preferences.data?.week_start ?? "monday"];
  const weeks = weeksOf(year, month, weekStart);
  const [more, setMore] = useState<string>();
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
  const dropOn = (due: string, id: string) => {
    if (store.card(id)) void changeCards(store, [id], () => ({ due }), () => ({ due }));
  };
  return (
    <div className="calendar">
      <div className="row">
        <button type="button" className="button small icon" aria-label={t("Month before")} onClick={() => turn(-1)}><Icon name="left" /></button>
        <button type="button" className="button small icon" aria-label={t("Month after")} onClick={() => turn(1)}><Icon name="right" /></button>
        <h2 aria-live="polite">{monthName(year, month)}</h2>
        <button type="button" className="button small" onClick={() => setMonth([now.getFullYear(), now.getMonth()])}>{t("Today")}</button>
        <span className="grow" /><span className="soft small">{t("{{count}} without a date", { count: without })}</span>
      </div>
      <div className="scroll-x" tabIndex={0} role="region" aria-label={t("Calendar")}>
        <table>
          <thead><tr>{weeks[0]!.map((_, at) => <th key={at} scope="col">{weekdayName((weekStart + at) % 7)}</th>)}</tr></thead>
          <tbody>
            {weeks.map((week) => (
              <tr key={week[0]}>
                {week.map((date) => {
                  const cards = byDay.get(date) ?? [];
                  const open_ = more === date;
                  return (
                    <td key={date} data-day={date} className={`${date === today() ? "today" : ""}${Number(date.slice(5, 7)) - 1 !== month ? " other" : ""}`}
                      onDragOver={(event) => { if (canEdit) event.preventDefault(); }}
                      onDrop={(event) => { event.preventDefault(); if (canEdit) dropOn(date, event.dataTransfer.getData("text/card")); }}>
                      <span className="date"><span aria-hidden="true">{Number(date.slice(8))}</span><span className="unseen">{day(date)}</span></span>
                      {cards.length > 0 && (
                        <ul>
                          {cards.slice(0, open_ ? undefined : most).map((card) => (
                            <li key={card.id}>
                              <a className={`clip${card.completed_at ? " done" : date < today() ? " late" : ""}`} href={hrefOf(card.id)} draggable={canEdit} title={card.title}
                                onDragStart={(event) => event.dataTransfer.setData("text/card", card.id)}
                                onClick={(event) => { event.preventDefault(); open(card.id); }}>{card.title}</a>
                            </li>
                          ))}
                        </ul>
                      )}
                      {cards.length > most && !open_ && (
                        <button type="button" className="button quiet small" onClick={() => setMore(date)}>{t("+{{count}}", { count: cards.length - most })}<span className="unseen"> {t("more on {{day}}", { day: day(date) })}</span></button>
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
