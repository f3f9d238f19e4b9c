import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { api, ask } from "../../api/client";
import { boardsQuery, inOrg, pagesQuery } from "../../api/queries";
import { ago, countdown, shown } from "../../app/time";
import { t } from "../../app/words";
import { useToldAct } from "../../parts/useAct";
import { useKeptFocus } from "../../parts/useKeptFocus";
import { WaitPages } from "../../parts/Wait";
import { Who } from "../../parts/Who";

const soon = 30_000; // milliseconds

/** How long the lease lasts unless its holder is heard of, second by second. */
function Left({ until }: { until: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const left = Date.parse(until) - now;
  return <time className={left < soon ? "late countdown" : "countdown"} dateTime={until} title={shown(until)}>{left > 0 ? countdown(left) : t("over")}</time>;
}

function CardOf({ id }: { id: string }) {
  const { data } = useQuery({ queryKey: ["card-brief", id], queryFn: () => ask(api.GET("/v1/cards/{card_id}", { params: { path: { card_id: id } } })), staleTime: 60_000 });
  return <Link href={`/cards/${id}`}>{data ? `${data.key} ${data.title}` : t("The card")}</Link>;
}

/** Who works on what just now, and for how long they still may. */
export function Leases() {
  const boards = useQuery(boardsQuery());
  const revokes = (board_id: string) => boards.data?.find(({ id }) => id === board_id)?.role === "admin";
  const act = useToldAct(inOrg("leases"));
  const focus = useKeptFocus<HTMLElement>("tbody button");
  const query = useInfiniteQuery({ ...pagesQuery(inOrg("leases"), (start_cursor) => ask(api.GET("/v1/leases", { params: { query: { page_size: 50, start_cursor } } }))), refetchInterval: 5_000 });
  const none = <p className="soft" style={{ padding: "0 0.9rem 0.9rem", margin: 0 }}>{t("There are no active leases.")}</p>;
  return (
    <section className="panel" aria-labelledby="leases-heading" {...focus}>
      <h2 id="leases-heading" style={{ padding: "0.8rem 0.9rem 0.2rem" }}>{t("Active leases")}</h2>
      <WaitPages query={query} empty={none}>
        {(all) => {
          const active = all.filter(({ state }) => state === "active");
          if (active.length === 0) return none;
          return (
            <table className="table cards">
              <thead><tr><th>{t("Card")}</th><th>{t("Worker")}</th><th>{t("Attempt")}</th><th>{t("Last heartbeat")}</th><th>{t("Time left")}</th><th><span className="unseen">{t("Actions")}</span></th></tr></thead>
              <tbody>
                {active.map((lease) => (
                  <tr key={lease.id}>
                    <td><CardOf id={lease.card_id} /></td>
                    <td><Who who={lease.holder} /></td>
                    <td data-label={t("Attempt")}>{lease.attempt}</td>
                    <td className="soft small" data-label={t("Last heartbeat")}>{ago(lease.renewed_at ?? lease.claimed_at)}</td>
                    <td data-label={t("Time left")}><Left until={lease.expires_at} /></td>
                    <td className="end">
                      {revokes(lease.board_id) && <button type="button" className="button small danger" aria-label={t("Revoke the lease of {{name}}", { name: lease.holder.name })} aria-disabled={act.isBusy(lease.id)}
                        onClick={() => act.mutate(() => ask(api.POST("/v1/leases/{lease_id}:revoke", { params: { path: { lease_id: lease.id } } })), lease.id)}>{t("Revoke the lease")}</button>}
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
