import { useSyncExternalStore } from "react";
import { today } from "./time";

const listeners = new Set<() => void>();
let timer = 0;

/** One clock for all, however many cards show. */
function subscribe(look: () => void) {
  listeners.add(look);
  timer ||= window.setInterval(() => listeners.forEach((each) => each()), 60_000);
  return () => {
    listeners.delete(look);
    if (listeners.size) return;
    clearInterval(timer);
    timer = 0;
  };
}

/** The day that it is; what uses it is drawn once more when midnight passes. */
export const useToday = () => useSyncExternalStore(subscribe, today);
