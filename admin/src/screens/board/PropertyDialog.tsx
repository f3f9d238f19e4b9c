import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { colors } from "./ColumnDialog";

type Property = Schemas["PropertyDefinition"];
type Option = { id?: string; name: string; color: Property["options"][number]["color"] };

export const hasOptions = (type: Property["type"]) => type === "select" || type === "multi_select" || type === "status";
const most = 100;

/** What a property's values may be. All options are sent together: unless they are as they were when this was opened,
    the server refuses, lest one goes that somebody has added. */
export function PropertyDialog({ property, onSaved, onClose }: { property: Property; onSaved: () => Promise<void>; onClose: () => void }) {
  const [opened] = useState(property);
  const [options, setOptions] = useState<Option[]>(property.options);
  const named = options.filter(({ name }) => name.trim());
  const save = useMutation({
    mutationFn: () => ask(api.PATCH("/v1/boards/{board_id}/properties/{property_id}", {
      params: { path: { board_id: property.board_id, property_id: property.id } },
      headers: { "If-Match": String(opened.version) },
      body: { options: named.map((each) => ({ ...each, name: each.name.trim() })) },
    })),
    onSuccess: async () => {
      await onSaved();
      onClose();
    },
  });
  const change = (at: number, more: Partial<Option>) => setOptions(options.map((each, n) => (n === at ? { ...each, ...more } : each)));
  const gone = opened.options.filter(({ id }) => !named.some((each) => each.id === id));
  return (
    <FormDialog title={t("Options of {{name}}", { name: property.name })} send={t("Save")} busy={save.isPending} error={save.error} onSend={() => save.mutate()} onClose={onClose}>
      {options.map((option, at) => (
        <div key={option.id ?? `new ${at}`} className="row" style={{ flexWrap: "nowrap" }}>
          <input className="input grow" aria-label={t("Option {{number}}", { number: at + 1 })} value={option.name} maxLength={100} dir="auto" onChange={(event) => change(at, { name: event.target.value })} />
          <select className="input" style={{ width: "auto" }} aria-label={t("Color of {{name}}", { name: option.name })} value={option.color} onChange={(event) => change(at, { color: event.target.value as Option["color"] })}>
            {colors.map((color) => <option key={color} value={color}>{t(color)}</option>)}
          </select>
          <button type="button" className="button small" aria-label={t("Remove {{name}}", { name: option.name })} onClick={() => setOptions(options.filter((_, n) => n !== at))}>{t("Remove")}</button>
        </div>
      ))}
      {options.length < most && <div><button type="button" className="button small" onClick={() => setOptions([...options, { name: "", color: colors[1 + (options.length % 9)]! }])}>{t("Add an option")}</button></div>}
      {gone.length > 0 && <p className="soft">{t("Cards that have {{names}} lose it.", { names: gone.map(({ name }) => name).join(", ") })}</p>}
    </FormDialog>
  );
}
