import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { t } from "../../app/words";
import { changed } from "../../parts/changed";
import { FormDialog } from "../../parts/Dialog";
import { Check, Choose, TextField } from "../../parts/Field";
import { useBoard } from "./context";
import type { Column } from "./store";

const kinds = () => [
  { value: "backlog", label: t("Backlog: not begun") },
  { value: "queue", label: t("Queue: workers claim its cards") },
  { value: "active", label: t("Active: being worked on") },
  { value: "done", label: t("Done: cards here are complete") },
];
export const colors = ["default", "gray", "brown", "orange", "yellow", "green", "blue", "purple", "pink", "red"] as const;
const positive = (text: string) => (text === "" ? null : Math.max(1, Math.round(Number(text))));

function QueueFields({ queue, others, onChange }: { queue: Schemas["ColumnQueueChange"]; others: Column[]; onChange: (queue: Schemas["ColumnQueueChange"]) => void }) {
  const numberOf = (name: "lease_ttl_seconds" | "max_attempts" | "backoff_seconds", label: string, most: number, least = 1) => (
    <TextField label={label} type="number" min={least} max={most} required value={queue[name] ?? ""}
      onChange={(event) => onChange({ ...queue, [name]: Number(event.target.value) })} />
  );
  const columnOf = (name: "on_complete_column_id" | "on_exhausted_column_id", label: string, none: string) => (
    <Choose label={label} value={queue[name] ?? ""} onChange={(event) => onChange({ ...queue, [name]: event.target.value || null })}
      options={[{ value: "", label: none }, ...others.map(({ id, name: column }) => ({ value: id, label: column }))]} />
  );
  return (
    <>
      {numberOf("lease_ttl_seconds", t("Seconds that a claim holds"), 86_400, 5)}
      {numberOf("max_attempts", t("Attempts before somebody has to look"), 100)}
      {numberOf("backoff_seconds", t("Seconds of pause after a failure"), 86_400, 0)}
      <TextField label={t("Cards worked on at once")} type="number" min={1} note={t("Empty: any number.")} value={queue.max_in_flight ?? ""}
        onChange={(event) => onChange({ ...queue, max_in_flight: positive(event.target.value) })} />
      <Choose label={t("Which is next")} value={queue.order} onChange={(event) => onChange({ ...queue, order: event.target.value as "fifo" })}
        options={[
          { value: "priority", label: t("The most urgent, then the topmost") },
          { value: "fifo", label: t("The one that is here longest") },
          { value: "due", label: t("The one that is due first") },
        ]} />
      {columnOf("on_complete_column_id", t("Where completed cards go"), t("To the next column on the right"))}
      {columnOf("on_exhausted_column_id", t("Where cards go when their attempts are used up"), t("They stay"))}
    </>
  );
}

/** A column's name, kind, limit and queue; without a column it makes a new one. */
export default function ColumnDialog({ column, after, onClose }: { column?: Column; after?: string; onClose: () => void }) {
  const { store } = useBoard();
  const [name, setName] = useState(column?.name ?? "");
  const [kind, setKind] = useState(column?.kind ?? "active");
  const [color, setColor] = useState(column?.color ?? "default");
  const [limit, setLimit] = useState(column?.wip_limit?.toString() ?? "");
  const [hard, setHard] = useState(column?.wip_policy === "hard");
  const [isQueue, setQueue] = useState(column?.queue.enabled ?? false);
  const [queue, setQueueFields] = useState<Schemas["ColumnQueueChange"]>(() => {
    const {
      lease_ttl_seconds = 900, max_attempts = 5, backoff_seconds = 30, max_in_flight = null, order = "priority",
      on_complete_column_id = null, on_exhausted_column_id = null,
    } = column?.queue ?? {};
    return { lease_ttl_seconds, max_attempts, backoff_seconds, max_in_flight, order, on_complete_column_id, on_exhausted_column_id };
  });
  const form = { name, kind, color, wip_limit: positive(limit), wip_policy: hard ? "hard" as const : "soft" as const };
  const queueForm: Schemas["ColumnQueueChange"] = isQueue ? { enabled: true, ...queue } : { enabled: false };
  const [opened] = useState({ form, queueForm });
  const save = useMutation({
    mutationFn: async () => {
      const board_id = store.board.id;
      if (!column) return ask(api.POST("/v1/boards/{board_id}/columns", { params: { path: { board_id } }, body: { ...form, queue: queueForm, after_id: after } }));
      const queueChanges = changed(queueForm, opened.queueForm);
      const body = { ...changed(form, opened.form), ...(Object.keys(queueChanges).length > 0 && { queue: queueChanges }) };
      return ask(api.PATCH("/v1/boards/{board_id}/columns/{column_id}", { params: { path: { board_id, column_id: column.id } }, body }));
    },
    onSuccess: onClose,
  });
  return (
    <FormDialog title={column ? t("Change {{name}}", { name: column.name }) : t("New column")} send={column ? t("Save") : t("Create")}
      onClose={onClose} onSend={() => save.mutate()} busy={save.isPending} error={save.error}>
      <TextField label={t("Name")} value={name} onChange={(event) => setName(event.target.value)} required maxLength={100} autoFocus />
      <Choose label={t("Kind")} value={kind} options={kinds()}
        onChange={(event) => { setKind(event.target.value as Column["kind"]); if (event.target.value === "queue") setQueue(true); }} />
      <Choose label={t("Color")} value={color} onChange={(event) => setColor(event.target.value as Column["color"])}
        options={colors.map((value) => ({ value, label: t(value) }))} />
      <TextField label={t("Limit of cards")} type="number" min={1} value={limit} onChange={(event) => setLimit(event.target.value)} note={t("Empty: any number.")} />
      {limit && <Check label={t("Refuse cards beyond the limit")} checked={hard} onChange={(event) => setHard(event.target.checked)} />}
      <Check label={t("A work queue: programs and people claim its cards")} checked={isQueue} onChange={(event) => setQueue(event.target.checked)} />
      {isQueue && <QueueFields queue={queue} others={store.columns().filter(({ id }) => id !== column?.id)} onChange={setQueueFields} />}
    </FormDialog>
  );
}

export function DeleteColumn({ column, onClose }: { column: Column; onClose: () => void }) {
  const { store } = useBoard();
  const others = store.columns().filter(({ id }) => id !== column.id);
  const [to, setTo] = useState(others[0]?.id ?? "");
  const remove = useMutation({
    mutationFn: () => ask(api.DELETE("/v1/boards/{board_id}/columns/{column_id}", {
      params: { path: { board_id: column.board_id, column_id: column.id }, query: column.card_count ? { move_cards_to: to } : {} },
    })),
    onSuccess: onClose,
  });
  return (
    <FormDialog title={t("Delete {{name}}", { name: column.name })} send={t("Delete the column")} danger
      onClose={onClose} onSend={() => remove.mutate()} busy={remove.isPending} error={remove.error}>
      {column.card_count > 0
        ? <Choose label={t("Its cards go to")} value={to} onChange={(event) => setTo(event.target.value)} options={others.map(({ id, name }) => ({ value: id, label: name }))} />
        : <p>{t("There are no cards in it.")}</p>}
    </FormDialog>
  );
}
