import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, pagesQuery } from "../../api/queries";
import { useSession } from "../../app/session";
import { ago, ahead, shown } from "../../app/time";
import { t } from "../../app/words";
import { Empty, Page } from "../../parts/Page";
import { toast } from "../../parts/toasts";
import { useToldAct } from "../../parts/useAct";
import { useKeptFocus } from "../../parts/useKeptFocus";
import { WaitPages } from "../../parts/Wait";

type Mail = Schemas["EmailOutboxResponse"];
const statuses = ["", "queued", "sending", "sent", "failed"] as const;
const tone: Record<string, string> = { sent: "good", failed: "bad", queued: "warn", sending: "warn" };

/** The mails that the workspace sends, and what became of them. */
export default function Outbox() {
  const { seat } = useSession();
  const org_id = seat!.org_id;
  const [status, setStatus] = useState<(typeof statuses)[number]>("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const act = useToldAct(inOrg("outbox"));
  const query = useInfiniteQuery({
    ...pagesQuery(inOrg("outbox", status), (start_cursor) =>
      ask(api.GET("/v1/orgs/{org_id}/email-outbox", { params: { path: { org_id }, query: { page_size: 50, start_cursor, ...(status && { status }) } } }))),
    refetchInterval: 10_000,
  });
  const failed = query.data?.pages.flatMap(({ results }) => results).filter((mail) => mail.status === "failed").map(({ id }) => id) ?? [];
  const shownChosen = failed.filter((id) => chosen.has(id));
  const requeue = (ids: string[], about: string) => act.mutate(async () => {
    let count = 0;
    try {
      for (const outbox_id of ids) {
        const { requeued } = await ask(api.POST("/v1/orgs/{org_id}/email-outbox/{outbox_id}:requeue", { params: { path: { org_id, outbox_id } } }));
        if (requeued) count += 1;
        setChosen((before) => new Set([...before].filter((id) => id !== outbox_id)));
      }
    } finally {
      if (count) toast(t("{{count}} mails requeued", { count }));
      if (count < ids.length) void query.refetch();
    }
  }, about);
  const focus = useKeptFocus<HTMLElement>("tbody button");
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  return (
    <Page title={t("Mail")} actions={shownChosen.length > 0 && (
      <button type="button" className="button go" aria-disabled={act.isBusy("chosen")} onClick={() => requeue(shownChosen, "chosen")}>{t("Requeue {{count}}", { count: shownChosen.length })}</button>
    )}>
      <div className="row" role="group" aria-label={t("Status")}>
        {statuses.map((each) => <button key={each} type="button" className="button small" aria-pressed={status === each} onClick={() => { setStatus(each); setChosen(new Set()); }}>{each ? t(each) : t("All")}</button>)}
      </div>
      <section className="panel" aria-label={t("Mail")} {...focus}>
        <WaitPages query={query} empty={status
          ? <p className="empty">{t("No mails.")}</p>
          : <Empty title={t("No mails yet")}><p>{t("What this workspace mails comes here, with what became of it: invitations, and what people are notified of.")}</p></Empty>}>
          {(all) => (
            <table className="table cards">
              <thead><tr><th><span className="unseen">{t("Chosen")}</span></th><th>{t("To")}</th><th>{t("Subject")}</th><th>{t("Status")}</th><th>{t("When")}</th><th><span className="unseen">{t("Actions")}</span></th></tr></thead>
              <tbody>{all.map((mail) => <Row key={mail.id} mail={mail} chosen={chosen.has(mail.id)} onToggle={() => toggle(mail.id)} onAgain={() => requeue([mail.id], mail.id)} busy={act.isBusy(mail.id)} />)}</tbody>
            </table>
          )}
        </WaitPages>
      </section>
    </Page>
  );
}

function Row({ mail, chosen, onToggle, onAgain, busy }: { mail: Mail; chosen: boolean; onToggle: () => void; onAgain: () => void; busy: boolean }) {
  const hasFailed = mail.status === "failed";
  return (
    <tr>
      <td>{hasFailed && <input type="checkbox" aria-label={t("Choose the mail to {{address}}", { address: mail.recipient })} checked={chosen} onChange={onToggle} />}</td>
      <td className="long" style={{ minWidth: "14rem" }}>{mail.recipient}</td>
      <td className="long">{mail.subject}<div className="soft small mono">{mail.template}</div>{mail.last_error && <div className="late small">{mail.last_error}</div>}</td>
      <td><span className={`tag ${tone[mail.status]}`}>{t(mail.status)}</span>{mail.attempts > 1 && <div className="soft small">{t("{{count}} attempts", { count: mail.attempts })}</div>}</td>
      <td className="soft small nowrap" title={shown(mail.created_time)}>{ago(mail.sent_at ?? mail.created_time)}{mail.next_attempt_at && !mail.sent_at && <div>{t("again {{when}}", { when: ahead(mail.next_attempt_at) })}</div>}</td>
      <td className="end">{hasFailed && <button type="button" className="button small" aria-disabled={busy} aria-label={t("Requeue the mail to {{address}}", { address: mail.recipient })} onClick={onAgain}>{t("Requeue")}</button>}</td>
    </tr>
  );
}
