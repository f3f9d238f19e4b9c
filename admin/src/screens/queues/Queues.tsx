import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState, type CSSProperties } from "react";
import { Link } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, pagesQuery } from "../../api/queries";
import { useSession } from "../../app/session";
import { ago, ahead, number } from "../../app/time";
import { t } from "../../app/words";
import { Failure } from "../../parts/Failure";
import { Empty, Page } from "../../parts/Page";
import { queueStates } from "../../parts/queueStates";
import { Wait, WaitPages } from "../../parts/Wait";
import { queueQuery } from "../board/QueueStrip";
import { DayChart } from "./DayChart";
import { Leases } from "./Leases";
import { Stuck } from "./Stuck";
import "./queues.css";

type Queue = Schemas["QueueListed"];
const explanations: Record<(typeof queueStates)[number], string> = {
  ready: "wait to be claimed", leased: "are worked on", backoff: "pause after a failure", blocked: "wait for other cards", held: "are held by a person", exhausted: "have used their attempts up",
};

/** How full each state is, to be seen at once. */
function Depth({ queue }: { queue: Queue }) {
  const state = useQuery({ ...queueQuery(queue.board_id, queue.column_id), refetchInterval: 5_000 });
  return (
    <div className="depth-place"><Wait query={state} lines={3}>
      {(now) => {
        const all = Math.max(1, ...queueStates.map((name) => now[name]));
        return (
          <>
            <dl className="depth">
              {queueStates.map((name) => (
                <div key={name} className={now[name] ? name : "none"} title={t(explanations[name])} style={{ "--part": `${(100 * now[name]) / all}%` } as CSSProperties}>
                  <dt>{t(name)}</dt><dd>{number(now[name])}</dd>
                </div>
              ))}
            </dl>
            <p className="soft small">
              {now.paused && <><span className="tag warn">{t("paused, workers are given no card")}</span> </>}
              {now.oldest_queued_at ? t("The oldest came {{when}}.", { when: ago(now.oldest_queued_at) }) : t("Nothing waits.")}
              {now.next_available_at && <> {t("The next comes back {{when}}.", { when: ahead(now.next_available_at) })}</>}
            </p>
          </>
        );
      }}
    </Wait></div>
  );
}

const obstacles: Record<string, string> = {
  not_permitted: "You may not claim from it.", board_archived: "The board is archived.", paused: "The queue is paused.", max_leases: "You hold as many cards as you may.",
  max_in_flight: "As many of its cards are worked on as it lets be.", target_full: "The column that completed cards go to is full.", no_ready_card: "No card is ready.",
};

/** Why a claim of one's own would give no card just now. */
function WhyNothing({ queue }: { queue: Queue }) {
  const [asked, setAsked] = useState(false);
  const why = useQuery({
    queryKey: inOrg("explain", queue.column_id),
    queryFn: () => ask(api.GET("/v1/boards/{board_id}/columns/{column_id}:explain-claim", { params: { path: { board_id: queue.board_id, column_id: queue.column_id } } })),
    enabled: asked, staleTime: 0, gcTime: 0,
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

function NoQueues() {
  const { isViewer } = useSession();
  return (
    <section className="panel" aria-label={t("Queues")}>
      <Empty title={isViewer ? t("No queues for you") : t("No queues yet")}>
        <p>{isViewer
          ? t("A queue gives its cards to people and programs who may edit its board. You look at boards, so there is none to claim from.")
          : t("A column of a board that is a queue gives its cards to programs and people, one at a time. Make one by changing a column.")}</p>
        <Link href="/boards" className="button">{t("Your boards")}</Link>
      </Empty>
    </section>
  );
}

export default function Queues() {
  const queues = useInfiniteQuery(pagesQuery(inOrg("queues"), (start_cursor) => ask(api.GET("/v1/queues", { params: { query: { page_size: 50, start_cursor } } }))));
  return (
    <Page title={t("Queues")}>
      <WaitPages query={queues} empty={<NoQueues />}>
        {(all) => all.map((queue) => (
          <section key={queue.column_id} className="panel padded queue-panel" aria-labelledby={`queue-${queue.column_id}`}>
            <header className="row apart">
              <h2 id={`queue-${queue.column_id}`}><Link href={`/boards/${queue.board_id}`}>{queue.board_name}</Link> · {queue.column_name}</h2>
              <WhyNothing queue={queue} />
            </header>
            <Depth queue={queue} />
            <DayChart board_id={queue.board_id} column_id={queue.column_id} />
            <Stuck queue={queue} />
          </section>
        ))}
      </WaitPages>
      <Leases />
    </Page>
  );
}
