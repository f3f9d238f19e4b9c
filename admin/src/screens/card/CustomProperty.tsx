import { useId } from "react";
import type { Schemas } from "../../api/client";
import { dayOf, onDay } from "../../app/time";
import { t } from "../../app/words";
import { valueInWords } from "../../parts/Facts";
import { changeCards } from "../board/actions";
import { useBoard } from "../board/context";
import type { Card } from "../board/store";
import { DayValue, TextValue } from "./fields";

type Property = Schemas["PropertyDefinition"];
const texts = ["rich_text", "url", "email", "phone_number", "number"];
const inputTypes: Record<string, string> = { url: "url", email: "email", phone_number: "tel", number: "number" };

const valueOf = (card: Card, { name, type }: Property): unknown => (card.properties[name] as Record<string, unknown> | undefined)?.[type];

interface Span {
  start: string;
  end?: string | null;
  time_zone?: string | null;
}

/** The day on which it begins; hour and end go along. */
function DateValue({ labelledBy, value, onSave }: { labelledBy: string; value: Span | null; onSave: (span: Span | null) => void }) {
  const moved = ({ start, end, ...rest }: Span, day: string): Span => {
    const by = Date.parse(day) - Date.parse(dayOf(start));
    const later = (date: string) => new Date(Date.parse(date) + by).toISOString().slice(0, 10);
    return { ...rest, start: onDay(start, day), ...(end && { end: onDay(end, later(dayOf(end))) }) };
  };
  return (
    <>
      <DayValue labelledBy={labelledBy} value={value ? dayOf(value.start) : ""} onSave={(day) => onSave(day ? (value ? moved(value, day) : { start: day }) : null)} />
      {value && (value.end || value.start.length > 10) && <span className="soft small">{valueInWords(value)}</span>}
    </>
  );
}

/** A field that the board adds to its cards. */
export function CustomProperty({ property, card, canEdit, people }: { property: Property; card: Card; canEdit: boolean; people: Schemas["UserObject"][] }) {
  const { store } = useBoard();
  const id = useId();
  const { name, type, options } = property;
  const value = valueOf(card, property);
  const save = (next: unknown, local: unknown = next, joins = false) => void changeCards(store, [card.id],
    () => ({ properties: { [name]: { [type]: next } }, merge_properties: joins }) as never,
    (now) => ({ properties: { ...now.properties, [name]: { ...(now.properties[name] as object), type, [type]: local } as never } }));
  const words = valueInWords(value);
  const known = texts.includes(type) || ["select", "status", "multi_select", "checkbox", "date", "people"].includes(type);
  if (!canEdit || !known) return words === undefined ? null : <div><dt>{name}</dt><dd>{words}</dd></div>;
  const chosen = (value ?? []) as { id: string }[];
  return (
    <div>
      <dt id={id}>{name}{property.required && <span className="soft"> *</span>}</dt>
      <dd>
        {texts.includes(type) && <TextValue labelledBy={id} type={inputTypes[type] ?? "text"} value={words ?? ""}
          onSave={(text) => save(type === "rich_text" ? (text ? [{ type: "text", text: { content: text } }] : []) : text === "" ? null : type === "number" ? Number(text) : text,
            type === "rich_text" ? [{ plain_text: text }] : text === "" ? null : type === "number" ? Number(text) : text)} />}
        {(type === "select" || type === "status") && (
          <select className="input plain" aria-labelledby={id} value={(value as { id: string } | null)?.id ?? ""}
            onChange={(event) => save(event.target.value ? { id: event.target.value } : null, options.find((each) => each.id === event.target.value) ?? null)}>
            <option value="">–</option>
            {options.map((each) => <option key={each.id} value={each.id}>{each.name}</option>)}
          </select>
        )}
        {(type === "multi_select" || type === "people") && (
          <span className="row" role="group" aria-labelledby={id}>
            {(type === "people" ? people.map((each) => ({ id: each.id, name: each.name ?? "" })) : options).map((each) => {
              const on = chosen.some((one) => one.id === each.id);
              return (
                <button key={each.id} type="button" className="button small" aria-pressed={on}
                  onClick={() => {
                    // What is added goes beside what others add meanwhile; what is taken away leaves what is seen here.
                    if (!on) return save([{ id: each.id }], [...chosen, each], true);
                    const rest = chosen.filter((one) => one.id !== each.id);
                    save(rest.map((one) => ({ id: one.id })), rest);
                  }}>{on ? "✓ " : ""}{each.name}</button>
              );
            })}
          </span>
        )}
        {type === "checkbox" && <input type="checkbox" aria-labelledby={id} checked={value === true} onChange={(event) => save(event.target.checked)} />}
        {type === "date" && <DateValue labelledBy={id} value={value as Span | null} onSave={save} />}
        {type === "checkbox" && <span className="unseen">{value === true ? t("yes") : t("no")}</span>}
      </dd>
    </div>
  );
}
