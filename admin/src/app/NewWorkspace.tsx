import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, ask } from "../api/client";
import { membershipsQuery } from "../api/queries";
import { FormDialog } from "../parts/Dialog";
import { TextField } from "../parts/Field";
import { enterWorkspace } from "./session";
import { t } from "./words";

export function NewWorkspace({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const [name, setName] = useState("");
  const make = useMutation({
    mutationFn: () => ask(api.POST("/v1/orgs", { body: { name } })),
    onSuccess: async (org) => {
      await client.invalidateQueries({ queryKey: membershipsQuery.queryKey });
      enterWorkspace(org.id);
      go("/boards");
      onClose();
    },
  });
  return (
    <FormDialog title={t("New workspace")} send={t("Create")} onClose={onClose} busy={make.isPending} error={make.error} onSend={() => make.mutate()}>
      <TextField label={t("Name")} value={name} onChange={(event) => setName(event.target.value)} required maxLength={100} autoFocus
        note={t("Boards, people and agents belong to one workspace.")} />
    </FormDialog>
  );
}
