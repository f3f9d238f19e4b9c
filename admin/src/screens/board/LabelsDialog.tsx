import { useMutation } from "@tanstack/react-query";
import { useEffect, useState, type FormEvent } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { Dialog, FormDialog } from "../../parts/Dialog";
import { Failure } from "../../parts/Failure";
import { Choose, TextField } from "../../parts/Field";
import { colors } from "./ColumnDialog";
import { useBoard, useBoardRecord } from "./context";
import { PropertyDialog, hasOptions } from "./PropertyDialog";

type PropertyType = Schemas["PropertyDefinition"]["type"];
const types: PropertyType[] = ["rich_text", "number", "select", "multi_select", "status", "date", "checkbox", "url", "email", "phone_number", "people"];
const typeWords: Partial<Record<PropertyType, string>> = {
  rich_text: "Text", number: "Number", select: "One of several", multi_select: "Some of several", status: "Status", date: "Date", checkbox: "Yes or no",
  url: "Address on the web", email: "E-mail address", phone_number: "Phone number", people: "People and agents",
};

interface Deletion {
  title: string;
  /** What goes with it. */
  loss: string;
  call: () => Promise<unknown>;
}

/** The labels that cards of this board may have, and the fields that the board adds to them. */
export default function LabelsDialog({ onClose }: { onClose: () => void }) {
  const { store } = useBoard();
  const board = useBoardRecord(store);
  const params = { path: { board_id: board.id } };
  const refresh = async () => store.setBoard(await ask(api.GET("/v1/boards/{board_id}", { params })), store.columns());
  const work = useMutation({ mutationFn: (call: () => Promise<unknown>) => call(), onSuccess: refresh });
  const [deleting, setDeleting] = useState<Deletion>();
  const [edited, setEdited] = useState<string>();
  const property = board.properties.find(({ id }) => id === edited);
  const remove = (next: Deletion) => { work.reset(); setDeleting(next); };
  return (
    <Dialog title={t("Labels and properties")} onClose={onClose}>
      {!deleting && <Failure error={work.error} />}
      <section className="stack" aria-labelledby="labels-heading">
        <h3 id="labels-heading">{t("Labels")}</h3>
        {board.labels.map((label) => (
          <LabelLine key={label.id} label={label} busy={work.isPending}
            onChange={(body) => work.mutate(() => ask(api.PATCH("/v1/boards/{board_id}/labels/{label_id}", { params: { path: { ...params.path, label_id: label.id } }, body })))}
            onDelete={() => remove({
              title: t("Delete the label {{name}}", { name: label.name }), loss: t("Cards that have it lose it."),
              call: () => ask(api.DELETE("/v1/boards/{board_id}/labels/{label_id}", { params: { path: { ...params.path, label_id: label.id } } })),
            })} />
        ))}
        <NewLabel busy={work.isPending} onMake={(body, done) => work.mutate(() => ask(api.POST("/v1/boards/{board_id}/labels", { params, body })).then(done))} />
      </section>
      <section className="stack" aria-labelledby="properties-heading">
        <h3 id="properties-heading">{t("Properties")}</h3>
        {board.properties.map((property) => (
          <div key={property.id} className="row" style={{ flexWrap: "nowrap" }}>
            <Renaming name={property.name} label={t("Name of the property {{name}}", { name: property.name })}
              onChange={(name) => work.mutate(() => ask(api.PATCH("/v1/boards/{board_id}/properties/{property_id}", { params: { path: { ...params.path, property_id: property.id } }, body: { name } })))} />
            <span className="soft small clip" style={{ maxWidth: "12rem" }}>{t(typeWords[property.type] ?? property.type)}{property.options.length > 0 && `: ${property.options.map(({ name }) => name).join(", ")}`}</span>
            {hasOptions(property.type) && <button type="button" className="button small" aria-label={t("Edit the property {{name}}", { name: property.name })} onClick={() => setEdited(property.id)}>{t("Edit…")}</button>}
            <button type="button" className="button small danger" disabled={work.isPending} aria-label={t("Delete the property {{name}}", { name: property.name })}
              onClick={() => remove({
                title: t("Delete the property {{name}}", { name: property.name }), loss: t("Its values on all cards go with it."),
                call: () => ask(api.DELETE("/v1/boards/{board_id}/properties/{property_id}", { params: { path: { ...params.path, property_id: property.id } } })),
              })}>{t("Delete…")}</button>
          </div>
        ))}
        <NewProperty busy={work.isPending} onMake={(body, done) => work.mutate(() => ask(api.POST("/v1/boards/{board_id}/properties", { params, body })).then(done))} />
      </section>
      {property && <PropertyDialog property={property} onSaved={refresh} onClose={() => setEdited(undefined)} />}
      {deleting && (
        <FormDialog title={deleting.title} send={t("Delete")} danger busy={work.isPending} error={work.error} onClose={() => setDeleting(undefined)}
          onSend={() => work.mutate(deleting.call, { onSuccess: () => setDeleting(undefined) })}>
          <p>{deleting.loss} {t("It cannot be brought back.")}</p>
        </FormDialog>
      )}
    </Dialog>
  );
}

/** A name that is written over where it stands; Enter confirms it. */
function Renaming({ name, label, onChange }: { name: string; label: string; onChange: (name: string) => void }) {
  const [written, setWritten] = useState<string>(); // until it is its name: others may give it another one meanwhile
  useEffect(() => setWritten((now) => (now?.trim() === name ? undefined : now)), [name]);
  return (
    <input className="input grow" aria-label={label} value={written ?? name} maxLength={60} onChange={(event) => setWritten(event.target.value)}
      onKeyDown={(event) => { if (event.key === "Enter") event.currentTarget.blur(); }}
      onBlur={() => {
        if (written?.trim() && written !== name) onChange(written);
        else setWritten(undefined);
      }} />
  );
}

function LabelLine({ label, busy, onChange, onDelete }: {
  label: Schemas["Label"];
  busy: boolean;
  onChange: (body: Schemas["UpdateLabelRequest"]) => void;
  onDelete: () => void;
}) {
  return (
    <div className="row" style={{ flexWrap: "nowrap" }}>
      <span className={`swatch tint-${label.color}`} aria-hidden="true" />
      <Renaming name={label.name} label={t("Name of the label {{name}}", { name: label.name })} onChange={(name) => onChange({ name })} />
      <select className="input" style={{ width: "auto" }} aria-label={t("Color of {{name}}", { name: label.name })} value={label.color}
        onChange={(event) => onChange({ color: event.target.value as (typeof colors)[number] })}>
        {colors.map((color) => <option key={color} value={color}>{t(color)}</option>)}
      </select>
      <button type="button" className="button small danger" disabled={busy} aria-label={t("Delete the label {{name}}", { name: label.name })} onClick={onDelete}>{t("Delete…")}</button>
    </div>
  );
}

interface Making<Body> {
  busy: boolean;
  /** What was written stays until it is done, so that it can be sent again when it is refused. */
  onMake: (body: Body, done: () => void) => void;
}

function NewLabel({ busy, onMake }: Making<Schemas["CreateLabelRequest"]>) {
  const [name, setName] = useState("");
  const [color, setColor] = useState<(typeof colors)[number]>("blue");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim()) onMake({ name, color }, () => setName(""));
  };
  return (
    <form className="row" style={{ alignItems: "end" }} onSubmit={submit}>
      <div className="grow"><TextField label={t("New label")} value={name} onChange={(event) => setName(event.target.value)} maxLength={60} required /></div>
      <Choose label={t("Color")} value={color} onChange={(event) => setColor(event.target.value as typeof color)} options={colors.map((value) => ({ value, label: t(value) }))} />
      <Button busy={busy}>{t("Add")}</Button>
    </form>
  );
}

function NewProperty({ busy, onMake }: Making<Schemas["CreatePropertyRequest"]>) {
  const [name, setName] = useState("");
  const [type, setType] = useState<PropertyType>("rich_text");
  const [options, setOptions] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const names = options.split(",").map((each) => each.trim()).filter(Boolean);
    const body = { name, type, ...(hasOptions(type) && { options: names.map((each, at) => ({ name: each, color: colors[1 + (at % 9)]! })) }) } as Schemas["CreatePropertyRequest"];
    onMake(body, () => {
      setName("");
      setOptions("");
    });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <div className="row" style={{ alignItems: "end" }}>
        <div className="grow"><TextField label={t("New property")} value={name} onChange={(event) => setName(event.target.value)} maxLength={60} required /></div>
        <Choose label={t("Kind of value")} value={type} onChange={(event) => setType(event.target.value as PropertyType)}
          options={types.map((value) => ({ value, label: t(typeWords[value] ?? value) }))} />
        <Button busy={busy}>{t("Add")}</Button>
      </div>
      {hasOptions(type) && <TextField label={t("Options")} note={t("With commas between them.")} value={options} onChange={(event) => setOptions(event.target.value)} required />}
    </form>
  );
}
