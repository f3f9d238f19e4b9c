import { useSyncExternalStore } from "react";
import { worded } from "../api/refusal";
import { t } from "../app/words";
import { Icon } from "./Icon";

export interface Toast {
  text: string;
  /** By a button, and by Ctrl Z the newest first. */
  undo?: () => void;
  /** What else can be done about it. */
  action?: { label: string; run: () => void };
  /** How long it stays, in milliseconds. */
  ms?: number;
}

type Shown = Toast & { id: number };
const most = 3; // are shown; an older one can still be undone until its time is over

let all: readonly Shown[] = [];
let count = 0;
const listeners = new Set<() => void>();
function become(next: typeof all) {
  all = next;
  for (const each of listeners) each();
}
const dismiss = (id: number) => become(all.filter((each) => each.id !== id));

/** Says something at the bottom of the screen, for 8 seconds unless told otherwise; what it gives takes it away. */
export function toast(given: Toast | string): () => void {
  const { ms = 8_000, ...one } = typeof given === "string" ? { text: given } : given;
  const id = ++count;
  become([...all, { ...one, id }]);
  setTimeout(() => dismiss(id), ms);
  return () => dismiss(id);
}
export const toastError = (error: unknown) => void toast({ text: worded(error), ms: 12_000 });

/** Undoes what was done last and can be undone, as Ctrl Z does. */
export function undoNewest() {
  const newest = all.findLast(({ undo }) => undo);
  if (!newest) return;
  dismiss(newest.id);
  newest.undo!();
}

function One({ id, text, undo, action = undo && { label: t("Undo"), run: undo } }: Shown) {
  return (
    <div className="toast">
      <span className="grow">{text}</span>
      {action && (
        <button type="button" className="button small" onClick={() => { dismiss(id); action.run(); }}>{action.label}</button>
      )}
      <button type="button" className="button small icon" aria-label={t("Dismiss")} onClick={() => dismiss(id)}><Icon name="close" /></button>
    </div>
  );
}

export function Toasts() {
  const now = useSyncExternalStore((listener) => (listeners.add(listener), () => void listeners.delete(listener)), () => all);
  return (
    <div className="toasts" role="status">
      {now.slice(-most).map((each) => <One key={each.id} {...each} />)}
    </div>
  );
}
