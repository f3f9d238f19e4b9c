import { useInfiniteQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, pagesQuery } from "../../api/queries";
import { ago, number, shown } from "../../app/time";
import { t } from "../../app/words";
import { TextField } from "../../parts/Field";
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
          <summary>{run.script ?? run.automation_id} <span className="soft mono small">{run.kind}</span></summary>
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
    <section className="panel" aria-label={t("Runs")}>
      <WaitPages query={query} empty={<Empty title={t("It has not run yet")} />}>
        {(all) => (
          <table className="table cards">
            <thead><tr><th>{t("When")}</th><th>{t("Automation")}</th><th>{t("Status")}</th><th>{t("Cost")}</th></tr></thead>
            <tbody>{all.map((run) => <OneRun key={run.id} run={run} />)}</tbody>
          </table>
        )}
      </WaitPages>
    </section>
  );
}

/** What scripts did in this workspace: each run with its calls, its log and what it cost. */
export default function Automations() {
  const [text, setText] = useState("");
  const [name, setName] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setName(text.trim());
  };
  return (
    <Page title={t("Automations")}>
      <form className="row" style={{ alignItems: "end" }} onSubmit={submit}>
        <TextField label={t("Automation")} value={text} onChange={(event) => setText(event.target.value)} required note={t("Its id, or the name of the script in the server's folder of scripts.")} />
        <button className="button go">{t("Show its runs")}</button>
      </form>
      {name && <Runs key={name} name={name} />}
    </Page>
  );
}
