import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg } from "../../api/queries";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { TextField } from "../../parts/Field";
import { useAct } from "../../parts/useAct";
import { queueQuery } from "../board/QueueStrip";

type Queue = Schemas["QueueListed"];
type Card = Schemas["Card"];
const pages = 10; // of cards that are looked through: the API does not find them by their state
const isStuck = ({ queue: { state } }: Card) => state === "exhausted" || state === "held";

/** The column's cards that need somebody, once so many of them were found. */
async function find(column_id: string, count: number): Promise<Card[]> {
  const found: Card[] = [];
  let start_cursor: string | undefined;
  for (let page = 0; page < pages && found.length < count; page += 1) {
    const { results, next_cursor } = await ask(api.GET("/v1/cards", { params: { query: { column_id, page_size: 100, sort: "updated", start_cursor } } }));
    found.push(...results.filter(isStuck));
    if (!next_cursor) break;
    start_cursor = next_cursor;
  }
  return found;
}

/** Makes cards ready again; why is written on each, where the next worker reads it. */
function RequeueDialog({ cards, queue, onClose }: { cards: Card[]; queue: Queue; onClose: () => void }) {
  const act = useAct(inOrg("queue", queue.board_id, queue.column_id), inOrg("stuck", queue.column_id));
  const [reason, setReason] = useState("");
  const [done, setDone] = useState(0);
  const requeue = () => act.mutate(async () => {
    for (const { id } of cards.slice(done)) {
      if (reason.trim()) await ask(api.POST("/v1/comments", { body: { parent: { card_id: id }, markdown: reason.trim() } }));
      await ask(api.POST("/v1/cards/{card_id}:requeue", { params: { path: { card_id: id } } }));
      setDone((before) => before + 1);
    }
    onClose();
  });
  const [first] = cards;
  return (
    <FormDialog title={cards.length === 1 ? t("Requeue {{key}}", { key: first!.key }) : t("Requeue {{count}} cards", { count: cards.length })} send={t("Requeue")} onClose={onClose} onSend={requeue} busy={act.isPending} error={act.error}>
      <p>{t("Ready to be claimed again, with all attempts.")}</p>
      <TextField label={t("Why")} value={reason} onChange={(event) => setReason(event.target.value)} maxLength={2_000} autoFocus note={t("Becomes a comment, which the next worker gets with the card. May stay empty.")} />
      {act.isPending && cards.length > 1 && <progress aria-label={t("Requeued")} value={done} max={cards.length} />}
    </FormDialog>
  );
}

/** Cards of the queue that need somebody. */
export function Stuck({ queue }: { queue: Queue }) {
  const [requeuing, setRequeuing] = useState<Card[]>();
  const state = useQuery(queueQuery(queue.board_id, queue.column_id)).data;
  const count = state ? state.exhausted + state.held : 0;
  const cards = useQuery({ queryKey: inOrg("stuck", queue.column_id, count), queryFn: () => find(queue.column_id, count), enabled: count > 0 });
  const all = count > 0 ? cards.data ?? [] : [];
  const canRequeue = queue.role !== "viewer";
  if (all.length === 0) return null;
  return (
    <div className="stuck">
      <div className="row apart">
        <h3>{t("Needs attention")}</h3>
        {canRequeue && all.length > 1 && <button type="button" className="button small" onClick={() => setRequeuing(all)}>{t("Requeue all…")}</button>}
      </div>
      <ul>
        {all.map((card) => (
          <li key={card.id} className="row">
            <span className={`tag ${card.queue.state === "exhausted" ? "bad" : "warn"}`}>{t(card.queue.state)}</span>
            <span className="grow stuck-card">
              <Link href={`/cards/${card.id}`} className="clip" title={card.title}>{card.key} {card.title}</Link>
              <span className="soft small clip" title={card.queue.last_error ?? undefined}>{t("{{count}} attempts used", { count: card.queue.attempts })}{card.queue.last_error && <> · <span className="late">{card.queue.last_error}</span></>}</span>
            </span>
            {canRequeue && <button type="button" className="button small" aria-label={t("Requeue {{key}}", { key: card.key })} onClick={() => setRequeuing([card])}>{t("Requeue…")}</button>}
          </li>
        ))}
      </ul>
      {all.length < Math.min(count, 100) && <p className="soft small">{t("There are more; they stand further down in the column.")}</p>}
      {requeuing && <RequeueDialog cards={requeuing} queue={queue} onClose={() => setRequeuing(undefined)} />}
    </div>
  );
}
