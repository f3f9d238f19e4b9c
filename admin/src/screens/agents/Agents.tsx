import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, pagesQuery } from "../../api/queries";
import { useCommands } from "../../app/commands";
import { useSession } from "../../app/session";
import { ago, number } from "../../app/time";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { lazy } from "../../parts/lazy";
import { Empty, Page } from "../../parts/Page";
import { WaitPages } from "../../parts/Wait";
import { Face } from "../../parts/Who";
import { TokenTable, tokensQuery } from "./Tokens";

const NewAgent = lazy(() => import("./NewAgent"));
const NewToken = lazy(() => import("./NewToken"));

export function AgentStatus({ agent }: { agent: Pick<Schemas["AgentResponse"], "status"> }) {
  return <span className={`tag ${agent.status === "active" ? "good" : "bad"}`}>{t(agent.status)}</span>;
}

function Used({ agent }: { agent: Schemas["AgentResponse"] }) {
  const { requests_per_day, daily_writes } = agent.budgets;
  const of = (used: number, most: number | null) => (most === null ? number(used) : `${number(used)} / ${number(most)}`);
  return <>{t("{{requests}} requests, {{writes}} writes today", { requests: of(agent.usage.requests_today, requests_per_day), writes: of(agent.usage.writes_today, daily_writes) })}</>;
}

export default function Agents() {
  const { isAdmin } = useSession();
  const [making, setMaking] = useState<"" | "agent" | "token">("");
  const agents = useInfiniteQuery(pagesQuery(inOrg("agents"), (start_cursor) => ask(api.GET("/v1/agents", { params: { query: { page_size: 50, start_cursor } } }))));
  const [connected, setConnected] = useState(false);
  const tokens = useInfiniteQuery(tokensQuery({ connected }));
  useCommands(isAdmin ? [{ id: "new agent", label: t("New agent"), group: t("Agents"), keys: ["n"], icon: "plus", run: () => setMaking("agent") }] : [], [isAdmin]);
  return (
    <Page title={t("Agents")} actions={isAdmin && <button type="button" className="button go" onClick={() => setMaking("agent")}><Icon name="plus" />{t("New agent")}</button>}>
      <section className="panel" aria-label={t("Agents")}>
        <WaitPages query={agents} empty={(
          <Empty title={t("No agents yet")}>
            <p>{t("An agent is a member of the workspace that is a program: it has a name, a role, boards, budgets, and tokens instead of a password.")}</p>
            {isAdmin && <button type="button" className="button go" onClick={() => setMaking("agent")}>{t("Create an agent")}</button>}
          </Empty>
        )}>
          {(all) => (
            <table className="table cards">
              <thead><tr><th>{t("Agent")}</th><th>{t("Role")}</th><th>{t("Use")}</th><th>{t("Last seen")}</th><th>{t("Status")}</th></tr></thead>
              <tbody>
                {all.map((agent) => (
                  <tr key={agent.id}>
                    <td><Link href={`/agents/${agent.id}`} className="faced"><Face who={{ name: agent.name, principal_type: "agent" }} decorative /><strong>{agent.name}</strong></Link>{agent.description && <div className="soft small">{agent.description}</div>}</td>
                    <td>{t(agent.role)}{agent.board_grants.length > 0 && <span className="soft small"> · {t("{{count}} boards", { count: agent.board_grants.length })}</span>}</td>
                    <td className="small"><Used agent={agent} /></td>
                    <td className="small soft" data-label={t("Last seen")}>{agent.last_active_at ? ago(agent.last_active_at) : t("never")}</td>
                    <td><AgentStatus agent={agent} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </WaitPages>
      </section>
      <section className="panel" aria-labelledby="tokens-heading">
        <header className="row apart" style={{ padding: "0.8rem 0.9rem 0.2rem" }}>
          <h2 id="tokens-heading">{t("Tokens")}</h2>
          <span className="row">
            <button type="button" className="button small" aria-pressed={connected} onClick={() => setConnected(!connected)}>{t("Connected clients only")}</button>
            <button type="button" className="button small" onClick={() => setMaking("token")}>{t("New token of yours")}</button>
          </span>
        </header>
        <TokenTable query={tokens} none={connected ? t("No client is connected.") : t("There are no tokens.")} />
      </section>
      {making === "agent" && <NewAgent onClose={() => setMaking("")} />}
      {making === "token" && <NewToken onClose={() => setMaking("")} />}
    </Page>
  );
}
