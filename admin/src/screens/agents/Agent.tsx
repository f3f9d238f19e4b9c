import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, pagesQuery } from "../../api/queries";
import { serves } from "../../app/serves";
import { useSession } from "../../app/session";
import { ago, number, shown } from "../../app/time";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { Failure } from "../../parts/Failure";
import { TextField } from "../../parts/Field";
import { lazy } from "../../parts/lazy";
import { Page } from "../../parts/Page";
import { toast } from "../../parts/toasts";
import { useAct } from "../../parts/useAct";
import { Wait, WaitPages } from "../../parts/Wait";
import { AgentStatus } from "./Agents";
import { Rights } from "./Rights";
import { TokenTable, tokensQuery } from "./Tokens";
import { Work } from "./Work";
import "./agents.css";

const NewToken = lazy(() => import("./NewToken"));
const BudgetDialog = lazy(() => import("./BudgetDialog"));
type AgentData = Schemas["AgentResponse"];

function Bar({ label, used, most }: { label: string; used?: number; most: number | null }) {
  const part = used === undefined || most === null ? 0 : Math.min(100, most === 0 ? 100 : (100 * used) / most);
  return (
    <div className="budget">
      <span>{label}</span>
      <span className="soft">{used !== undefined && number(used)}{most === null ? (used === undefined ? t("no limit") : ` · ${t("no limit")}`) : `${used === undefined ? "" : " / "}${number(most)}`}</span>
      {used !== undefined && most !== null && <span className="bar" aria-hidden="true"><span className={part > 90 ? "full" : ""} style={{ width: `${part}%` }} /></span>}
    </div>
  );
}

/** What the agent did lately, as the audit record has it. */
function Activity({ id }: { id: string }) {
  const query = useInfiniteQuery(pagesQuery(inOrg("agents", id, "activity"), (start_cursor) =>
    ask(api.GET("/v1/agents/{agent_id}/activity", { params: { path: { agent_id: id }, query: { page_size: 25, start_cursor } } }))));
  return (
    <section className="panel" aria-labelledby="activity-heading">
      <h2 id="activity-heading" style={{ padding: "0.8rem 0.9rem 0.2rem" }}>{t("Activity")}</h2>
      <WaitPages query={query} empty={<p className="soft" style={{ padding: "0 0.9rem 0.9rem", margin: 0 }}>{t("Nothing yet.")}</p>}>
        {(all) => (
          <table className="table cards">
            <thead><tr><th>{t("When")}</th><th>{t("What")}</th><th>{t("To what")}</th><th>{t("Via")}</th><th>{t("Outcome")}</th></tr></thead>
            <tbody>
              {all.map((each) => (
                <tr key={each.id}>
                  <td className="soft small nowrap" title={shown(each.occurred_at)}>{ago(each.occurred_at)}</td>
                  <td className="mono">{each.action}</td>
                  <td className="long">{each.target?.type === "card" ? <Link href={`/cards/${each.target.id}`}>{each.target.name ?? t("a card")}</Link> : each.target?.name ?? each.target?.type}</td>
                  <td className="soft">{each.via}</td>
                  <td><span className={`tag ${each.outcome === "success" ? "good" : "bad"}`}>{t(each.outcome)}</span></td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </WaitPages>
    </section>
  );
}

function KillSwitch({ agent }: { agent: AgentData }) {
  const act = useAct(inOrg("agents"));
  const [asking, setAsking] = useState(false);
  const [reason, setReason] = useState("");
  const params = { path: { agent_id: agent.id } };
  const isDisabled = agent.status === "disabled";
  const { isPending } = act;
  useEffect(() => { // by another, while the reason was being written
    if (!isDisabled || !asking || isPending) return;
    setAsking(false);
    toast(t("{{name}} is disabled already", { name: agent.name }));
  }, [isDisabled, asking, isPending, agent.name]);
  if (isDisabled)
    return (
      <>
        <button type="button" className="button go" aria-disabled={act.isBusy("enable")} onClick={() => act.mutate(() => ask(api.POST("/v1/agents/{agent_id}:enable", { params })), "enable")}>{t("Enable the agent")}</button>
        <Failure error={act.error} />
      </>
    );
  return (
    <>
      <button type="button" className="button danger" onClick={() => setAsking(true)}>{t("Disable the agent")}</button>
      {asking && (
        <FormDialog title={t("Disable {{name}}", { name: agent.name })} send={t("Disable it now")} danger busy={act.isPending} error={act.error} onClose={() => setAsking(false)}
          onSend={() => act.mutate(async () => {
            await ask(api.POST("/v1/agents/{agent_id}:disable", { params, body: reason ? { reason } : {} }));
            setAsking(false);
          })}>
          <p>{t("From the next request on it is refused everywhere; its leases end and their cards are ready for others. Its tokens stay, for when it is enabled again.")}</p>
          <TextField label={t("Why")} value={reason} onChange={(event) => setReason(event.target.value)} maxLength={500} autoFocus />
        </FormDialog>
      )}
    </>
  );
}

export default function Agent() {
  const { id = "" } = useParams();
  const { isAdmin } = useSession();
  const [, go] = useLocation();
  const [open, setOpen] = useState<"" | "token" | "budgets" | "delete">("");
  const query = useQuery({ queryKey: inOrg("agents", id), queryFn: () => ask(api.GET("/v1/agents/{agent_id}", { params: { path: { agent_id: id } } })) });
  const tokens = useInfiniteQuery(tokensQuery({ agent_id: id }));
  const remove = useAct(inOrg("agents"));
  return (
    <Page title={query.data?.name ?? t("Agent")} actions={query.data && !query.error && (
      <>
        <AgentStatus agent={query.data} />
        {isAdmin && <KillSwitch agent={query.data} />}
        {isAdmin && <button type="button" className="button" onClick={() => setOpen("budgets")}>{t("Edit…")}</button>}
        {isAdmin && <button type="button" className="button danger" onClick={() => setOpen("delete")}>{t("Delete…")}</button>}
      </>
    )}>
      <p className="soft" style={{ margin: 0 }}><Link href="/agents">{t("All agents")}</Link></p>
      <Wait query={query}>
        {(agent) => (
          <>
            <section className="panel padded agent-facts">
              <div>
                {agent.description && <p>{agent.description}</p>}
                <Rights agent={agent} />
                {agent.disabled_reason && <p className="late">{t("Disabled: {{why}}", { why: agent.disabled_reason })}</p>}
              </div>
              <div>
                <Bar label={t("Requests today")} used={agent.usage.requests_today} most={agent.budgets.requests_per_day} />
                <Bar label={t("Writes today")} used={agent.usage.writes_today} most={agent.budgets.daily_writes} />
                <Bar label={t("Requests a minute")} most={agent.budgets.requests_per_minute} />
                <Bar label={t("Cards leased at once")} most={agent.budgets.max_leases} />
                <p className="soft small">{t("Today's counts reset {{when}}.", { when: ago(agent.usage.resets_at) })}</p>
              </div>
            </section>
            <section className="panel" aria-labelledby="tokens-heading">
              <header className="row apart" style={{ padding: "0.8rem 0.9rem 0.2rem" }}>
                <h2 id="tokens-heading">{t("Tokens")}</h2>
                {isAdmin && <button type="button" className="button small" onClick={() => setOpen("token")}>{t("New token")}</button>}
              </header>
              <TokenTable query={tokens} none={isAdmin ? t("There are no tokens.") : t("You see the tokens of yours; admins see all.")} />
            </section>
            {isAdmin && serves("get_agent_work") && <Work id={id} />}
            <Activity id={id} />
            {open === "token" && <NewToken agent={agent} onClose={() => setOpen("")} />}
            {open === "budgets" && <BudgetDialog agent={agent} onClose={() => setOpen("")} />}
            {open === "delete" && (
              <FormDialog title={t("Delete {{name}}", { name: agent.name })} send={t("Delete the agent")} danger busy={remove.isPending} error={remove.error} onClose={() => setOpen("")}
                onSend={() => remove.mutate(async () => {
                  await ask(api.DELETE("/v1/agents/{agent_id}", { params: { path: { agent_id: id } } }));
                  go("/agents");
                })}>
                <p>{t("Its tokens end for good. What it did keeps its name.")}</p>
              </FormDialog>
            )}
          </>
        )}
      </Wait>
    </Page>
  );
}
