// What of a board is shown, as it stands in the address, so that it can be sent to somebody.
import { dayOf } from "../../app/time";
import { needsAttention } from "../../parts/queueStates";
import { isLate } from "./due";
import type { Card } from "./store";

export interface Filter {
  text: string;
  assignees: string[];
  labels: string[];
  priorities: string[];
  due: "" | "overdue" | "week" | "none";
  state: "" | "blocked" | "leased" | "stuck";
}
export const noFilter: Filter = { text: "", assignees: [], labels: [], priorities: [], due: "", state: "" };
/** Stands for those who are assigned to nobody. */
export const nobody = "nobody";

const list = (value: string | null) => (value ? value.split(",").filter(Boolean) : []);

export function readFilter(query: URLSearchParams): Filter {
  const due = query.get("due") ?? "";
  const state = query.get("state") ?? "";
  return {
    text: query.get("q") ?? "",
    assignees: list(query.get("assignee")),
    labels: list(query.get("label")),
    priorities: list(query.get("priority")),
    due: due === "overdue" || due === "week" || due === "none" ? due : "",
    state: state === "blocked" || state === "leased" || state === "stuck" ? state : "",
  };
}

export function writeFilter(filter: Filter, query: URLSearchParams): URLSearchParams {
  const next = new URLSearchParams(query);
  const fields: [string, string][] = [
    ["q", filter.text], ["assignee", filter.assignees.join(",")], ["label", filter.labels.join(",")],
    ["priority", filter.priorities.join(",")], ["due", filter.due], ["state", filter.state],
  ];
  for (const [name, value] of fields) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next;
}

export const isEmpty = (filter: Filter) => writeFilter(filter, new URLSearchParams()).size === 0;

function dueFits(card: Card, wanted: Filter["due"]): boolean {
  const { due } = card;
  if (wanted === "none") return due === null;
  if (wanted === "overdue") return isLate(card);
  if (due === null) return false;
  const inAWeek = new Date();
  inAWeek.setDate(inAWeek.getDate() + 7);
  return dayOf(due) <= dayOf(inAWeek.toISOString());
}

function stateFits({ blocked, lease, queue }: Card, wanted: Filter["state"]): boolean {
  if (wanted === "blocked") return blocked;
  if (wanted === "leased") return lease !== null;
  return needsAttention(queue.state);
}

/** Whether a card is shown; null lets all through. */
export function predicate(filter: Filter): ((card: Card) => boolean) | null {
  if (isEmpty(filter)) return null;
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return (card) => {
    const text = `${card.key} ${card.title} ${card.labels.map(({ name }) => name).join(" ")}`.toLowerCase();
    return words.every((word) => text.includes(word))
      && (filter.assignees.length === 0 || filter.assignees.some((id) => (id === nobody ? card.assignees.length === 0 : card.assignees.some((each) => each.id === id))))
      && (filter.labels.length === 0 || card.labels.some(({ id }) => filter.labels.includes(id)))
      && (filter.priorities.length === 0 || filter.priorities.includes(card.priority))
      && (!filter.due || dueFits(card, filter.due))
      && (!filter.state || stateFits(card, filter.state));
  };
}
