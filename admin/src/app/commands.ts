// What can be done by a key or from the palette. Screens add theirs while they are shown; the list of
// keys (?) and the palette (Ctrl K) are both made of this.
import { useEffect, useSyncExternalStore } from "react";
import type { IconName } from "../parts/Icon";

export interface Command {
  id: string;
  label: string;
  /** Where it stands in the lists. */
  group: string;
  /** "n", "?", "g b" (one after the other), "mod+k"; the first is shown. */
  keys?: string[];
  icon?: IconName;
  /** Only in the list of keys: what has them is elsewhere. */
  onlyKeys?: boolean;
  /** Not while somebody writes: the key is the text's own then. */
  notWhileWriting?: boolean;
  run: () => void;
}

let all: Command[] = [];
let single = true;
const listeners = new Set<() => void>();
const changed = () => listeners.forEach((each) => each());

/** Whether keys without Ctrl do something: people who speak to the browser may not want that. */
export function allowSingleKeys(allowed: boolean) {
  single = allowed;
}

/** Whether a key that was pressed without Ctrl may do something. */
export const isKeyAllowed = (key: string) => key.length > 1 || key === " " || single;

export function useCommands(commands: Command[], deps: unknown[]) {
  useEffect(() => {
    all = [...all, ...commands];
    changed();
    return () => {
      all = all.filter((each) => !commands.includes(each));
      changed();
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, deps);
}

export const useAllCommands = () =>
  useSyncExternalStore((listener) => (listeners.add(listener), () => void listeners.delete(listener)), () => all);

/** Someone is writing, or a list of the browser is open: letters are theirs. */
export const isWriting = (target: EventTarget | null) =>
  target instanceof HTMLElement
  && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest("[role=menu],[role=listbox],[role=dialog][data-modal]") !== null);

const isMac = typeof navigator !== "undefined" && /mac/i.test(navigator.platform);
const signs: Record<string, string> = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };
export const keyName = (keys: string) =>
  keys.split(" ").map((key) => key.split("+").map((part) => (part === "mod" ? (isMac ? "⌘" : "Ctrl") : part.length === 1 ? part.toUpperCase() : (signs[part] ?? part))).join(" ")).join(" ");

/** Keys do what they are for on a page that uses this. */
export function useKeys() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!event.defaultPrevented && press(event)) event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

let begun = "";
let timer = 0;

/** Whether this key ends a command of two that was begun, "v l": it is nobody else's. */
export const endsCommand = (key: string) => begun !== "" && all.some((each) => !each.onlyKeys && each.keys?.includes(`${begun} ${key}`));

/** Runs the command that has this key; whether one had it. */
export function press(event: KeyboardEvent): boolean {
  const mod = event.ctrlKey || event.metaKey;
  if (event.altKey || (!mod && (!single || isWriting(event.target) || document.querySelector(".overlay")))) return false;
  if (/^(Control|Shift|Alt|Meta)$/.test(event.key)) return false;
  // Of a letter by itself Shift makes another sign, which may be what is meant (?); with Ctrl it makes another key.
  const key = (mod && event.shiftKey ? "shift+" : "") + (mod ? "mod+" : "") + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
  const wanted = begun ? `${begun} ${key}` : key;
  const found = all.findLast((each) => !each.onlyKeys && !(each.notWhileWriting && isWriting(event.target)) && each.keys?.some((one) => one === wanted || (event.shiftKey && one === `shift+${wanted}`)));
  clearTimeout(timer);
  begun = "";
  if (found) {
    found.run();
    return true;
  }
  if (!mod && all.some((each) => each.keys?.some((one) => one.startsWith(key + " ")))) {
    begun = key;
    timer = window.setTimeout(() => (begun = ""), 1_200);
  }
  return false;
}
