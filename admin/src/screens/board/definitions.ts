// Cards follow when a label or a property of their board changes. On the server their rows do so within
// moments, without an event for each.
import type { Schemas } from "../../api/client";
import type { Event } from "../../api/live";
import type { Board, Card } from "./store";

type Label = Card["labels"][number];
type Option = Schemas["PropertyDefinition"]["options"][number];
interface Definition {
  name?: string;
  options?: Option[];
}

function withLabel(card: Card, id: string, next: Partial<Label> | undefined): Card | undefined {
  if (!card.labels.some((each) => each.id === id)) return undefined;
  return { ...card, labels: card.labels.flatMap((each) => (each.id !== id ? [each] : next ? [{ ...each, ...next }] : [])) };
}

function withOptions(value: unknown, options: Option[]): unknown {
  const { type } = value as { type: string };
  const chosen = (value as Record<string, unknown>)[type];
  const now = (one: Option) => options.find(({ id }) => id === one.id);
  if (type === "multi_select") return { ...(value as object), [type]: (chosen as Option[]).flatMap((each) => now(each) ?? []) };
  return { ...(value as object), [type]: chosen ? now(chosen as Option) ?? null : null };
}

function withProperty(card: Card, was: string, next: Definition | undefined): Card | undefined {
  const { [was]: value, ...others } = card.properties as Record<string, unknown>;
  if (value === undefined) return undefined;
  if (next) others[next.name ?? was] = next.options ? withOptions(value, next.options) : value;
  return { ...card, properties: others as Card["properties"] };
}

/** The card after what happened to a label or property; nothing where that is no matter to it. */
export function following(card: Card, { kind, data }: Event, board: Board): Card | undefined {
  const changes = data.changes as Definition;
  if (kind === "label.updated") return withLabel(card, data.id, changes as Partial<Label>);
  if (kind === "label.deleted") return withLabel(card, data.id, undefined);
  if (kind !== "property.updated" && kind !== "property.deleted") return undefined;
  // The board may have been read since.
  const was = (data.previous as Definition).name ?? board.properties.find(({ id }) => id === data.id)?.name;
  return was === undefined ? undefined : withProperty(card, was, kind === "property.deleted" ? undefined : changes);
}
