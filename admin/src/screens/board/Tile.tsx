import { memo, useSyncExternalStore } from "react";
import { briefly } from "../../app/time";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { Labels } from "../../parts/Labels";
import { Face, nameOf } from "../../parts/Who";
import { useCard } from "./context";
import { isLate } from "./due";
import type { BoardStore, Card } from "./store";

const queueWords: Partial<Record<Card["queue"]["state"], string>> = { backoff: "waits after a failure", exhausted: "attempts used up", held: "held" };

function Due({ due, late }: { due: string; late: boolean }) {
  return (
    <span className={late ? "late" : undefined}>
      <Icon name="clock" size={12} />{briefly(due)}{late && <span className="unseen"> {t("overdue")}</span>}
    </span>
  );
}

/** What a tile says of a card, at a glance. */
export function TileFacts({ card }: { card: Card }) {
  const state = queueWords[card.queue.state];
  return (
    <span className="facts-line">
      <span className="key">{card.key}</span>
      {card.priority !== "none" && <span className={`priority ${card.priority}`}><Icon name="flag" size={12} />{t(card.priority)}</span>}
      {card.due && <Due due={card.due} late={isLate(card)} />}
      {card.blocked && <span className="late"><Icon name="block" size={12} />{t("blocked")}</span>}
      {card.has_children && <span><Icon name="text" size={12} /><span className="unseen">{t("has text")}</span></span>}
      {card.comment_count > 0 && <span><Icon name="comment" size={12} />{card.comment_count}<span className="unseen"> {t("comments")}</span></span>}
      {state && <span className="tag warn">{t(state)}</span>}
      {card.lease && <span className="tag agent" title={nameOf(card.lease.holder)}>{t("try {{attempt}}", { attempt: card.lease.attempt })}</span>}
      {(card.assignees.length > 0 || card.lease) && (
        <span className="whos">
          {card.lease && !card.assignees.some(({ id }) => id === card.lease!.holder.id) && <Face who={card.lease.holder} />}
          {card.assignees.slice(0, 3).map((who) => <Face key={who.id} who={who} />)}
        </span>
      )}
    </span>
  );
}

export const Tile = memo(function Tile({ store, id, href, isCurrent }: { store: BoardStore; id: string; href: string; isCurrent: boolean }) {
  const card = useCard(store, id);
  const isSelected = useSyncExternalStore(store.subscribe(`card:${id}`), () => store.selection().has(id));
  if (!card) return null;
  return (
    <a className={`tile${isSelected ? " selected" : ""}`} href={href} data-card={id} draggable={false}
      tabIndex={isCurrent ? 0 : -1} aria-describedby="board-help">
      <Labels labels={card.labels} most={4} />
      <span className="title" dir="auto">{isSelected && <span className="unseen">{t("Selected:")} </span>}{card.title}</span>
      <TileFacts card={card} />
    </a>
  );
});
