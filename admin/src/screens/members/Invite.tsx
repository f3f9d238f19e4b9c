import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "../../api/client";
import { inOrg } from "../../api/queries";
import { worded } from "../../api/refusal";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { Choose, TextArea } from "../../parts/Field";
import { addressesIn, mistakesIn } from "./addresses";

type Outcome = { email: string; words: string; good: boolean };

/** Invites one or many; each address says what became of it. */
export default function Invite({ org_id, onClose }: { org_id: string; onClose: () => void }) {
  const client = useQueryClient();
  const [text, setText] = useState("");
  const [role, setRole] = useState<"viewer" | "member" | "admin">("member");
  const [message, setMessage] = useState("");
  const [outcomes, setOutcomes] = useState<Outcome[]>([]);
  const emails = addressesIn(text);
  const invite = useMutation({
    mutationFn: async () => {
      const failed: string[] = [];
      for (const email of emails) {
        let outcome: Outcome;
        try {
          const made = await ask(api.POST("/v1/orgs/{org_id}/invitations", { params: { path: { org_id } }, body: { email, role, ...(message && { message }) } }));
          outcome = { email, good: true, words: made.object === "already_member" ? t("is a member already") : made.send_count > 1 ? t("was sent the mail again") : t("is invited") };
        } catch (error) {
          failed.push(email);
          outcome = { email, good: false, words: worded(error) };
        }
        setOutcomes((all) => [...all.filter((each) => each.email !== email), outcome]);
      }
      const mistakes = mistakesIn(text);
      const words = t("is no e-mail address");
      setOutcomes((all) => [...all.filter(({ email }) => !mistakes.includes(email)), ...mistakes.map((email) => ({ email, good: false, words }))]);
      setText([...failed, ...mistakes].join("\n"));
    },
    onSettled: () => void client.invalidateQueries({ queryKey: inOrg("invitations") }),
  });
  return (
    <FormDialog title={t("Invite people")} send={emails.length > 1 ? t("Invite {{count}}", { count: emails.length }) : t("Invite")} onClose={onClose} busy={invite.isPending} off={emails.length === 0} error={invite.error} onSend={() => invite.mutate()}>
      <TextArea label={t("E-mail addresses")} value={text} onChange={(event) => setText(event.target.value)} autoFocus note={t("One or many, with commas, spaces or lines between them.")} />
      <Choose label={t("Role")} value={role} onChange={(event) => setRole(event.target.value as typeof role)}
        options={[{ value: "viewer", label: t("viewer: reads") }, { value: "member", label: t("member: edits boards and cards") }, { value: "admin", label: t("admin: manages the workspace") }]} />
      <TextArea label={t("Message")} value={message} onChange={(event) => setMessage(event.target.value)} maxLength={1000} />
      {outcomes.length > 0 && (
        <ul role="status" style={{ listStyle: "none" }}>
          {outcomes.map(({ email, words, good }) => <li key={email} className={good ? "" : "late"}><strong>{email}</strong> {words}</li>)}
        </ul>
      )}
    </FormDialog>
  );
}
