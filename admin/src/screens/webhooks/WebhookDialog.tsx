import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, boardVersion, type Schemas } from "../../api/client";
import { boardsQuery, everything, inOrg } from "../../api/queries";
import { useSession } from "../../app/session";
import { t } from "../../app/words";
import { changed } from "../../parts/changed";
import { CopyField } from "../../parts/CopyField";
import { FormDialog } from "../../parts/Dialog";
import { Check, Choose, TextField } from "../../parts/Field";
import { SecretOfWebhook } from "./SecretOfWebhook";
import { deliverySample, takes } from "./sample";

export const kindsQuery = () => ({
  queryKey: ["event-kinds"],
  queryFn: () => everything((start_cursor) => ask(api.GET("/v1/event-kinds", { params: { query: { page_size: 100, start_cursor } } }))),
  staleTime: Infinity,
});

/** Which events: all, all of a noun, or single kinds. */
function Events({ chosen, onChange }: { chosen: string[]; onChange: (events: string[]) => void }) {
  const kinds = useQuery(kindsQuery());
  const nouns = [...new Set((kinds.data ?? []).map(({ kind }) => kind.split(".")[0]!))];
  const isAll = chosen.includes("*");
  const toggle = (one: string) => onChange(chosen.includes(one) ? chosen.filter((each) => each !== one) : [...chosen, one]);
  return (
    <fieldset className="stack" style={{ border: 0, padding: 0, margin: 0 }}>
      <legend className="label-text">{t("Events")}</legend>
      <Check label={t("Everything that happens")} checked={isAll} onChange={() => onChange(isAll ? ["card.*"] : ["*"])} />
      {!isAll && nouns.map((noun) => (
        <div key={noun}>
          <Check label={t("All of {{noun}}", { noun })} checked={chosen.includes(`${noun}.*`)} onChange={() => toggle(`${noun}.*`)} />
          {!chosen.includes(`${noun}.*`) && (
            <details open={chosen.some((each) => each.startsWith(`${noun}.`))} style={{ paddingLeft: "1.5rem" }}>
              <summary className="soft small">{t("Single kinds")}</summary>
              <div className="stack" style={{ padding: "0.4rem 0" }}>
                {(kinds.data ?? []).filter(({ kind }) => kind.startsWith(`${noun}.`)).map(({ kind, summary }) => (
                  <Check key={kind} label={kind} note={summary} checked={chosen.includes(kind)} onChange={() => toggle(kind)} />
                ))}
              </div>
            </details>
          )}
        </div>
      ))}
    </fieldset>
  );
}

/** What the other end gets of an event that is among the chosen ones. */
function Sample({ chosen, org_id }: { chosen: string[]; org_id: string }) {
  const kinds = useQuery(kindsQuery());
  const [wanted, setWanted] = useState("");
  const offered = (kinds.data ?? []).filter(({ kind }) => takes(chosen, kind));
  const shown = offered.find(({ kind }) => kind === wanted) ?? offered[0];
  if (!shown) return null;
  return (
    <details className="sample-payload">
      <summary className="label-text">{t("Sample payload")}</summary>
      <div className="stack" style={{ marginTop: "0.5rem" }}>
        <Choose label={t("Of the event")} value={shown.kind} onChange={(event) => setWanted(event.target.value)} options={offered.map(({ kind }) => ({ value: kind, label: kind }))} note={shown.summary} />
        <CopyField text={JSON.stringify(deliverySample(shown, org_id, boardVersion), null, 2)} label={t("What is sent, as JSON")} />
      </div>
    </details>
  );
}

export default function WebhookDialog({ webhook, onClose }: { webhook?: Schemas["WebhookResponse"]; onClose: () => void }) {
  const client = useQueryClient();
  const { seat } = useSession();
  const boards = useQuery(boardsQuery());
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [name, setName] = useState(webhook?.name ?? "");
  const [board, setBoard] = useState(webhook?.board_id ?? "");
  const [events, setEvents] = useState(webhook?.events ?? ["*"]);
  const form = { url, events, name: name || null };
  const [opened] = useState(form);
  const save = useMutation({
    mutationFn: () => (webhook
      ? ask(api.PATCH("/v1/webhooks/{webhook_id}", { params: { path: { webhook_id: webhook.id } }, body: changed(form, opened) }))
      : ask(api.POST("/v1/webhooks", { body: { url, events, ...(name && { name }), ...(board && { board_id: board }) } }))),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: inOrg("webhooks") });
      if (!made.secret) onClose();
    },
  });
  if (save.data?.secret) return <SecretOfWebhook secret={save.data.secret} onClose={onClose} />;
  return (
    <FormDialog title={webhook ? t("Edit the webhook") : t("New webhook")} send={webhook ? t("Save") : t("Create")} onClose={onClose} onSend={() => save.mutate()} busy={save.isPending} once={!webhook} off={events.length === 0} error={save.error}>
      <TextField label={t("Address")} type="url" value={url} onChange={(event) => setUrl(event.target.value)} required placeholder="https://example.com/hooks" autoFocus note={t("It takes POST, and answers 2xx within 15 seconds.")} />
      <TextField label={t("Name")} value={name} onChange={(event) => setName(event.target.value)} maxLength={80} />
      {!webhook && <Choose label={t("Of which board")} value={board} onChange={(event) => setBoard(event.target.value)}
        options={[{ value: "", label: t("The whole workspace") }, ...(boards.data ?? []).map((each) => ({ value: each.id, label: each.name }))]} />}
      <Events chosen={events} onChange={setEvents} />
      <Sample chosen={events} org_id={seat!.org_id} />
    </FormDialog>
  );
}
