// Dragging by mouse, pen and finger. Nothing goes through React between picking up and dropping: the
// ghost and the line that shows the place are moved with transforms, and the place comes from the
// virtualizer's own offsets, so that the cost does not depend on how many cards a column has.
import type { Virtualizer } from "@tanstack/react-virtual";
import { t } from "../../app/words";
import type { BoardStore } from "./store";

export interface Target {
  key: string;
  column: string;
  /** Of a board in lanes: such a target is met in its own rectangle, and any other at every height. */
  lane?: string;
  scroller: HTMLElement;
  line: HTMLElement;
  ids(): readonly string[];
  /** The place at so many pixels from the top: before the card of that index. */
  placeAt(offset: number): { index: number; top: number };
}
/** That of a column whose cards have no elements unless they are in sight. */
export function placeIn(virtualizer: Virtualizer<HTMLElement, Element>, count: number, offset: number) {
  const item = count ? virtualizer.getVirtualItemForOffset(offset) : undefined;
  if (!item) return { index: count, top: 4 };
  const isBelow = offset > (item.start + item.end) / 2;
  return isBelow ? { index: item.index + 1, top: item.end } : { index: item.index, top: item.start };
}
export interface DragHost {
  say(words: string): void;
  /** The card that is held stays mounted, or a touch drag would end when it scrolls out of sight. */
  picked(card: string): void;
  /** `index` counts the shown cards of the column, or of the cell, without those that move. */
  dropped(cards: string[], column: string, index: number, lane?: string): void;
}

interface Pending {
  card: string;
  tile: HTMLElement;
  x: number;
  y: number;
  pointer: number;
  isTouch: boolean;
  timer: number;
}
interface Held {
  cards: string[];
  ghost: HTMLElement;
  tile: HTMLElement;
  dx: number;
  dy: number;
  x: number;
  y: number;
  frame: number;
  over: { column: string; index: number; lane?: string } | null;
}

const longPress = 240; // milliseconds
const slack = { touch: 10, mouse: 5 }; // pixels before a press is a scroll, or a drag
const edge = 56; // pixels from a border within which it scrolls

export class DragEngine {
  private readonly targets = new Map<string, Target>();
  private pending: Pending | null = null;
  private held: Held | null = null;
  private hasDropped = false;

  constructor(private readonly store: BoardStore, private readonly host: DragHost) {}

  register(target: Target) {
    this.targets.set(target.key, target);
    return () => { if (this.targets.get(target.key) === target) this.targets.delete(target.key); };
  }

  /** Listens on the board; what it gives ends that. */
  attach(board: HTMLElement) {
    const ended = new AbortController();
    const { signal } = ended;
    board.addEventListener("pointerdown", (event) => this.down(event, board), { signal });
    window.addEventListener("pointermove", (event) => this.move(event, board), { signal });
    window.addEventListener("pointerup", () => this.up(), { signal });
    window.addEventListener("pointercancel", () => this.cancel(), { signal });
    window.addEventListener("blur", () => this.cancel(), { signal });
    window.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.held) return;
      event.preventDefault();
      event.stopPropagation();
      this.cancel();
    }, { signal, capture: true });
    board.addEventListener("click", (event) => {
      if (!this.hasDropped) return;
      event.preventDefault();
      event.stopPropagation();
    }, { signal, capture: true });
    board.addEventListener("touchmove", (event) => { if (this.held) event.preventDefault(); }, { signal, passive: false });
    board.addEventListener("contextmenu", (event) => { if (this.held || this.pending?.isTouch) event.preventDefault(); }, { signal });
    board.addEventListener("dragstart", (event) => event.preventDefault(), { signal });
    return () => {
      this.cancel();
      ended.abort();
    };
  }

  private down(event: PointerEvent, board: HTMLElement) {
    if (event.button !== 0 || this.held || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = event.target as Element;
    const tile = target.closest<HTMLElement>("[data-card]");
    if (!tile || target.closest("button,input")) return;
    const isTouch = event.pointerType === "touch";
    this.pending = {
      card: tile.dataset.card!, tile, x: event.clientX, y: event.clientY, pointer: event.pointerId, isTouch,
      timer: isTouch ? window.setTimeout(() => this.begin(board), longPress) : 0,
    };
  }

  private move(event: PointerEvent, board: HTMLElement) {
    const { pending } = this;
    if (pending?.pointer === event.pointerId && !this.held) {
      const far = Math.hypot(event.clientX - pending.x, event.clientY - pending.y);
      if (pending.isTouch && far > slack.touch) this.forget(); // it is a scroll
      else if (!pending.isTouch && far > slack.mouse) this.begin(board);
    }
    const { held } = this;
    if (!held) return;
    held.x = event.clientX;
    held.y = event.clientY;
    held.frame ||= requestAnimationFrame(() => this.draw(board));
  }

  private up() {
    this.forget();
    if (this.held) this.finish(this.held.over);
  }
  private cancel() {
    this.forget();
    if (this.held) this.finish(null);
  }
  private forget() {
    if (this.pending) clearTimeout(this.pending.timer);
    this.pending = null;
  }

  private begin(board: HTMLElement) {
    const { pending } = this;
    if (!pending) return;
    const { card, tile, x, y } = pending;
    const cards = this.store.selection().has(card) ? this.store.chosen() : [card];
    const box = tile.getBoundingClientRect();
    const ghost = tile.cloneNode(true) as HTMLElement;
    for (const name of ["data-card", "id", "aria-describedby", "href"]) ghost.removeAttribute(name);
    ghost.setAttribute("aria-hidden", "true");
    ghost.inert = true;
    ghost.classList.add("ghost");
    ghost.style.width = `${box.width}px`;
    if (cards.length > 1) ghost.dataset.count = String(cards.length);
    document.body.append(ghost);
    tile.classList.add("away");
    document.documentElement.classList.add("is-dragging");
    this.held = { cards, ghost, tile, dx: x - box.left, dy: y - box.top, x, y, frame: 0, over: null };
    this.store.hold(cards);
    this.host.picked(card);
    this.host.say(t("Picked up {{key}}", { key: this.store.card(card)?.key }));
    if (pending.isTouch) navigator.vibrate?.(12);
    this.held.frame = requestAnimationFrame(() => this.draw(board));
  }

  private draw(board: HTMLElement) {
    const { held } = this;
    if (!held) return;
    held.frame = 0;
    held.ghost.style.transform = `translate3d(${held.x - held.dx}px, ${held.y - held.dy}px, 0) rotate(1.2deg)`;
    const around = board.getBoundingClientRect();
    let scrolled = scrollNear(board, "scrollLeft", held.x, around.left, around.right);
    let found: Target | undefined;
    let box: DOMRect | undefined;
    let nearest = Infinity; // pixels from the pointer
    for (const target of this.targets.values()) {
      const rect = target.scroller.getBoundingClientRect();
      target.line.style.opacity = "0";
      const aside = Math.max(rect.left - held.x, held.x - rect.right, 0);
      const above = target.lane === undefined ? 0 : Math.max(rect.top - held.y, held.y - rect.bottom, 0);
      if (aside <= 6 && above <= 4 && aside + above < nearest) [found, box, nearest] = [target, rect, aside + above];
    }
    if (found && box) {
      scrolled = (found.lane === undefined ? scrollNear(found.scroller, "scrollTop", held.y, box.top, box.bottom) : scrollNear(board, "scrollTop", held.y, around.top, around.bottom)) || scrolled;
      held.over = this.placeIn(found, held.y - box.top + found.scroller.scrollTop, held);
    } else held.over = null;
    if (scrolled) held.frame = requestAnimationFrame(() => this.draw(board));
  }

  private placeIn({ column, lane, line, ids, placeAt }: Target, offset: number, { cards }: Held) {
    const { index, top } = placeAt(offset);
    line.style.opacity = "1";
    line.style.transform = `translateY(${top}px)`;
    const moving = new Set(cards);
    return { column, lane, index: index - ids().slice(0, index).filter((id) => moving.has(id)).length };
  }

  private finish(over: Held["over"]) {
    const { held } = this;
    if (!held) return;
    this.held = null;
    cancelAnimationFrame(held.frame);
    held.ghost.remove();
    held.tile.classList.remove("away");
    for (const { line } of this.targets.values()) line.style.opacity = "0";
    document.documentElement.classList.remove("is-dragging");
    this.hasDropped = true; // the click that ends a drag opens nothing
    setTimeout(() => (this.hasDropped = false));
    if (over) this.host.dropped(held.cards, over.column, over.index, over.lane);
    else this.host.say(t("Not moved"));
    this.store.release();
  }
}

/** Scrolls when the pointer is near a border, the faster the nearer; whether it did. */
function scrollNear(element: HTMLElement, axis: "scrollTop" | "scrollLeft", at: number, from: number, to: number): boolean {
  const step = at < from + edge ? -Math.ceil((from + edge - at) / 3) : at > to - edge ? Math.ceil((at - to + edge) / 3) : 0;
  if (!step) return false;
  const was = element[axis];
  element[axis] += Math.max(-40, Math.min(40, step));
  return element[axis] !== was;
}
