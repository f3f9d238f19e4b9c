import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg } from "../../api/queries";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { Choose, TextArea, TextField } from "../../parts/Field";
import { roleOptions } from "./NewToken";
import { TokenOnce } from "./TokenOnce";

/** An agent, and its first token. */
export default function NewAgent({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [role, setRole] = useState<"viewer" | "member" | "admin">("member");
  const made = useRef<Schemas["AgentResponse"]>(null); // although its token was refused
  const make = useMutation({
    mutationFn: async () => {
      const body = { name, role, description: description || null };
      const agent = made.current = await ask(made.current
        ? api.PATCH("/v1/agents/{agent_id}", { params: { path: { agent_id: made.current.id } }, body })
        : api.POST("/v1/agents", { body }));
      return ask(api.POST("/v1/tokens", { body: { kind: "agent", agent_id: agent.id, name: t("First token"), role } }));
    },
    onSettled: () => {
      void client.invalidateQueries({ queryKey: inOrg("agents") });
      void client.invalidateQueries({ queryKey: inOrg("tokens") });
    },
  });
  if (make.data?.token) return <TokenOnce token={make.data.token} title={t("{{name}} and its token", { name })} onClose={onClose} />;
  return (
    <FormDialog title={t("New agent")} send={t("Create the agent")} onClose={onClose} onSend={() => make.mutate()} busy={make.isPending} once error={make.error}>
      <TextField label={t("Name")} value={name} onChange={(event) => setName(event.target.value)} required maxLength={80} autoFocus note={t("As others see it on cards and in records.")} />
      <TextArea label={t("What it does")} value={description} onChange={(event) => setDescription(event.target.value)} maxLength={1000} />
      <Choose label={t("What it may do")} value={role} onChange={(event) => setRole(event.target.value as typeof role)} options={roleOptions()}
        note={t("Never more than you may. Grants on a board confine it to the boards that it was granted.")} />
    </FormDialog>
  );
}
