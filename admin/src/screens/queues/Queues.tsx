import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState, type CSSProperties } from "react";
import { Link } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, pagesQuery } from "../../api/queries";
import { useSession } from "../../app/session";
import { ago, number } from "../../app/time";
import { t } from "../../app/words";
import { Failure } from "../../parts/Failure";
import { Empty, Page } from "../../parts/Page";
import { useAct } from "../../parts/useAct";
import { Wait, WaitPages } from "../../parts/Wait";
import { Who } from "../../parts/Who";
import { queueQuery } from "../board/QueueStrip";
import "./queues.css";

type Queue = Schemas["QueueListed"];
const states = ["ready", "leased", "backoff", "blocked", "held", "exhausted"] as const;
const explanations: Record<(typeof states)[number], string> = {
  ready: "wait to be claimed", leased: "are worked on", backoff: "pause after a failure", blocked: "wait for other cards", held: "are held by a person", exhausted: "have used their attempts up",
};

/** How full each state is, to be seen at once. */
function Depth({ queue }: { queue: Queue }) {
  const state = useQuery({ ...queueQuery(queue.board_id, queue.column_id), refetchInterval: 5_000 });
  return (
    <Wait query={state} lines={1}>
      {(now) => {
        const all = Math.max(1, ...states.map((name) => now[name]));
        return (
          <>
            <dl className="depth">
              {states.map((name) => (
                <div key={name} className={now[name] ? name : "none"} title={t(explanations[name])} style={{ "--part": `${(100 * now[name]) / all}%` } as CSSProperties}>
                  <dt>{t(name)}</dt><dd>{number(now[name])}</dd>
                </div>
              ))}
            </dl>
            <p className="soft small">
              {now.oldest_queued_at ? t("The oldest waits since {{when}}.", { when: ago(now.oldest_queued_at) }) : t("Nothing waits.")}
              {now.next_available_at && <> {t("The next comes back {{when}}.", { when: ago(now.next_available_at) })}</>}
            </p>
          </>
        );
      }}
    </Wait>
  );
}

/** Cards of the queue that need somebody: all of them can be made ready at once. */
function Stuck({ queue }: { queue: Queue }) {
  const act = useAct(inOrg("queue", queue.board_id, queue.column_id), inOrg("stuck", queue.column_id));
  const cards = useQuery({
    queryKey: inOrg("stuck", queue.column_id),
    queryFn: async () => (await ask(api.GET("/v1/cards", { params: { query: { column_id: queue.column_id, page_size: 100, sort: "updated" } } }))).results.filter(({ queue: { state } }) => state === "exhausted" || state === "held"),
    refetchInterval: 10_000,
  });
  if (!cards.data?.length) return null;
  const requeue = (ids: string[]) => act.mutate(async () => {
    for (const card_id of ids) await ask(api.POST("/v1/cards/{card_id}:requeue", { params: { path: { card_id } } }));
  });
  return (
    <div className="stuck">
      <div className="row apart">
        <h3>{t("Needs attention")}</h3>
        {queue.role !== "viewer" && cards.data.length > 1 && <button type="button" className="button small" aria-disabled={act.isPending} onClick={() => requeue(cards.data.map(({ id }) => id))}>{t("Requeue all")}</button>}
      </div>
      <Failure error={act.error} />
      <ul>
        {cards.data.map((card) => (
          <li key={card.id} className="row">
            <span className={`tag ${card.queue.state === "exhausted" ? "bad" : "warn"}`}>{t(card.queue.state)}</span>
            <Link href={`/cards/${card.id}`} className="clip grow">{card.key} {card.title}</Link>
            {card.queue.last_error && <span className="late small clip grow" title={card.queue.last_error}>{card.queue.last_error}</span>}
            {queue.role !== "viewer" && <button type="button" className="button small" aria-label={t("Requeue {{key}}", { key: card.key })} aria-disabled={act.isPending} onClick={() => requeue([card.id])}>{t("Requeue")}</button>}
          </li>
        ))}
      </ul>
    </div>
  );
}

const obstacles: Record<string, string> = {
  not_permitted: "You may not claim from it.", board_archived: "The board is archived.", paused: "The queue is paused.", max_leases: "You hold as many cards as you may.",
  max_in_flight: "As many of its cards are worked on as it lets be.", target_full: "The column that completed cards go to is full.", no_ready_card: "No card is ready.",
};

/** Why whoever asks would get no card just now. */
function WhyNothing({ queue }: { queue: Queue }) {
  const [asked, setAsked] = useState(false);
  const why = useQuery({
    queryKey: inOrg("explain", queue.column_id),
    queryFn: () => ask(api.GET("/v1/boards/{board_id}/columns/{column_id}:explain-claim", { params: { path: { board_id: queue.board_id, column_id: queue.column_id } } })),
    enabled: asked, staleTime: 0,
  });
  return (
    <span className="row">
      <span className="soft small" role="status">
        {why.data && (why.data.claimable ? t("You would get a card.") : why.data.obstacles.map((each) => t(obstacles[each] ?? each)).join(" "))}
      </span>
      <button type="button" className="button small" onClick={() => (asked ? void why.refetch() : setAsked(true))}>{t("Would I get a card?")}</button>
      <Failure error={why.error} />
    </span>
  );
}

function Leases() {
  const { isViewer } = useSession();
  const act = useAct(inOrg("leases"));
  const query = useInfiniteQuery({ ...pagesQuery(inOrg("leases"), (start_cursor) => ask(api.GET("/v1/leases", { params: { query: { page_size: 50, start_cursor } } }))), refetchInterval: 5_000 });
  return (
    <section className="panel" aria-labelledby="leases-heading">
      <h2 id="leases-heading" style={{ padding: "0.8rem 0.9rem 0.2rem" }}>{t("Active leases")}</h2>
      <Failure error={act.error} />
      <WaitPages query={query} empty={<p className="soft" style={{ padding: "0 0.9rem 0.9rem", margin: 0 }}>{t("There are no active leases.")}</p>}>
        {(all) => {
          const active = all.filter(({ state }) => state === "active");
          if (active.length === 0) return <p className="soft" style={{ padding: "0 0.9rem 0.9rem", margin: 0 }}>{t("There are no active leases.")}</p>;
          return (
            <table className="table cards">
              <thead><tr><th>{t("Worker")}</th><th>{t("Card")}</th><th>{t("Attempt")}</th><th>{t("Last heartbeat")}</th><th>{t("Until")}</th><th><span className="unseen">{t("Actions")}</span></th></tr></thead>
              <tbody>
                {active.map((lease) => (
                  <tr key={lease.id}>
                    <td><Who who={lease.holder} /></td>
                    <td><Link href={`/cards/${lease.card_id}`}>{t("The card")}</Link></td>
                    <td>{lease.attempt}</td>
                    <td className="soft small">{ago(lease.renewed_at ?? lease.claimed_at)}</td>
                    <td className={Date.parse(lease.expires_at) < Date.now() + 30_000 ? "late" : "soft small"}>{ago(lease.expires_at)}</td>
                    <td className="end">
                      {!isViewer && <button type="button" className="button small danger" aria-label={t("Revoke the lease of {{name}}", { name: lease.holder.name })} aria-disabled={act.isPending}
                        onClick={() => act.mutate(() => ask(api.POST("/v1/leases/{lease_id}:revoke", { params: { path: { lease_id: lease.id } } })))}>{t("Revoke the lease")}</button>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          );
        }}
      </WaitPages>
    </section>
  );
}

export default function Queues() {
  const queues = useInfiniteQuery(pagesQuery(inOrg("queues"), (start_cursor) => ask(api.GET("/v1/queues", { params: { query: { page_size: 50, start_cursor } } }))));
  return (
    <Page title={t("Queues")}>
      <WaitPages query={queues} empty={<Empty title={t("No queues yet")}><p>{t("A column of a board that is a queue gives its cards to programs and people, one at a time. Make one by changing a column.")}</p><Link href="/boards" className="button">{t("Your boards")}</Link></Empty>}>
        {(all) => all.map((queue) => (
          <section key={queue.column_id} className="panel padded queue-panel" aria-labelledby={`queue-${queue.column_id}`}>
            <header className="row apart">
              <h2 id={`queue-${queue.column_id}`}><Link href={`/boards/${queue.board_id}`}>{queue.board_name}</Link> · {queue.column_name}</h2>
              <WhyNothing queue={queue} />
            </header>
            <Depth queue={queue} />
            <Stuck queue={queue} />
          </section>
        ))}
      </WaitPages>
      <Leases />
    </Page>
  );
}
