import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, pagesQuery } from "../../api/queries";
import { ago, ahead, number, shown } from "../../app/time";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { Failure } from "../../parts/Failure";
import { lazy } from "../../parts/lazy";
import { Page } from "../../parts/Page";
import { toast } from "../../parts/toasts";
import { useAct } from "../../parts/useAct";
import { Wait, WaitPages } from "../../parts/Wait";
import { SecretOfWebhook } from "./SecretOfWebhook";
import { WebhookStatus } from "./Webhooks";

const WebhookDialog = lazy(() => import("./WebhookDialog"));
const Verifier = lazy(() => import("./Verifier"));
const tone: Record<string, string> = { succeeded: "good", failed: "bad", abandoned: "bad", pending: "warn" };

function Delivery({ delivery, again, busy }: { delivery: Schemas["DeliveryResponse"]; again: () => void; busy: boolean }) {
  const last = delivery.attempts.at(-1);
  return (
    <tr>
      <td className="soft small" title={shown(delivery.created_time)}>{ago(delivery.created_time)}</td>
      <td>
        <details>
          <summary><span className="mono">{delivery.kind}</span></summary>
          <p className="soft small mono">{delivery.event_id}</p>
          <ol className="small" style={{ paddingLeft: "1.2rem" }}>
            {delivery.attempts.map((each) => <li key={each.number}>{shown(each.at)} · {each.status_code ?? each.error} · {t("{{count}} ms", { count: each.duration_ms })}</li>)}
          </ol>
          {delivery.response_excerpt && <pre className="sample" tabIndex={0} role="region" aria-label={t("What it answered")}>{delivery.response_excerpt}</pre>}
        </details>
      </td>
      <td><span className={`tag ${tone[delivery.status] ?? ""}`}>{t(delivery.status)}</span></td>
      <td className="small long">{last ? `${last.status_code ?? last.error ?? ""} · ${number(last.duration_ms)} ms` : ""}{delivery.next_attempt_at && <div className="soft">{t("again {{when}}", { when: ahead(delivery.next_attempt_at) })}</div>}</td>
      <td className="end"><button type="button" className="button small" aria-disabled={busy} aria-label={t("Redeliver {{kind}}", { kind: delivery.kind })} onClick={again}>{t("Redeliver")}</button></td>
    </tr>
  );
}

export default function Webhook() {
  const { id = "" } = useParams();
  const [, go] = useLocation();
  const [failed, setFailed] = useState(false);
  const [open, setOpen] = useState<"" | "edit" | "delete" | "verify" | "rotate">("");
  const [secret, setSecret] = useState<string>();
  const params = { path: { webhook_id: id } };
  const query = useQuery({ queryKey: inOrg("webhooks", id), queryFn: () => ask(api.GET("/v1/webhooks/{webhook_id}", { params })) });
  const deliveries = useInfiniteQuery({
    ...pagesQuery(inOrg("webhooks", id, "deliveries", failed), (start_cursor) =>
      ask(api.GET("/v1/webhooks/{webhook_id}/deliveries", { params: { ...params, query: { page_size: 50, start_cursor, ...(failed && { failed }) } } }))),
    refetchInterval: 5_000,
  });
  const act = useAct(inOrg("webhooks"));
  const run = (call: () => Promise<unknown>, about?: string) => () => act.mutate(call, about);
  const show = (next: typeof open) => {
    act.reset();
    setOpen(next);
  };
  return (
    <Page title={query.data ? query.data.name ?? new URL(query.data.url).host : t("Webhook")} actions={query.data && (
      <>
        <WebhookStatus webhook={query.data} />
        <button type="button" className="button go" aria-disabled={act.isBusy("test")} onClick={run(async () => {
          await ask(api.POST("/v1/webhooks/{webhook_id}:test", { params }));
          toast(t("A test is on its way"));
        }, "test")}>{t("Send a test")}</button>
        <button type="button" className="button" aria-disabled={act.isBusy("status")}
          onClick={run(() => ask(api.PATCH("/v1/webhooks/{webhook_id}", { params, body: { status: query.data.status === "active" ? "paused" : "active" } })), "status")}>
          {query.data.status === "active" ? t("Pause") : t("Resume")}
        </button>
        <button type="button" className="button" onClick={() => show("edit")}>{t("Edit…")}</button>
        <button type="button" className="button danger" onClick={() => show("delete")}>{t("Delete…")}</button>
      </>
    )}>
      <p className="soft" style={{ margin: 0 }}><Link href="/webhooks">{t("All webhooks")}</Link></p>
      {!open && <Failure error={act.error} />}
      <Wait query={query}>
        {(webhook) => (
          <>
            <section className="panel padded stack">
              <p style={{ margin: 0 }}><span className="mono">{webhook.url}</span></p>
              <p className="soft" style={{ margin: 0 }}>{webhook.events.join(", ")}</p>
              {webhook.disabled_reason && <p className="late" style={{ margin: 0 }}>{webhook.disabled_reason}</p>}
              <div className="row">
                <span className="soft">{t("Secret")} <span className="mono">{webhook.secret_hint}</span></span>
                <button type="button" className="button small" onClick={() => show("rotate")}>{t("Rotate the secret…")}</button>
                <button type="button" className="button small" onClick={() => show("verify")}>{t("Check a signature…")}</button>
              </div>
            </section>
            <section className="panel" aria-labelledby="deliveries-heading">
              <header className="row apart" style={{ padding: "0.8rem 0.9rem 0.2rem" }}>
                <h2 id="deliveries-heading">{t("Deliveries")}</h2>
                <span className="row">
                  <button type="button" className="button small" aria-pressed={failed} onClick={() => setFailed(!failed)}>{t("Failed only")}</button>
                  <button type="button" className="button small" aria-disabled={act.isBusy("redeliver")} onClick={run(async () => {
                    const { count } = await ask(api.POST("/v1/webhooks/{webhook_id}:redeliver", { params, body: {} }));
                    toast(t("{{count}} redelivered", { count }));
                  }, "redeliver")}>{t("Redeliver all failed")}</button>
                </span>
              </header>
              <WaitPages query={deliveries} empty={<p className="soft" style={{ padding: "0 0.9rem 0.9rem", margin: 0 }}>{t("Nothing was sent yet.")}</p>}>
                {(all) => (
                  <table className="table cards">
                    <thead><tr><th>{t("When")}</th><th>{t("Event")}</th><th>{t("Status")}</th><th>{t("Last attempt")}</th><th><span className="unseen">{t("Actions")}</span></th></tr></thead>
                    <tbody>
                      {all.map((each) => (
                        <Delivery key={each.id} delivery={each} busy={act.isBusy(each.id)}
                          again={run(() => ask(api.POST("/v1/webhooks/{webhook_id}/deliveries/{delivery_id}:redeliver", { params: { path: { webhook_id: id, delivery_id: each.id } } })), each.id)} />
                      ))}
                    </tbody>
                  </table>
                )}
              </WaitPages>
            </section>
            {open === "edit" && <WebhookDialog webhook={webhook} onClose={() => setOpen("")} />}
            {open === "verify" && <Verifier onClose={() => setOpen("")} />}
            {open === "rotate" && (
              <FormDialog title={t("Rotate the secret")} send={t("Rotate")} busy={act.isPending} once error={act.error} onClose={() => setOpen("")}
                onSend={run(async () => {
                  const next = await ask(api.POST("/v1/webhooks/{webhook_id}:rotate-secret", { params, body: { overlap_seconds: 86_400 } }));
                  setOpen("");
                  setSecret(next.secret);
                })}>
                <p>{t("Deliveries are signed by both secrets for a day; then the old one is over.")}</p>
              </FormDialog>
            )}
            {open === "delete" && (
              <FormDialog title={t("Delete the webhook")} send={t("Delete")} danger busy={act.isPending} error={act.error} onClose={() => setOpen("")}
                onSend={run(async () => {
                  await ask(api.DELETE("/v1/webhooks/{webhook_id}", { params }));
                  go("/webhooks");
                })}>
                <p>{t("What was not delivered yet is not sent any more.")}</p>
              </FormDialog>
            )}
            {secret && <SecretOfWebhook secret={secret} onClose={() => setSecret(undefined)} />}
          </>
        )}
      </Wait>
    </Page>
  );
}
