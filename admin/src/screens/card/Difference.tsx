import { pagesQuery } from "../../api/queries";
import { api, ask, type Schemas } from "../../api/client";
import { shown } from "../../app/time";
import { t, wordsOfField } from "../../app/words";
import { valueInWords } from "../../parts/Facts";
import { useBoard } from "../board/context";

export type Activity = Schemas["CardActivity"];

/** What happened on a card, the newest first. */
export const activityQuery = (card_id: string) =>
  pagesQuery(["card", card_id, "activity"], (start_cursor) =>
    ask(api.GET("/v1/cards/{card_id}/activity", { params: { path: { card_id }, query: { page_size: 50, start_cursor } } })));

const silent = new Set(["last_edited_time", "last_edited_by", "version", "position", "object", "id", "org_id", "url", "created_time", "created_by", "card_id", "board_id", "file_id", "parent_id", "discussion_id", "content_type", "size_bytes"]);
/** A field's name in words, when people care for it. */
export const fieldInWords = (name: string) => (silent.has(name) ? undefined : wordsOfField(name));

const isTime = (value: unknown): value is string => typeof value === "string" && /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?$/.test(value);

/** Text of a block, or a value, in a few words. */
function brief(value: unknown): string {
  if (isTime(value)) return shown(value);
  if (value && typeof value === "object" && !Array.isArray(value)) {
    const rich = (value as { rich_text?: { plain_text: string }[] }).rich_text;
    if (rich) return rich.map(({ plain_text }) => plain_text).join("");
    const { state } = value as { state?: string };
    if (state) return t(state);
  }
  if (Array.isArray(value) && value.every((each) => each && typeof each === "object" && "type" in each && (each as { type: string }).type in each))
    return value.map((each) => brief((each as Record<string, unknown>)[(each as { type: string }).type])).join(" / ");
  return valueInWords(value) ?? "";
}

/** What was, and what is: field by field. */
export function Difference({ activity }: { activity: Activity }) {
  const { store } = useBoard();
  const changes = (activity.changes ?? {}) as Record<string, unknown>;
  const previous = (activity.previous ?? {}) as Record<string, unknown>;
  if (activity.kind === "card.created" || activity.kind === "comment.created") return null;
  const column = (id: unknown) => (typeof id === "string" ? store.column(id)?.name ?? "" : "");
  const cards = (ids: unknown) => (Array.isArray(ids) ? ids.map((id) => store.card(String(id))?.key ?? t("a card elsewhere")).join(", ") : "");
  const rows = Object.keys({ ...changes, ...previous }).filter(fieldInWords).map((name) => {
    const word = name === "column_id" ? column : name === "blocked_by" ? cards : brief;
    return { name, was: word(previous[name]).slice(0, 400), is: word(changes[name]).slice(0, 400) };
  }).filter(({ was, is }) => was !== is);
  if (rows.length === 0) return null;
  return (
    <ul className="difference">
      {rows.map(({ name, was, is }) => (
        <li key={name}><span className="soft">{fieldInWords(name)}</span> {was && <del>{was}</del>} {is && <ins>{is}</ins>}</li>
      ))}
    </ul>
  );
}

