import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearch } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, pagesQuery } from "../../api/queries";
import { ago, number, shown } from "../../app/time";
import { t } from "../../app/words";
import { Empty, Page } from "../../parts/Page";
import { WaitPages } from "../../parts/Wait";

type Run = Schemas["AutomationRun"];
const tone: Record<string, string> = { succeeded: "good", failed: "bad", refused: "warn", skipped: "", queued: "warn", running: "warn" };

function OneRun({ run }: { run: Run }) {
  return (
    <tr>
      <td className="soft small" title={shown(run.created_time)}>{ago(run.created_time)}</td>
      <td>
        <details>
          <summary className="mono">{run.kind}</summary>
          {run.calls.length > 0 && (
            <ul className="small" style={{ listStyle: "none", padding: "0.4rem 0" }}>
              {run.calls.map((call, at) => (
                <li key={at}><span className={`tag ${call.outcome === "done" ? "good" : call.outcome === "would_do" ? "warn" : "bad"}`}>{t(call.outcome.replace("_", " "))}</span> <span className="mono">{call.operation}</span> {call.error && <span className="late">{call.error}</span>}</li>
              ))}
            </ul>
          )}
          {run.error && <pre className="sample late" tabIndex={0} role="region" aria-label={t("Error")}>{run.error}</pre>}
          {run.log.length > 0 && <pre className="sample" tabIndex={0} role="region" aria-label={t("What it wrote")}>{run.log.join("\n")}</pre>}
        </details>
      </td>
      <td><span className={`tag ${tone[run.status]}`}>{t(run.status)}</span>{run.mode !== "on" && <span className="tag">{t(run.mode.replace("_", " "))}</span>}</td>
      <td className="small soft">{run.duration_ms !== null && t("{{count}} ms", { count: run.duration_ms })} · {t("{{count}} instructions", { count: number(run.instructions) })} · {t("{{count}} calls", { count: run.calls.length })}</td>
    </tr>
  );
}

function Runs({ name }: { name: string }) {
  const query = useInfiniteQuery({
    ...pagesQuery(inOrg("automations", name), (start_cursor) => ask(api.GET("/v1/automations/{automation_id}/runs", { params: { path: { automation_id: name }, query: { page_size: 50, start_cursor } } }))),
    refetchInterval: 5_000, retry: false,
  });
  return (
    <section className="panel" aria-labelledby="runs-heading">
      <h2 id="runs-heading" style={{ padding: "0.8rem 0.9rem 0.2rem" }}>{t("Runs of {{name}}", { name })}</h2>
      <WaitPages query={query} empty={<p className="soft" style={{ padding: "0 0.9rem 0.9rem", margin: 0 }}>{t("It has not run in this workspace yet.")}</p>}>
        {(all) => (
          <table className="table cards">
            <thead><tr><th>{t("When")}</th><th>{t("Event")}</th><th>{t("Status")}</th><th>{t("Cost")}</th></tr></thead>
            <tbody>{all.map((run) => <OneRun key={run.id} run={run} />)}</tbody>
          </table>
        )}
      </WaitPages>
    </section>
  );
}

/** The operator's scripts, and what each did in this workspace: its calls, its log and what it cost. */
export default function Automations() {
  const name = new URLSearchParams(useSearch()).get("script") ?? "";
  const query = useInfiniteQuery({
    ...pagesQuery(inOrg("automations"), (start_cursor) => ask(api.GET("/v1/automations", { params: { query: { page_size: 50, start_cursor } } }))),
    refetchInterval: 10_000,
  });
  return (
    <Page title={t("Automations")}>
      <section className="panel" aria-label={t("Scripts")}>
        <WaitPages query={query} empty={<Empty title={t("No scripts run")}><p>{t("Scripts answer events: they label, assign, move or refuse. The operator of this server switches them on.")}</p></Empty>}>
          {(all) => (
            <table className="table cards">
              <thead><tr><th>{t("Script")}</th><th>{t("Waits for")}</th><th>{t("Calls")}</th><th>{t("Last run")}</th></tr></thead>
              <tbody>
                {all.map((each) => (
                  <tr key={each.id}>
                    <td><Link href={`/automations?script=${encodeURIComponent(each.name)}`} aria-current={each.name === name ? "true" : undefined}><strong>{each.name}</strong></Link></td>
                    <td className="small">{each.binds.map(({ when, event }) => <div key={`${when} ${event}`}>{t(when)} <span className="mono">{event}</span></div>)}</td>
                    <td className="small mono">{each.operations.join(", ")}</td>
                    <td>{each.last_status && <span className={`tag ${tone[each.last_status]}`}>{t(each.last_status)}</span>} <span className="soft small">{each.last_run_at ? ago(each.last_run_at) : t("never")}</span>
                      {each.disabled_at && <div className="small"><span className="tag bad" title={shown(each.disabled_at)}>{t("disabled here")}</span> {each.disabled_reason}</div>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </WaitPages>
      </section>
      {name && <Runs key={name} name={name} />}
    </Page>
  );
}
