// A board as it is shown: its columns, the cards that have been read, where they stand. The one place in
// which the page holds them; tiles, lists and the card's panel read it. It knows nothing of React or of
// the network (sync.ts), and tells only those whose part has changed.
import type { Schemas } from "../../api/client";
import type { Event } from "../../api/live";
import { following } from "./definitions";
import { Layers, type Mutation } from "./layers";

export type Card = Schemas["CompactCard"];
export type Board = Schemas["Board"];
export type Column = Schemas["Column"];
export type Snapshot = Schemas["BoardSnapshot"];
export interface Place {
  column: string;
  index: number;
}
/** Where a card goes, as the server wants it said: beside another, never at an index. */
export interface Anchor {
  column_id: string;
  before_id?: string;
  after_id?: string;
}
/** Where a card is to stand, whoever goes meanwhile: below the first of `above` that is in the column, or else
    above the first of `below`. The nearest come first. */
export interface Spot {
  column_id: string;
  above: readonly string[];
  below: readonly string[];
}
const nearest = 50; // of either side are remembered

interface Lane {
  column: Column;
  /** All that were read, from top to bottom. */
  ids: string[];
  /** Those of them that the filter lets through. */
  shown: readonly string[];
  /** Where more follow; null when all are here. */
  cursor: string | null;
}

type Topic = "board" | "cards" | "columns" | "selection" | `column:${string}` | `card:${string}`;

const before = (a: Card, b: Card) => a.position < b.position || (a.position === b.position && a.id < b.id);
const stands = (card: Card) => !card.is_archived && !card.in_trash;

export class BoardStore {
  board: Board;
  sequence: number;
  /** What the sync is to read again: cards, and the board with its columns. */
  readonly wanted = { cards: new Set<string>(), board: false };
  onWanted: () => void = () => undefined;
  /** As they show: what the server says of them, and over that what was done here. */
  private readonly cards = new Map<string, Card>();
  private readonly layers = new Layers();
  private readonly lanes = new Map<string, Lane>();
  private order: readonly string[] = [];
  private readonly listeners = new Map<Topic, Set<() => void>>();
  private filter: ((card: Card) => boolean) | null = null;
  private selected: ReadonlySet<string> = new Set();
  private held: { cards: ReadonlySet<string>; events: Event[]; answers: (() => void)[] } | null = null;

  constructor(snapshot: Snapshot) {
    this.board = snapshot.board;
    this.sequence = snapshot.event_sequence;
    for (const { cards, next_cursor, ...column } of snapshot.columns) {
      this.lanes.set(column.id, { column, ids: [], shown: [], cursor: next_cursor });
      this.addPage(column.id, cards, next_cursor);
    }
    this.order = snapshot.columns.map(({ id }) => id);
  }

  // -------------------------------------------------------------------------------- being listened to

  subscribe = (topic: Topic) => (listener: () => void) => {
    const all = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, all.add(listener));
    return () => void all.delete(listener);
  };
  private tell(topic: Topic) {
    for (const each of this.listeners.get(topic) ?? []) each();
  }

  // ------------------------------------------------------------------------------------------ reading

  columnOrder = () => this.order;
  column = (id: string): Column | undefined => this.lanes.get(id)?.column;
  columns = (): Column[] => this.order.map((id) => this.lanes.get(id)!.column);
  shown = (id: string): readonly string[] => this.lanes.get(id)?.shown ?? [];
  cursor = (id: string): string | null => this.lanes.get(id)?.cursor ?? null;
  card = (id: string): Card | undefined => this.cards.get(id);
  /** By id or by key. */
  find = (name: string): Card | undefined => this.cards.get(name) ?? [...this.cards.values()].find(({ key }) => key === name);
  selection = () => this.selected;
  isFiltered = () => this.filter !== null;
  get isComplete(): boolean {
    return [...this.lanes.values()].every(({ cursor }) => cursor === null);
  }
  /** All cards that show, column by column. */
  allShown = (): Card[] => this.order.flatMap((id) => this.shown(id).map((card) => this.cards.get(card)!));

  place(id: string): Place | undefined {
    const card = this.cards.get(id);
    const index = card ? this.shown(card.column_id).indexOf(id) : -1;
    return index < 0 ? undefined : { column: card!.column_id, index };
  }

  /** What is selected and shows, in the board's order: what is done to the selection is done to these. */
  chosen = (): string[] => (this.selected.size ? this.allShown().map(({ id }) => id).filter((id) => this.selected.has(id)) : []);
  /** Of nothing that is selected and shows, this one. */
  chosenOr = (id: string): string[] => {
    const chosen = this.chosen();
    return chosen.length ? chosen : [id];
  };
  /** In the board's order, also those that the filter leaves out. */
  inOrder = (ids: Iterable<string>): string[] => {
    const wanted = new Set(ids);
    return this.order.flatMap((id) => this.lanes.get(id)!.ids.filter((card) => wanted.has(card)));
  };

  /** The spot at `index` among the shown cards of a column, those that move left out. */
  spot(column_id: string, index: number, moving: ReadonlySet<string>): Spot {
    const rest = this.shown(column_id).filter((id) => !moving.has(id));
    const at = Math.min(index, rest.length);
    return { column_id, above: rest.slice(Math.max(0, at - nearest), at).reverse(), below: rest.slice(at, at + nearest) };
  }

  /** Where a card stands now, to come back to. */
  spotOf(id: string): Spot | undefined {
    const lane = this.lanes.get(this.cards.get(id)?.column_id ?? "");
    const at = lane?.ids.indexOf(id) ?? -1;
    if (at < 0) return undefined;
    return { column_id: lane!.column.id, above: lane!.ids.slice(Math.max(0, at - nearest), at).reverse(), below: lane!.ids.slice(at + 1, at + 1 + nearest) };
  }

  /** The spot's anchor as the cards stand now; those of `out` are no neighbours. */
  anchorAt({ column_id, above, below }: Spot, out: ReadonlySet<string>): Anchor {
    const isThere = (id: string) => {
      const card = this.cards.get(id);
      return !out.has(id) && card?.column_id === column_id && stands(card);
    };
    const [after_id, before_id] = [above.find(isThere), below.find(isThere)];
    return { column_id, ...(after_id ? { after_id } : before_id && { before_id }) };
  }

  // ----------------------------------------------------------------------------------------- changing

  addPage(column: string, cards: Card[], cursor: string | null) {
    const lane = this.lanes.get(column);
    if (!lane) return;
    lane.cursor = cursor;
    for (const card of cards) {
      if (this.cards.has(card.id)) this.put(card);
      else {
        this.cards.set(card.id, card);
        this.insert(card);
      }
    }
    this.refresh(lane);
  }

  /** A card as the server has it, older than what is known it is passed over; and that this mutation of it is done. */
  put(card: Card, done?: Mutation) {
    if (this.held?.cards.has(card.id)) return void this.held.answers.push(() => this.put(card, done));
    const base = this.base(card.id);
    const now = base && base.version > card.version ? base : card;
    this.change(done ? this.layers.settle(now, done) : this.layers.put(now));
  }

  /** Moves a card before the server knows. */
  moveLocally(id: string, anchor: Anchor, mutation: Mutation) {
    const lane = this.lanes.get(anchor.column_id);
    if (!lane) return;
    const ids = lane.ids.filter((each) => each !== id);
    const found = ids.indexOf(anchor.after_id ?? anchor.before_id ?? "");
    const at = found < 0 ? ids.length : anchor.after_id ? found + 1 : found;
    const above = this.cards.get(ids[at - 1] ?? "")?.position;
    const below = this.cards.get(ids[at] ?? "")?.position;
    const position = above === undefined ? (below ?? 1) - 1 : below === undefined ? above + 1 : (above + below) / 2;
    this.changeLocally(id, { column_id: anchor.column_id, position }, mutation);
  }

  /** Changes fields of a card before the server knows. */
  changeLocally(id: string, fields: Partial<Card>, mutation: Mutation) {
    const base = this.base(id);
    if (base) this.change(this.layers.add(base, mutation, fields));
  }

  /** It is done, also to those that the answer does not show. */
  settle(mutation: Mutation) {
    for (const id of this.layers.of(mutation)) this.change(this.layers.settle(this.layers.done(this.base(id)!, mutation), mutation));
  }

  /** Takes back what was done locally; the cards that it was done to. */
  revert(mutation: Mutation): string[] {
    const ids = this.layers.of(mutation);
    for (const id of ids) this.change(this.layers.remove(this.base(id)!, mutation));
    return ids;
  }

  /** Takes back what the server refused, and asks for the cards: they may be others than is known here. */
  refuse(mutation: Mutation) {
    for (const id of this.revert(mutation)) this.want(id);
  }

  /** The server has the card no more. */
  drop(id: string) {
    const base = this.base(id);
    if (base) this.change(this.layers.put({ ...base, in_trash: true }));
  }

  private base = (id: string): Card | undefined => this.layers.base(id) ?? this.cards.get(id);

  private change(card: Card) {
    const known = this.cards.get(card.id);
    const stood = known && stands(known) ? this.lanes.get(known.column_id) : undefined;
    const lane = stands(card) ? this.lanes.get(card.column_id) : undefined;
    if (known) this.remove(known);
    this.cards.set(card.id, card);
    this.insert(card);
    if (stood !== lane) {
      if (stood) this.count(stood, -1);
      if (lane) this.count(lane, 1);
    }
    if (stood) this.refresh(stood);
    if (lane && lane !== stood) this.refresh(lane);
    if (!lane && this.selected.has(card.id)) this.select(card.id, false);
    this.tell(`card:${card.id}`);
    this.tell("cards");
  }

  private count(lane: Lane, by: number) {
    lane.column = { ...lane.column, card_count: Math.max(0, lane.column.card_count + by) };
    this.tell("columns");
  }

  private remove(card: Card) {
    const lane = this.lanes.get(card.column_id);
    const at = lane?.ids.indexOf(card.id) ?? -1;
    if (at >= 0) lane!.ids.splice(at, 1);
  }

  private insert(card: Card) {
    const lane = this.lanes.get(card.column_id);
    if (!lane || !stands(card)) return;
    const { ids } = lane;
    let low = 0;
    for (let high = ids.length; low < high;) {
      const middle = (low + high) >> 1;
      if (before(this.cards.get(ids[middle]!)!, card)) low = middle + 1;
      else high = middle;
    }
    ids.splice(low, 0, card.id);
  }

  private refresh(lane: Lane) {
    const { filter } = this;
    const next = filter ? lane.ids.filter((id) => filter(this.cards.get(id)!)) : [...lane.ids];
    if (next.length === lane.shown.length && next.every((id, at) => id === lane.shown[at])) return;
    lane.shown = next;
    this.tell(`column:${lane.column.id}`);
    this.tell("cards");
  }

  setFilter(filter: ((card: Card) => boolean) | null) {
    this.filter = filter;
    for (const lane of this.lanes.values()) this.refresh(lane);
    this.tell("columns"); // their heads say how many are shown
  }

  setBoard(board: Board, columns: Column[]) {
    this.board = board;
    for (const column of columns) {
      const lane = this.lanes.get(column.id);
      if (lane) lane.column = column;
      else this.addLane(column);
    }
    const kept = new Set(columns.map(({ id }) => id));
    for (const id of [...this.lanes.keys()]) if (!kept.has(id)) this.lanes.delete(id);
    this.order = columns.map(({ id }) => id);
    this.tell("columns");
    this.tell("board");
  }

  /** Its cards may be known already: events of theirs come before the column is read. */
  private addLane(column: Column) {
    const lane: Lane = { column, ids: [], shown: [], cursor: null };
    this.lanes.set(column.id, lane);
    for (const card of this.cards.values()) if (card.column_id === column.id) this.insert(card);
    this.refresh(lane);
  }

  select(id: string, on = !this.selected.has(id)) {
    const next = new Set(this.selected);
    if (on) next.add(id);
    else next.delete(id);
    this.setSelection(next);
  }
  setSelection(ids: Iterable<string>) {
    const was = this.selected;
    this.selected = new Set(ids);
    for (const id of new Set([...was, ...this.selected])) if (was.has(id) !== this.selected.has(id)) this.tell(`card:${id}`);
    this.tell("selection");
  }

  // ------------------------------------------------------------------------------------------- events

  /** Events wait from now on, and answers about these cards: somebody holds them, and nothing may move away
      under the pointer. */
  hold(cards: Iterable<string>) {
    this.held ??= { cards: new Set(cards), events: [], answers: [] };
  }
  release() {
    const { held } = this;
    this.held = null;
    for (const answer of held?.answers ?? []) answer();
    for (const event of held?.events ?? []) this.apply(event);
  }

  apply(event: Event) {
    if (this.held) return void this.held.events.push(event);
    this.sequence = Math.max(this.sequence, event.sequence);
    const { kind, data } = event;
    const [noun] = kind.split(".");
    if (noun === "card") this.applyToCard(event);
    else if (noun === "lease") this.applyLease(event);
    else if (noun === "comment") this.want(data.card_id);
    else if (noun === "label" || noun === "property") this.follow(event);
    if (noun === "column" || noun === "board" || noun === "label" || noun === "property") {
      this.wanted.board = true;
      this.onWanted();
    }
  }

  /** Asks for the column's cards whose pause after a failure is over, now that the next ends then; no clock but the
      server's says so. */
  wantReady(column: string, next: string | null) {
    for (const id of this.lanes.get(column)?.ids ?? []) {
      const { state, available_at } = this.cards.get(id)!.queue;
      if (state === "backoff" && available_at && (!next || Date.parse(available_at) < Date.parse(next))) this.want(id);
    }
  }

  private want(id: string | undefined) {
    if (!id || !this.cards.has(id)) return;
    this.wanted.cards.add(id);
    this.onWanted();
  }

  private applyToCard({ kind, data }: Event) {
    const changes = data.changes as unknown as Partial<Card>;
    if (kind === "card.created") return this.put(changes as Card);
    if (kind === "card.linked" || kind === "card.unlinked") return this.want(data.card_id ?? data.id);
    const known = this.base(data.id);
    if (known) {
      if (known.version > data.version || data.truncated_fields?.length) return this.want(data.id);
      const { from, to } = data as { from?: { board_id: string }; to?: { board_id: string } };
      const away = from && to && to.board_id !== this.board.id;
      return this.change(this.layers.put({ ...known, ...changes, version: data.version, ...(away && { is_archived: true }) }));
    }
    // One that was not read yet, or comes from elsewhere: it may belong among those that were, and a page that is
    // on its way may have it as it was.
    const goes = "column_id" in changes || "is_archived" in changes || "in_trash" in changes;
    if (!goes && this.isComplete) return;
    this.wanted.cards.add(data.id);
    this.wanted.board ||= goes;
    this.onWanted();
  }

  private applyLease({ kind, data }: Event) {
    const known = data.card_id ? this.base(data.card_id) : undefined;
    if (!known) return;
    if (kind !== "lease.claimed") return this.want(known.id);
    const { holder, attempt, expires_at } = data.changes as unknown as NonNullable<Card["lease"]>;
    this.change(this.layers.put({ ...known, queue: { ...known.queue, state: "leased", attempts: attempt }, lease: { id: data.id, holder, attempt, expires_at } }));
  }

  private follow(event: Event) {
    const changed: string[] = [];
    for (const card of this.cards.values()) {
      const next = following(this.base(card.id)!, event, this.board);
      if (!next) continue;
      this.cards.set(card.id, this.layers.put(next)); // labels and properties move no card
      changed.push(card.id);
    }
    if (changed.length === 0) return;
    for (const lane of this.lanes.values()) this.refresh(lane); // the filter may ask for it
    for (const id of changed) this.tell(`card:${id}`);
    this.tell("cards");
  }
}
