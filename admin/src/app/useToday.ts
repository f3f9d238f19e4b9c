import { useSyncExternalStore } from "react";
import { today } from "./time";

const eachMinute = (look: () => void) => {
  const timer = setInterval(look, 60_000);
  return () => clearInterval(timer);
};

/** The day that it is; what uses it is drawn anew when midnight passes. */
export const useToday = () => useSyncExternalStore(eachMinute, today);
