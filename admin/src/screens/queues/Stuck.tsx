import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Link } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg } from "../../api/queries";
import { Refusal, worded } from "../../api/refusal";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { TextField } from "../../parts/Field";
import { needingAttention, needsAttention } from "../../parts/queueStates";
import { useAct } from "../../parts/useAct";
import { useKeptFocus } from "../../parts/useKeptFocus";
import { queueQuery } from "../board/QueueStrip";

type Queue = Schemas["QueueListed"];
type Card = Schemas["Card"];
const pages = 10; // of cards that are looked through: the API does not find them by their state

/** The column's cards that need somebody, once so many of them were found. */
async function find(column_id: string, count: number): Promise<Card[]> {
  const found: Card[] = [];
  let start_cursor: string | undefined;
  for (let page = 0; page < pages && found.length < count; page += 1) {
    const { results, next_cursor } = await ask(api.GET("/v1/cards", { params: { query: { column_id, page_size: 100, sort: "updated", start_cursor } } }));
    found.push(...results.filter(({ queue }) => needsAttention(queue.state)));
    if (!next_cursor) break;
    start_cursor = next_cursor;
  }
  return found;
}

/** Makes cards ready again; why is written on each, where the next worker reads it. */
function RequeueDialog({ cards, queue, onClose }: { cards: Card[]; queue: Queue; onClose: () => void }) {
  const act = useAct(inOrg("queue", queue.board_id, queue.column_id), inOrg("stuck", queue.column_id));
  const [reason, setReason] = useState("");
  const [left, setLeft] = useState(cards);
  const [refused, setRefused] = useState<string[]>([]);
  const said = useRef(new Set<string>());
  const requeueOne = async ({ id }: Card) => {
    const why = reason.trim();
    if (why && !said.current.has(id)) await ask(api.POST("/v1/comments", { body: { parent: { card_id: id }, markdown: why } }));
    said.current.add(id); // another try needs none
    await ask(api.POST("/v1/cards/{card_id}:requeue", { params: { path: { card_id: id } } }));
  };
  const requeue = () => act.mutate(async () => {
    let isAnyRefused = refused.length > 0;
    for (const card of left) {
      try {
        await requeueOne(card);
      } catch (error) {
        // What has become of one card, as a worker has it by now, says nothing of the others.
        if (!(error instanceof Refusal) || (error.status !== 404 && error.status !== 409)) throw error;
        setRefused((before) => [...before, `${card.key}: ${worded(error)}`]);
        isAnyRefused = true;
      }
      setLeft((before) => before.filter(({ id }) => id !== card.id));
    }
    if (!isAnyRefused) onClose();
  });
  const [first] = cards;
  return (
    <FormDialog title={cards.length === 1 ? t("Requeue {{key}}", { key: first!.key }) : t("Requeue {{count}} cards", { count: cards.length })} send={t("Requeue")} onClose={onClose} onSend={requeue} busy={act.isPending} off={left.length === 0} error={act.error}>
      <p>{t("Ready to be claimed again, with all attempts.")}</p>
      <TextField label={t("Why")} value={reason} onChange={(event) => setReason(event.target.value)} maxLength={2_000} autoFocus note={t("Becomes a comment, which the next worker gets with the card. May stay empty.")} />
      {act.isPending && cards.length > 1 && <progress aria-label={t("Requeued")} value={cards.length - left.length} max={cards.length} />}
      {refused.length > 0 && <ul className="failure" role="alert" style={{ listStyle: "none" }}>{refused.map((each) => <li key={each}>{each}</li>)}</ul>}
    </FormDialog>
  );
}

/** Cards of the queue that need somebody. */
export function Stuck({ queue }: { queue: Queue }) {
  const [requeuing, setRequeuing] = useState<Card[]>();
  const state = useQuery(queueQuery(queue.board_id, queue.column_id)).data;
  const count = state ? needingAttention(state) : 0;
  const cards = useQuery({ queryKey: inOrg("stuck", queue.column_id, count), queryFn: () => find(queue.column_id, count), enabled: count > 0, placeholderData: keepPreviousData });
  const all = count > 0 ? cards.data ?? [] : [];
  const focus = useKeptFocus<HTMLDivElement>("button");
  const canRequeue = queue.role !== "viewer";
  return (
    <>
      <div className={all.length > 0 ? "stuck" : undefined} {...focus}>{all.length > 0 && <>
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
      </>}</div>
      {requeuing && <RequeueDialog cards={requeuing} queue={queue} onClose={() => setRequeuing(undefined)} />}
    </>
  );
}
