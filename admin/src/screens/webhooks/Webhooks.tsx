import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, pagesQuery } from "../../api/queries";
import { useCommands } from "../../app/commands";
import { useSession } from "../../app/session";
import { ago } from "../../app/time";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { lazy } from "../../parts/lazy";
import { Empty, Page } from "../../parts/Page";
import { WaitPages } from "../../parts/Wait";

const WebhookDialog = lazy(() => import("./WebhookDialog"));

export function WebhookStatus({ webhook }: { webhook: Pick<Schemas["WebhookResponse"], "status" | "consecutive_failures"> }) {
  const tone = webhook.status === "disabled" ? "bad" : webhook.status === "paused" ? "warn" : webhook.consecutive_failures > 0 ? "warn" : "good";
  return <span className={`tag ${tone}`}>{webhook.status === "active" && webhook.consecutive_failures > 0 ? t("failing") : t(webhook.status)}</span>;
}

export default function Webhooks() {
  const [making, setMaking] = useState(false);
  const query = useInfiniteQuery(pagesQuery(inOrg("webhooks"), (start_cursor) => ask(api.GET("/v1/webhooks", { params: { query: { page_size: 50, start_cursor } } }))));
  const { isAdmin } = useSession();
  useCommands(isAdmin ? [{ id: "new webhook", label: t("New webhook"), group: t("Webhooks"), keys: ["n"], icon: "plus", run: () => setMaking(true) }] : [], [isAdmin]);
  return (
    <Page title={t("Webhooks")} actions={isAdmin && <button type="button" className="button go" onClick={() => setMaking(true)}><Icon name="plus" />{t("New webhook")}</button>}>
      <section className="panel" aria-label={t("Webhooks")}>
        <WaitPages query={query} empty={<Empty title={t("No webhooks yet")}><p>{t("A webhook sends what happens here to an address of yours, signed, and again until it is taken.")}</p><button type="button" className="button go" onClick={() => setMaking(true)}>{t("Create a webhook")}</button></Empty>}>
          {(all) => (
            <table className="table cards">
              <thead><tr><th>{t("Address")}</th><th>{t("Events")}</th><th>{t("Last success")}</th><th>{t("Last failure")}</th><th>{t("Status")}</th></tr></thead>
              <tbody>
                {all.map((webhook) => (
                  <tr key={webhook.id}>
                    <td><Link href={`/webhooks/${webhook.id}`}><strong>{webhook.name ?? new URL(webhook.url).host}</strong></Link><div className="soft small">{webhook.url}</div></td>
                    <td className="small">{webhook.events.slice(0, 4).join(", ")}{webhook.events.length > 4 && " …"}</td>
                    <td className="soft small" data-label={t("Last success")}>{webhook.last_success_at ? ago(webhook.last_success_at) : t("never")}</td>
                    <td className="soft small" data-label={t("Last failure")}>{webhook.last_failure_at ? ago(webhook.last_failure_at) : t("never")}</td>
                    <td><WebhookStatus webhook={webhook} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </WaitPages>
      </section>
      {making && <WebhookDialog onClose={() => setMaking(false)} />}
    </Page>
  );
}
