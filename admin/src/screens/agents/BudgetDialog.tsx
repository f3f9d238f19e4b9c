import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg } from "../../api/queries";
import { t } from "../../app/words";
import { changed } from "../../parts/changed";
import { FormDialog } from "../../parts/Dialog";
import { Choose, TextArea, TextField } from "../../parts/Field";
import { useAct } from "../../parts/useAct";
import { roleOptions } from "./NewToken";

const budgets = ["requests_per_minute", "requests_per_day", "daily_writes", "max_leases"] as const;
const labels: Record<(typeof budgets)[number], string> = {
  requests_per_minute: "Requests a minute", requests_per_day: "Requests a day", daily_writes: "Writes a day", max_leases: "Cards leased at once",
};

/** What the agent is called, may do, and may use. */
export default function BudgetDialog({ agent, onClose }: { agent: Schemas["AgentResponse"]; onClose: () => void }) {
  const act = useAct(inOrg("agents"), inOrg("users"));
  const [name, setName] = useState(agent.name);
  const [description, setDescription] = useState(agent.description ?? "");
  const [role, setRole] = useState(agent.role);
  const [values, setValues] = useState(() => Object.fromEntries(budgets.map((each) => [each, agent.budgets[each]?.toString() ?? ""])));
  const form = { name, description: description || null, role };
  const [opened] = useState({ form, values });
  const save = () => act.mutate(async () => {
    const used = Object.fromEntries(Object.entries(changed(values, opened.values)).map(([each, value]) => [each, value === "" ? null : Number(value)]));
    await ask(api.PATCH("/v1/agents/{agent_id}", { params: { path: { agent_id: agent.id } }, body: { ...changed(form, opened.form), budgets: used } }));
    onClose();
  });
  return (
    <FormDialog title={t("Change {{name}}", { name: agent.name })} send={t("Save")} onClose={onClose} onSend={save} busy={act.isPending} error={act.error}>
      <TextField label={t("Name")} value={name} onChange={(event) => setName(event.target.value)} required maxLength={80} autoFocus />
      <TextArea label={t("What it does")} value={description} onChange={(event) => setDescription(event.target.value)} maxLength={1000} />
      <Choose label={t("What it may do")} value={role} onChange={(event) => setRole(event.target.value as typeof role)} options={roleOptions()} />
      {budgets.map((each) => (
        <TextField key={each} label={t(labels[each])} type="number" min={0} value={values[each]} note={t("Empty: no limit. 0: none at all.")}
          onChange={(event) => setValues({ ...values, [each]: event.target.value })} />
      ))}
    </FormDialog>
  );
}
