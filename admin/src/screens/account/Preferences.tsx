import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, ask, type Schemas } from "../../api/client";
import { preferencesQuery } from "../../api/queries";
import { languages, t } from "../../app/words";
import { Check, Choose } from "../../parts/Field";
import { toastError } from "../../parts/toasts";
import { Wait } from "../../parts/Wait";

type Changes = Schemas["UpdatePreferencesRequest"];
type Data = Schemas["UserPreferencesResponse"];
type Kind = keyof Data["notifications"];

const kinds: Partial<Record<string, string>> = {
  mention: "Somebody mentions you", assigned: "A card is assigned to you", comment: "A comment on a card you watch", due: "A card of yours is due",
  invitation: "You are invited", membership: "Your seat changes", lease_failed: "A worker fails at a card", lease_expired: "A worker is not heard of",
  automation_failed: "An automation fails", agent_disabled: "An agent is stopped", moved: "A card you watch is moved", exhausted: "A card's attempts are used up", feedback: "Your feedback is answered", webhook_disabled: "A webhook is disabled", billing: "The plan changes", system: "News of this server",
};
const wordsOf = (kind: string) => t(kinds[kind] ?? kind.replace(/_/g, " "));
const zones = (): string[] => (Intl as unknown as { supportedValuesOf?: (key: string) => string[] }).supportedValuesOf?.("timeZone") ?? [];
const options = (all: readonly [string, string][]) => all.map(([value, label]) => ({ value, label }));

function merged(now: Data, { notifications, ...rest }: Changes): Data {
  const kinds = Object.entries(notifications ?? {}).map(([kind, ways]) => [kind, { ...now.notifications[kind as Kind], ...ways }]);
  return { ...now, ...(rest as Partial<Data>), notifications: { ...now.notifications, ...Object.fromEntries(kinds) } };
}

/** The changes that put these back to how they were. */
function inverse({ notifications, ...rest }: Changes, was: Data): Changes {
  const kinds = Object.entries(notifications ?? {}).map(([kind, ways]) => [kind, Object.fromEntries(Object.keys(ways!).map((way) => [way, was.notifications[kind as Kind][way as "in_app"]]))]);
  return { ...Object.fromEntries(Object.keys(rest).map((name) => [name, was[name as keyof Data]])), ...(notifications && { notifications: Object.fromEntries(kinds) }) };
}

const saving = ["save preferences"];

/** How the console looks and behaves for this person; each change is kept at once. */
export function Preferences() {
  const client = useQueryClient();
  const query = useQuery(preferencesQuery);
  const isLast = () => client.isMutating({ mutationKey: saving }) === 1;
  const save = useMutation({
    mutationKey: saving,
    scope: { id: saving[0]! }, // one after the other, so that the last is what is kept
    mutationFn: (body: Changes) => ask(api.PATCH("/v1/me/preferences", { body })),
    // It shows at once, so that the next key begins where this one ended.
    onMutate: (body) => {
      const before = client.getQueryData(preferencesQuery.queryKey);
      if (before) client.setQueryData(preferencesQuery.queryKey, merged(before, body));
      return before;
    },
    onSuccess: (next) => { if (isLast()) client.setQueryData(preferencesQuery.queryKey, next); },
    onError: (error, body, before) => {
      const now = client.getQueryData(preferencesQuery.queryKey);
      if (now && before) client.setQueryData(preferencesQuery.queryKey, merged(now, inverse(body, before)));
      toastError(error);
      if (isLast()) void client.invalidateQueries({ queryKey: preferencesQuery.queryKey });
    },
  });
  const set = (body: Changes) => save.mutate(body);
  return (
    <section className="panel padded stack" aria-labelledby="preferences-heading">
      <h2 id="preferences-heading">{t("Preferences")}</h2>
      <Wait query={query}>
        {(now) => (
          <>
            <div className="form-grid">
              <Choose label={t("Theme")} value={now.theme} onChange={(event) => set({ theme: event.target.value as Data["theme"] })}
                options={options([["system", t("as the system")], ["light", t("light")], ["dark", t("dark")]])} />
              <Choose label={t("Density")} value={now.density} onChange={(event) => set({ density: event.target.value as Data["density"] })}
                options={options([["comfortable", t("comfortable")], ["compact", t("compact")]])} />
              <Choose label={t("Language and region")} value={now.locale} onChange={(event) => set({ locale: event.target.value })}
                options={[...new Set([now.locale, ...languages, "en-GB", "en-US", "de-DE", "fr-FR", "es-ES", "pt-BR", "ja-JP"])].map((value) => ({ value, label: value }))} />
              <Choose label={t("Time zone")} value={now.timezone} onChange={(event) => set({ timezone: event.target.value })}
                options={[...new Set([now.timezone, "UTC", ...zones()])].map((value) => ({ value, label: value }))} />
              <Choose label={t("Weeks begin on")} value={now.week_start} onChange={(event) => set({ week_start: event.target.value as Data["week_start"] })}
                options={options([["monday", t("Monday")], ["sunday", t("Sunday")], ["saturday", t("Saturday")]])} />
              <Choose label={t("Hours")} value={now.time_format} onChange={(event) => set({ time_format: event.target.value as Data["time_format"] })}
                options={options([["h24", "14:30"], ["h12", "2:30 pm"]])} />
              <Choose label={t("Digest by mail")} value={now.email_digest} onChange={(event) => set({ email_digest: event.target.value as Data["email_digest"] })}
                options={options([["off", t("none")], ["daily", t("every day")], ["weekly", t("every week")]])} />
            </div>
            <Check label={t("Less motion")} checked={now.reduced_motion} onChange={(event) => set({ reduced_motion: event.target.checked })} />
            <Check label={t("Single keys")} note={t("Letters without Ctrl do something. Switch it off if you speak to your browser.")} checked={now.keyboard_shortcuts} onChange={(event) => set({ keyboard_shortcuts: event.target.checked })} />
            <Check label={t("No surveys")} checked={now.surveys_opt_out} onChange={(event) => set({ surveys_opt_out: event.target.checked })} />
            <h3>{t("Notify me when")}</h3>
            <table className="table">
              <thead><tr><th>{t("What")}</th><th>{t("Here")}</th><th>{t("By mail")}</th></tr></thead>
              <tbody>
                {(Object.keys(now.notifications) as Kind[]).map((kind) => (
                  <tr key={kind}>
                    <td>{wordsOf(kind)}</td>
                    {(["in_app", "email"] as const).map((way) => (
                      <td key={way}>
                        <input type="checkbox" aria-label={`${wordsOf(kind)}: ${way === "email" ? t("By mail") : t("Here")}`} checked={now.notifications[kind][way]}
                          onChange={(event) => set({ notifications: { [kind]: { [way]: event.target.checked } } })} />
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )}
      </Wait>
    </section>
  );
}
