import { useInfiniteQuery } from "@tanstack/react-query";
import { api, ask } from "../../api/client";
import { pagesQuery } from "../../api/queries";
import { ago, ahead, number, shown } from "../../app/time";
import { t } from "../../app/words";
import { Failure } from "../../parts/Failure";
import { useAct } from "../../parts/useAct";
import { WaitPages } from "../../parts/Wait";
import { Who } from "../../parts/Who";
import { useBoard } from "../board/context";
import type { Card } from "../board/store";

const tone: Record<string, string> = { completed: "good", failed: "bad", expired: "bad", revoked: "warn", active: "agent" };

/** Who has worked on the card from a queue, and how that went. */
export function Attempts({ card, canEdit }: { card: Card; canEdit: boolean }) {
  const { store } = useBoard();
  const key = ["card", card.id, "leases"];
  const query = useInfiniteQuery(pagesQuery(key, (start_cursor) =>
    ask(api.GET("/v1/leases", { params: { query: { card_id: card.id, page_size: 25, start_cursor } } }))));
  const params = { path: { card_id: card.id } };
  const act = useAct(key);
  const run = (call: () => Promise<unknown>) => act.mutate(async () => {
    await call();
    store.put((await ask(api.GET("/v1/cards/{card_id}", { params }))) as Card);
  }, card.id);
  const { state, last_error, available_at, attempts } = card.queue;
  return (
    <div className="stack">
      {state !== "idle" && (
        <div className="row">
          <span className={`tag ${state === "exhausted" ? "bad" : state === "ready" ? "good" : "warn"}`}>{t(state)}</span>
          <span className="soft">{t("{{count}} attempts used", { count: attempts })}{available_at && <> · {t("again {{when}}", { when: ahead(available_at) })}</>}</span>
          <span className="grow" />
          {store.board.role === "admin" && card.lease && <button type="button" className="button small danger" aria-disabled={act.isBusy(card.id)} onClick={() => run(() => ask(api.POST("/v1/leases/{lease_id}:revoke", { params: { path: { lease_id: card.lease!.id } } })))}>{t("Revoke the lease")}</button>}
          {canEdit && state !== "leased" && state !== "held" && <button type="button" className="button small" aria-disabled={act.isBusy(card.id)} onClick={() => run(() => ask(api.POST("/v1/cards/{card_id}:hold", { params })))}>{t("Hold")}</button>}
          {canEdit && (state === "held" || state === "exhausted" || state === "backoff") && <button type="button" className="button small go" aria-disabled={act.isBusy(card.id)} onClick={() => run(() => ask(api.POST("/v1/cards/{card_id}:requeue", { params })))}>{t("Requeue")}</button>}
        </div>
      )}
      {last_error && <p className="late">{last_error}</p>}
      <Failure error={act.error} />
      <WaitPages query={query} empty={<p className="soft">{t("Nobody has claimed this card.")}</p>}>
        {(all) => (
          <ol className="attempts">
            {all.map((lease) => (
              <li key={lease.id} className="happening">
                <div className="grow">
                  <p className="row"><strong>{t("Attempt {{number}}", { number: lease.attempt })}</strong> <Who who={lease.holder} /> <span className={`tag ${tone[lease.state] ?? ""}`}>{t(lease.state)}</span></p>
                  <p className="soft small" title={shown(lease.claimed_at)}>
                    {t("claimed {{when}}", { when: ago(lease.claimed_at) })} · {lease.ended_at ? t("ended {{when}}", { when: ago(lease.ended_at) }) : t("until {{when}}", { when: shown(lease.expires_at) })}
                    {lease.cost?.model && <> · {lease.cost.model}</>}
                    {lease.cost?.amount != null && <> · {number(lease.cost.amount)} {lease.cost.currency}</>}
                  </p>
                  {lease.error && <p className="late">{lease.error}</p>}
                  {lease.result && <pre className="sample" tabIndex={0} role="region" aria-label={t("Result")}>{JSON.stringify(lease.result, null, 2)}</pre>}
                </div>
              </li>
            ))}
          </ol>
        )}
      </WaitPages>
    </div>
  );
}
