import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { everything, inOrg, pagesQuery, principalsQuery } from "../../api/queries";
import { useSession } from "../../app/session";
import { isoDay, number, shown } from "../../app/time";
import { t } from "../../app/words";
import { download } from "../../parts/download";
import { Failure } from "../../parts/Failure";
import { Choose, TextField } from "../../parts/Field";
import { Page } from "../../parts/Page";
import { WaitPages } from "../../parts/Wait";
import { Who } from "../../parts/Who";

type Entry = Schemas["AuditEvent"];
const json = (value: unknown) => (value && Object.keys(value).length ? JSON.stringify(value, null, 2) : undefined);

function Details({ entry }: { entry: Entry }) {
  const [before, after] = [json(entry.before), json(entry.after)];
  return (
    <details>
      <summary><span className="mono">{entry.action}</span></summary>
      <dl className="facts small" style={{ margin: "0.5rem 0" }}>
        <div><dt>{t("Number")}</dt><dd>{entry.sequence}</dd></div>
        {entry.ip_address && <div><dt>{t("From")}</dt><dd>{entry.ip_address}</dd></div>}
        {entry.user_agent && <div><dt>{t("By")}</dt><dd>{entry.user_agent}</dd></div>}
        {entry.request_id && <div><dt>{t("Request")}</dt><dd className="mono">{entry.request_id}</dd></div>}
        <div><dt>{t("Digest")}</dt><dd className="mono">{entry.hash}</dd></div>
      </dl>
      {before && <pre className="sample" tabIndex={0} role="region" aria-label={t("Before")}>{before}</pre>}
      {after && <pre className="sample" tabIndex={0} role="region" aria-label={t("After")} style={{ marginTop: "0.4rem" }}>{after}</pre>}
    </details>
  );
}

function Target({ target }: { target: Entry["target"] }) {
  if (!target) return null;
  const name = target.name ?? target.type;
  if (target.type === "card" && target.id) return <Link href={`/cards/${target.id}`}>{name}</Link>;
  if (target.type === "board" && target.id) return <Link href={`/boards/${target.id}`}>{name}</Link>;
  return <>{name}</>;
}

const mostExported = 10_000;

/** The newest entry's number and digest: noted down, they show later whether the record was rewritten. */
function Chain({ org_id, listed }: { org_id: string; listed: Entry | undefined }) {
  const read = useQuery({ queryKey: inOrg("audit", "newest"), queryFn: () => ask(api.GET("/v1/orgs/{org_id}/audit-events", { params: { path: { org_id }, query: { page_size: 1 } } })) }).data?.results[0];
  const newest = listed && !(read && read.sequence > listed.sequence) ? listed : read; // a filter leaves it out
  if (!newest) return null;
  return (
    <p className="soft small" style={{ margin: 0 }}>
      {t("Each entry's digest holds that of the one before it. The newest is number {{number}}, with the digest", { number: number(newest.sequence) })} <span className="mono">{newest.hash}</span>
    </p>
  );
}

/** The actors to filter by: everybody in the workspace, and whoever else the entries that are shown name. */
function actorsOf(people: { id: string; name: string }[], entries: Entry[]) {
  const known = new Map([...entries.map(({ actor }) => [actor.id, actor.name] as const), ...people.map(({ id, name }) => [id, name] as const)]);
  return [...known].flatMap(([value, label]) => (value && label ? [{ value, label }] : []));
}

/** What was done or refused, by whom; it can be added to and never changed. */
export default function Audit() {
  const { seat } = useSession();
  const org_id = seat!.org_id;
  const people = useQuery(principalsQuery());
  const [action, setAction] = useState("");
  const [actor_id, setActor] = useState("");
  const [outcome, setOutcome] = useState<"" | "success" | "denied">("");
  const filter = { ...(action && { action }), ...(actor_id && { actor_id }), ...(outcome && { outcome }) };
  const query = useInfiniteQuery(pagesQuery(inOrg("audit", filter), (start_cursor) =>
    ask(api.GET("/v1/orgs/{org_id}/audit-events", { params: { path: { org_id }, query: { page_size: 50, start_cursor, ...filter } } }))));
  const entries = query.data?.pages.flatMap(({ results }) => results) ?? [];
  const save = useMutation({
    mutationFn: async () => {
      const all = await everything((start_cursor) =>
        ask(api.GET("/v1/orgs/{org_id}/audit-events", { params: { path: { org_id }, query: { page_size: 100, start_cursor, ...filter } } })), mostExported);
      download(`audit-${isoDay(new Date())}.jsonl`, all.map((entry) => JSON.stringify(entry) + "\n").join(""), "application/jsonl");
    },
  });
  return (
    <Page title={t("Audit record")} actions={<button type="button" className="button" aria-disabled={save.isPending} onClick={() => { if (!save.isPending) save.mutate(); }}>{save.isPending ? t("One moment…") : t("Export")}</button>}>
      <Chain org_id={org_id} listed={entries[0]} />
      <Failure error={save.error} />
      <div className="row" style={{ alignItems: "end" }}>
        <TextField label={t("Action")} value={action} onChange={(event) => setAction(event.target.value.trim())} placeholder="move_card" />
        <Choose label={t("By")} value={actor_id} onChange={(event) => setActor(event.target.value)}
          options={[{ value: "", label: t("anybody") }, ...actorsOf(people.data?.map(({ id, name, person }) => ({ id, name: name ?? person?.email ?? "" })) ?? [], entries)]} />
        <Choose label={t("Outcome")} value={outcome} onChange={(event) => setOutcome(event.target.value as typeof outcome)}
          options={[{ value: "", label: t("any") }, { value: "success", label: t("success") }, { value: "denied", label: t("denied") }]} />
      </div>
      <section className="panel" aria-label={t("Entries")}>
        <WaitPages query={query} empty={<p className="empty">{t("No entry fits on this page of the record; older ones may.")}</p>}>
          {(all) => (
            <table className="table cards">
              <thead><tr><th>{t("When")}</th><th>{t("Who")}</th><th>{t("What")}</th><th>{t("To what")}</th><th>{t("Via")}</th><th>{t("Outcome")}</th></tr></thead>
              <tbody>
                {all.map((entry) => (
                  <tr key={entry.id}>
                    <td className="soft small nowrap">{shown(entry.occurred_at)}</td>
                    <td className="named"><Who who={entry.actor} /></td>
                    <td><Details entry={entry} /></td>
                    <td className="long target"><Target target={entry.target} /></td>
                    <td className="soft nowrap">{t(entry.actor.via)}</td>
                    <td><span className={`tag ${entry.outcome === "success" ? "good" : "bad"}`}>{t(entry.outcome)}</span></td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </WaitPages>
      </section>
    </Page>
  );
}
