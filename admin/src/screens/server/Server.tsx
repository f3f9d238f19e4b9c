import { useQuery } from "@tanstack/react-query";
import { api, ask } from "../../api/client";
import { Refusal } from "../../api/refusal";
import { ago, number } from "../../app/time";
import { t } from "../../app/words";
import { Failure } from "../../parts/Failure";
import { Facts } from "../../parts/Facts";
import { Empty, Page } from "../../parts/Page";
import { sizeInWords } from "../../parts/sizes";
import { Waiting } from "../../parts/Wait";
import { Lags } from "./Lags";
import { HealthTag, Modules } from "./Modules";
import { Numbers } from "./Numbers";
import { withoutKinds } from "./readings";
import { Settings } from "./Settings";
import "./server.css";

const every = 10_000; // milliseconds; the server measures no oftener
const soon = 1_000; // until what is being checked is known

/** The server's own state, for those who run it: how it does, what waits, what is on, and the settings. */
export default function Server() {
  const query = useQuery({
    queryKey: ["server"], queryFn: () => ask(api.GET("/v1/operator/status")), retry: false,
    refetchInterval: ({ state }) => (state.data && !state.data.checked_time ? soon : every),
  });
  if (query.error instanceof Refusal && query.error.status === 404)
    return <Page title={t("Server")}><Empty title={t("Not for this account")}><p>{t("The server's state is for the accounts that its settings name in operators.accounts.")}</p></Empty></Page>;
  if (!query.data) return <Page title={t("Server")}>{query.error ? <Failure error={query.error} retry={() => void query.refetch()} /> : <Waiting />}</Page>;
  const { server_version, base_url, database, health, settings, history_times } = query.data;
  const numbers = withoutKinds(query.data.metrics);
  const started = numbers.find(({ name }) => name.endsWith("process_start_time_seconds"))?.value;
  return (
    <Page title={t("Server")} actions={<><HealthTag health={health} /><button type="button" className="button" aria-disabled={query.isFetching} onClick={() => void query.refetch()}>{t("Refresh")}</button></>}>
      <Failure error={query.error} />
      <section className="panel padded" aria-label={t("The server")}>
        <Facts rows={[
          [t("Version"), server_version], [t("Address"), base_url], [t("Started"), started && ago(new Date(started * 1_000).toISOString())],
          [t("PostgreSQL"), database.version], [t("Database"), sizeInWords(database.size_bytes)], [t("Connections"), number(database.connections)],
        ]} />
      </section>
      <Lags numbers={numbers} times={history_times} />
      <Modules server={query.data} />
      <Settings settings={settings} />
      <Numbers numbers={numbers} />
    </Page>
  );
}
