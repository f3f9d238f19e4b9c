import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg } from "../../api/queries";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { Choose, TextArea, TextField } from "../../parts/Field";

type Columns = Schemas["ColumnOfNewBoard"][];
const shapes: Record<string, { label: string; columns: () => Columns }> = {
  plain: {
    label: "Backlog, in progress, done",
    columns: () => [{ name: t("Backlog"), kind: "backlog" }, { name: t("In progress"), kind: "active" }, { name: t("Done"), kind: "done" }],
  },
  queue: {
    label: "With a queue for agents",
    columns: () => [
      { name: t("Backlog"), kind: "backlog" }, { name: t("For agents"), kind: "queue" }, { name: t("Review"), kind: "active" }, { name: t("Done"), kind: "done" },
    ],
  },
};

export default function NewBoard({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [shape, setShape] = useState("plain");
  const [visibility, setVisibility] = useState<"org" | "private">("org");
  const make = useMutation({
    mutationFn: () => ask(api.POST("/v1/boards", { body: { name, visibility, columns: shapes[shape]!.columns(), ...(description && { description }) } })),
    onSuccess: (board) => {
      void client.invalidateQueries({ queryKey: inOrg("boards") });
      onClose();
      go(`/boards/${board.id}`);
    },
  });
  return (
    <FormDialog title={t("New board")} send={t("Create")} onClose={onClose} onSend={() => make.mutate()} busy={make.isPending} error={make.error}>
      <TextField label={t("Name")} value={name} onChange={(event) => setName(event.target.value)} required maxLength={120} autoFocus />
      <Choose label={t("Columns")} value={shape} onChange={(event) => setShape(event.target.value)}
        options={Object.entries(shapes).map(([value, { label }]) => ({ value, label: t(label) }))} note={t("They can be changed later.")} />
      <Choose label={t("Who sees it")} value={visibility} onChange={(event) => setVisibility(event.target.value as "org")}
        options={[{ value: "org", label: t("Everybody in the workspace") }, { value: "private", label: t("Those it is granted to, and admins") }]} />
      <TextArea label={t("Description")} value={description} onChange={(event) => setDescription(event.target.value)} />
    </FormDialog>
  );
}
