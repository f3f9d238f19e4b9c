import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "../../api/client";
import { inOrg } from "../../api/queries";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { Choose, TextField } from "../../parts/Field";
import { TokenOnce } from "./TokenOnce";

export const roleOptions = () => [
  { value: "viewer", label: t("reads") },
  { value: "member", label: t("edits boards and cards") },
  { value: "admin", label: t("manages the workspace") },
];
const ends = () => [{ value: "30", label: t("in 30 days") }, { value: "90", label: t("in 90 days") }, { value: "365", label: t("in a year") }, { value: "", label: t("never") }];

/** A token of the agent's, or without one of the person who makes it. */
export default function NewToken({ agent, onClose }: { agent?: { id: string; name: string }; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [role, setRole] = useState<"viewer" | "member" | "admin">("member");
  const [days, setDays] = useState("90");
  const [opened] = useState(Date.now); // the same token, when it is asked for once more
  const make = useMutation({
    mutationFn: () => ask(api.POST("/v1/tokens", {
      body: {
        name, role, ...(agent ? { kind: "agent" as const, agent_id: agent.id } : { kind: "integration" as const }),
        ...(days && { expires_at: new Date(opened + Number(days) * 86_400_000).toISOString() }),
      },
    })),
    onSuccess: () => void client.invalidateQueries({ queryKey: inOrg("tokens") }),
  });
  if (make.data?.token) return <TokenOnce token={make.data.token} title={t("The token {{name}}", { name })} onClose={onClose} />;
  return (
    <FormDialog title={agent ? t("New token for {{name}}", { name: agent.name }) : t("New token of yours")} send={t("Create the token")} onClose={onClose} onSend={() => make.mutate()} busy={make.isPending} once error={make.error}>
      {!agent && <p className="soft">{t("A program that has it acts as you. To have it act as itself, make an agent.")}</p>}
      <TextField label={t("Name")} value={name} onChange={(event) => setName(event.target.value)} required maxLength={80} autoFocus note={t("What it is for, so that you know later.")} />
      <Choose label={t("What it may do at most")} value={role} onChange={(event) => setRole(event.target.value as typeof role)} options={roleOptions()} />
      <Choose label={t("Expires")} value={days} onChange={(event) => setDays(event.target.value)} options={ends()} />
    </FormDialog>
  );
}
