import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { Refusal } from "../../api/refusal";
import { ago, number, shown } from "../../app/time";
import { t } from "../../app/words";
import { Failure } from "../../parts/Failure";
import { Facts } from "../../parts/Facts";
import { Empty, Page } from "../../parts/Page";
import { sizeInWords } from "../../parts/upload";
import { Waiting } from "../../parts/Wait";
import "./server.css";

type Metric = Schemas["ServerState"]["metrics"][number];
const kept = 90; // samples: a quarter of an hour
const most = 3; // kinds of jobs that are named
const every = 10_000; // milliseconds; the server measures no oftener

const groups: [string, RegExp][] = [
  ["Jobs", /job/], ["Queues", /queue|lease|card/], ["Mail", /mail/], ["Webhooks", /webhook|deliver/], ["Streams", /stream|live|event/], ["Scripts", /script|automation/], ["Process", /process|memory|thread|open_fds|cpu/],
];
const groupOf = ({ name }: Metric) => groups.find(([, pattern]) => pattern.test(name))?.[0] ?? "Other";
const keyOf = ({ name, labels }: Metric) => `${name}{${labels}}`;
const inWords = ({ name, value }: Metric) =>
  /_bytes(_|$)/.test(name) ? sizeInWords(value) : /_time_seconds$/.test(name) ? shown(new Date(value * 1_000).toISOString()) : number(Math.abs(value) < 10 ? Math.round(value * 100) / 100 : Math.round(value));

/** One line for all kinds of jobs: their sum, or the longest time, and which kinds there are of it now. */
function byState(metrics: Metric[]): (Metric & { kinds: string[] })[] {
  const lines = new Map<string, Metric & { kinds: string[] }>();
  for (const metric of metrics) {
    const kind = /(?:^|,)kind="([^"]*)",?/.exec(metric.labels);
    const labels = kind ? metric.labels.replace(kind[0], "") : metric.labels;
    const key = keyOf({ ...metric, labels });
    const line = lines.get(key) ?? { ...metric, labels, value: 0, kinds: [] };
    const value = metric.name.endsWith("_seconds") ? Math.max(line.value, metric.value) : line.value + metric.value;
    lines.set(key, { ...line, value, kinds: kind && metric.value > 0 ? [...line.kinds, kind[1]!] : line.kinds });
  }
  return [...lines.values()];
}

/** What a number was while this page was open. */
function Line({ values }: { values: number[] }) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (values.length < 2 || low === high) return null;
  const points = values.map((value, at) => `${((at / (values.length - 1)) * 96 + 2).toFixed(1)},${(22 - ((value - low) / (high - low)) * 20).toFixed(1)}`).join(" ");
  return <svg className="spark" viewBox="0 0 100 24" aria-hidden="true"><polyline points={points} fill="none" stroke="currentColor" strokeWidth="1.6" /></svg>;
}

/** The server's own state, for those who run it: what is on, the database, and its numbers as they go. */
export default function Server() {
  const query = useQuery({ queryKey: ["server"], queryFn: () => ask(api.GET("/v1/operator/status")), refetchInterval: every, retry: false });
  const samples = useRef(new Map<string, number[]>());
  useEffect(() => {
    for (const metric of byState(query.data?.metrics ?? [])) samples.current.set(keyOf(metric), [...(samples.current.get(keyOf(metric)) ?? []), metric.value].slice(-kept));
  }, [query.data]);
  if (query.error instanceof Refusal && query.error.status === 404)
    return <Page title={t("Server")}><Empty title={t("Not for this account")}><p>{t("The server's state is for the accounts that its settings name in operators.accounts.")}</p></Empty></Page>;
  if (!query.data) return <Page title={t("Server")}>{query.error ? <Failure error={query.error} retry={() => void query.refetch()} /> : <Waiting />}</Page>;
  const { server_version, base_url, database, modules } = query.data;
  const metrics = byState(query.data.metrics);
  const started = metrics.find(({ name }) => name.endsWith("process_start_time_seconds"))?.value;
  const names = [...groups.map(([name]) => name), "Other"].filter((name) => metrics.some((metric) => groupOf(metric) === name));
  return (
    <Page title={t("Server")} actions={<button type="button" className="button" aria-disabled={query.isFetching} onClick={() => void query.refetch()}>{t("Refresh")}</button>}>
      <section className="panel padded" aria-label={t("The server")}>
        <Facts rows={[
          [t("Version"), server_version], [t("Address"), base_url], [t("Started"), started && ago(new Date(started * 1_000).toISOString())],
          [t("PostgreSQL"), database.version], [t("Database"), sizeInWords(database.size_bytes)], [t("Connections"), number(database.connections)],
        ]} />
        {query.error && <Failure error={query.error} />}
      </section>
      <div className="server-numbers">
        {names.map((name) => (
          <section key={name} className="panel padded" aria-labelledby={`numbers-${name}`}>
            <h2 id={`numbers-${name}`}>{t(name)}</h2>
            <dl>
              {metrics.filter((metric) => groupOf(metric) === name).map((metric) => (
                <div key={keyOf(metric)} title={keyOf(metric)}>
                  <dt>{metric.help.replace(/\.$/, "")}{metric.labels && <span className="mono soft small"> {metric.labels.replace(/"/g, "")}</span>}{metric.kinds.length > 0 && <span className="soft small">: {metric.kinds.slice(0, most).join(", ")}{metric.kinds.length > most && ` +${metric.kinds.length - most}`}</span>}</dt>
                  <dd><Line values={samples.current.get(keyOf(metric)) ?? []} />{inWords(metric)}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <section className="panel" aria-labelledby="modules-heading">
        <h2 id="modules-heading" style={{ padding: "0.8rem 0.9rem 0.2rem" }}>{t("Modules and plugins")}</h2>
        <table className="table cards">
          <thead><tr><th>{t("Name")}</th><th>{t("Kind")}</th><th>{t("Version")}</th><th>{t("Builds on")}</th></tr></thead>
          <tbody>{modules.map((each) => <tr key={each.name}><td><strong>{each.name}</strong></td><td>{each.kind === "driver" ? t("driver") : t("feature")}</td><td>{each.version}</td><td className="soft">{each.needs.join(", ")}</td></tr>)}</tbody>
        </table>
      </section>
    </Page>
  );
}
