// Which cards keys and clicks in a view are meant for: the one that has the focus, or is about to, and those from
// there on.
import { useCallback, useEffect, useRef, type KeyboardEvent, type MouseEvent, type RefObject } from "react";
import { endsCommand } from "../../app/commands";
import { archiveOrDelete } from "./actions";
import type { BoardHandle } from "./context";
import { isStep } from "./keyboard";
import type { BoardStore } from "./store";

const mostFrames = 10;
const isModified = (event: Pick<MouseEvent, "ctrlKey" | "metaKey" | "altKey">) => event.ctrlKey || event.metaKey || event.altKey;

/** Archives cards; what follows the first of them in this order, or else stands before it, has the focus then. */
export function archiveFrom(store: BoardStore, order: readonly string[], cards: string[], focus: (id: string) => void) {
  const at = order.findIndex((id) => cards.includes(id));
  const next = order.slice(at + 1).find((id) => !cards.includes(id)) ?? order[at - 1];
  void archiveOrDelete(store, cards, "archive");
  if (next) focus(next);
}

/** All from one card to another, in either direction; the latter alone where they do not stand in the same order. */
function between(order: readonly string[], from: string, to: string): readonly string[] {
  const [a, b] = [order.indexOf(from), order.indexOf(to)];
  return a < 0 ? [to] : order.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** A click opens a card; one with Ctrl selects it beside the others, or no longer, and one with Shift all from the anchor
 *  to it. */
export function clickOn({ store, canEdit, open }: BoardHandle, event: MouseEvent, id: string, { order, anchor }: { order: readonly string[]; anchor: string }) {
  event.preventDefault();
  if (canEdit && event.shiftKey) store.setSelection([...store.selection(), ...between(order, anchor, id)]);
  else if (canEdit && (event.ctrlKey || event.metaKey)) store.select(id);
  else open(id);
}

/** Keys in a view whose cards are found by `data-card`. A tile that is out of sight, or has just moved, is drawn
 *  within a frame or two: what is typed until then is meant for its card all the same. */
export function useCardKeys(root: RefObject<HTMLElement | null>, host: {
  /** Whether the key did something to the card. */
  press: (id: string, key: string) => boolean;
  /** The card that is carried: every key is its own. */
  held?: string | undefined;
  /** The one that has the focus, or had it last: steps lead there as long as nothing has it. */
  first: string;
  /** Brings the card into sight. */
  reveal: (id: string) => void;
}) {
  const current = useRef(host);
  current.current = host;
  const awaited = useRef("");
  const focus = useCallback((id: string) => {
    const from = document.activeElement;
    const seek = () => root.current?.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"]`);
    let frames = 0;
    awaited.current = id;
    const again = () => {
      if (awaited.current !== id) return;
      if (frames === 0) current.current.reveal(id);
      const { activeElement } = document;
      const hasLeft = activeElement !== document.body && activeElement !== from && activeElement !== seek();
      if (!hasLeft) seek()?.focus({ preventScroll: true });
      if (hasLeft || seek() || ++frames === mostFrames) awaited.current = "";
      else requestAnimationFrame(again);
    };
    requestAnimationFrame(again);
  }, [root]);

  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.defaultPrevented || document.activeElement !== document.body || isModified(event)) return;
      const { press, held, first } = current.current;
      const id = held ?? awaited.current;
      if (!held && endsCommand(event.key)) return;
      if (id ? !press(id, event.key) : !first || !isStep(event.key)) return;
      if (!id) focus(first);
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [focus]);

  const onKeyDown = (event: KeyboardEvent) => {
    const tile = (event.target as HTMLElement).closest<HTMLElement>("[data-card]");
    if (!tile || isModified(event)) return;
    const { held } = host;
    if (!held && endsCommand(event.key)) return;
    const isDone = host.press(held ?? (awaited.current || tile.dataset.card!), event.key);
    if (held && event.key.length === 1) event.stopPropagation(); // letters begin no command meanwhile
    if (!isDone) return;
    event.preventDefault();
    event.stopPropagation();
  };
  // A press of the pointer takes the focus along: a click with Shift begins where it was before.
  const anchor = useRef("");
  const onPointerDownCapture = () => void (anchor.current = host.first);
  return { focus, anchor, handlers: { onKeyDown, onPointerDownCapture } };
}
