import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "../../api/client";
import { inOrg } from "../../api/queries";
import { t } from "../../app/words";
import { changed } from "../../parts/changed";
import { FormDialog } from "../../parts/Dialog";
import { Choose, TextArea, TextField } from "../../parts/Field";
import { useBoard } from "./context";

export default function BoardDialog({ onClose }: { onClose: () => void }) {
  const { store } = useBoard();
  const client = useQueryClient();
  const { board } = store;
  const [name, setName] = useState(board.name);
  const [key, setKey] = useState(board.key);
  const [description, setDescription] = useState(board.description ?? "");
  const [visibility, setVisibility] = useState(board.visibility);
  const form = { name, key, description: description || null, visibility };
  const [opened] = useState(form);
  const save = useMutation({
    mutationFn: () => ask(api.PATCH("/v1/boards/{board_id}", { params: { path: { board_id: board.id } }, body: changed(form, opened) })),
    onSuccess: (next) => {
      store.setBoard(next, store.columns());
      void client.invalidateQueries({ queryKey: inOrg("boards") });
      onClose();
    },
  });
  return (
    <FormDialog title={t("Name and description")} send={t("Save")} onClose={onClose} onSend={() => save.mutate()} busy={save.isPending} error={save.error}>
      <TextField label={t("Name")} value={name} onChange={(event) => setName(event.target.value)} required maxLength={120} autoFocus />
      <TextField label={t("Key")} value={key} onChange={(event) => setKey(event.target.value.toUpperCase())} required minLength={2} maxLength={10}
        note={t("Cards are called by it, as in {{key}}-1. Another key renames all cards.", { key: key || "ENG" })} />
      <TextArea label={t("Description")} value={description} onChange={(event) => setDescription(event.target.value)} />
      {board.role === "admin" && (
        <Choose label={t("Who sees it")} value={visibility} onChange={(event) => setVisibility(event.target.value as "org")}
          options={[{ value: "org", label: t("Everybody in the workspace") }, { value: "private", label: t("Those it is granted to, and admins") }]} />
      )}
    </FormDialog>
  );
}
