import { useEffect, useSyncExternalStore } from "react";
import { worded } from "../api/refusal";
import { t } from "../app/words";
import { Icon } from "./Icon";

export interface Toast {
  text: string;
  action?: { label: string; run: () => void };
  /** How long it stays, in milliseconds. */
  ms?: number;
}

let shown: (Toast & { id: number })[] = [];
let count = 0;
const listeners = new Set<() => void>();
function become(next: typeof shown) {
  shown = next;
  for (const each of listeners) each();
}

/** Says something at the bottom of the screen, for 8 seconds unless told otherwise. */
export function toast(given: Toast | string): () => void {
  const one = { ms: 8_000, ...(typeof given === "string" ? { text: given } : given), id: ++count };
  become([...shown.slice(-2), one]);
  return () => become(shown.filter(({ id }) => id !== one.id));
}
export const toastError = (error: unknown) => void toast({ text: worded(error), ms: 12_000 });
/** Runs the newest toast's action, as Ctrl Z does; whether there was one. */
export function runNewest(): boolean {
  const newest = shown.findLast((each) => each.action);
  if (!newest) return false;
  become(shown.filter((each) => each !== newest));
  newest.action!.run();
  return true;
}

function One({ toast: { id, text, action, ms } }: { toast: (typeof shown)[number] }) {
  const dismiss = () => become(shown.filter((each) => each.id !== id));
  useEffect(() => {
    const timer = setTimeout(dismiss, ms);
    return () => clearTimeout(timer);
  }, [id, ms]);
  return (
    <div className="toast">
      <span className="grow">{text}</span>
      {action && (
        <button type="button" className="button small" onClick={() => { dismiss(); action.run(); }}>{action.label}</button>
      )}
      <button type="button" className="button small icon" aria-label={t("Dismiss")} onClick={dismiss}><Icon name="close" /></button>
    </div>
  );
}

export function Toasts() {
  const all = useSyncExternalStore((listener) => (listeners.add(listener), () => void listeners.delete(listener)), () => shown);
  return (
    <div className="toasts" role="status">
      {all.map((each) => <One key={each.id} toast={each} />)}
    </div>
  );
}
