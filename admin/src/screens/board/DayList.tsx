import { day, isoDay } from "../../app/time";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { useBoard } from "./context";
import type { Card } from "./store";
import { TileFacts } from "./Tile";

const beside = (date: string, by: number) => isoDay(new Date(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8)) + by));

/** A day's cards with all that tiles say, below a calendar that is too narrow for it. */
export function DayList({ date, cards, onDay }: { date: string; cards: Card[]; onDay: (date: string) => void }) {
  const { open, hrefOf } = useBoard();
  return (
    <section className="day-list" aria-labelledby="day-shown">
      <div className="row">
        <button type="button" className="button small icon" aria-label={t("Day before")} onClick={() => onDay(beside(date, -1))}><Icon name="left" /></button>
        <button type="button" className="button small icon" aria-label={t("Day after")} onClick={() => onDay(beside(date, 1))}><Icon name="right" /></button>
        <h3 id="day-shown" aria-live="polite">{day(date)}</h3>
      </div>
      {cards.length === 0 && <p className="soft small">{t("Nothing is due.")}</p>}
      {cards.map((card) => (
        <a key={card.id} className="tile" href={hrefOf(card.id)} onClick={(event) => { event.preventDefault(); open(card.id); }}>
          <span className="title">{card.title}</span>
          <TileFacts card={card} />
        </a>
      ))}
    </section>
  );
}
