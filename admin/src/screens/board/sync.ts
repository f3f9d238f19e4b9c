// Keeps a board's store as the server has it: reads the cards that follow, listens to events, and reads
// again what an event does not say.
import { api, ask } from "../../api/client";
import { live, type Present } from "../../api/live";
import { isMine } from "../../api/mutations";
import { Refusal } from "../../api/refusal";
import { inWorkspace, tabOrg } from "../../api/workspace";
import { BoardStore, type Card, type Snapshot } from "./store";

const pageSize = 100;

export async function readBoard(board_id: string, org?: string): Promise<Snapshot> {
  return ask(api.GET("/v1/boards/{board_id}/snapshot", { params: { path: { board_id }, query: { page_size: 50 } }, headers: inWorkspace(org) }));
}

/** A board of the tab's workspace, or else of whichever of `orgs` has it; and which. */
export async function findBoard(board_id: string, orgs: string[]): Promise<{ snapshot: Snapshot; org: string | undefined }> {
  try {
    return { snapshot: await readBoard(board_id), org: tabOrg() };
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 404) throw error;
    for (const org of orgs.filter((each) => each !== tabOrg()))
      try {
        return { snapshot: await readBoard(board_id, org), org };
      } catch (other) {
        if (!(other instanceof Refusal) || other.status !== 404) throw other;
      }
    throw error;
  }
}

/** Milliseconds until what failed may be asked for again. */
const restAfter = (error: unknown) => 1_000 * (error instanceof Refusal ? (error.passes ? (error.retryAfter ?? 2) : 60) : 5);

export class BoardSync {
  present: Present[] = [];
  presentCount = 0;
  private ended = false;
  private timer = 0;
  private readonly stop: () => void;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly store: BoardStore, on: { gap: () => void; lost?: () => void; event?: (kind: string, card: string | undefined, isOwn: boolean) => void }) {
    store.onWanted = () => this.readSoon(250);
    this.stop = live.follow({
      board: store.board.id,
      after: store.sequence,
      event: (event) => {
        store.apply(event);
        on.event?.(event.kind, event.data.card_id ?? (event.kind.startsWith("card.") ? event.data.id : undefined), isMine(event.mutation_id));
      },
      gap: on.gap,
      error: on.lost,
      presence: (present, total) => {
        this.present = present;
        this.presentCount = total;
        for (const each of this.listeners) each();
      },
    });
    void this.readRest();
  }

  onPresence = (listener: () => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };
  getPresent = () => this.present;

  end() {
    this.ended = true;
    clearTimeout(this.timer);
    this.stop();
    this.store.release();
  }

  /** The columns go on by their cursors, in turn, until all cards are here. */
  private async readRest() {
    for (;;) {
      const open = this.store.columnOrder().filter((id) => this.store.cursor(id));
      if (open.length === 0 || this.ended) return;
      await Promise.all(open.slice(0, 3).map((id) => this.readPage(id).catch((error: unknown) => this.rest(error))));
    }
  }

  private async readPage(column: string) {
    const start_cursor = this.store.cursor(column);
    if (!start_cursor) return;
    const page = await ask(api.GET("/v1/boards/{board_id}/snapshot", {
      params: { path: { board_id: this.store.board.id }, query: { page_size: pageSize, start_cursor } },
    }));
    const found = page.columns.find(({ id }) => id === column);
    this.store.addPage(column, found?.cards ?? [], found?.next_cursor ?? null);
  }

  /** What failed is asked for again, after the time that the server names. */
  private rest(error: unknown) {
    return new Promise((done) => setTimeout(done, restAfter(error)));
  }

  private readSoon(ms: number) {
    if (!this.ended) this.timer ||= window.setTimeout(() => void this.readWanted(), ms);
  }

  /** Cards first: one that comes among those that are known counts in its column, which is read after it. */
  private async readWanted() {
    const { wanted } = this.store;
    const ids = [...wanted.cards].slice(0, 20);
    const board = wanted.board;
    for (const id of ids) wanted.cards.delete(id);
    wanted.board = false;
    const waits = await Promise.all(ids.map((id) => this.readCard(id).catch((error: unknown) => this.waitAfter(error, () => wanted.cards.add(id)))));
    if (board) waits.push(await this.readColumns().catch((error: unknown) => this.waitAfter(error, () => (wanted.board = true))));
    this.timer = 0;
    if (wanted.cards.size || wanted.board) this.readSoon(Math.max(250, ...waits.map((wait) => wait ?? 0)));
  }

  /** What may go well another time is wanted again, after so many milliseconds. */
  private waitAfter(error: unknown, again: () => void): number {
    if (!(error instanceof Refusal) || !error.passes) return 0;
    again();
    return restAfter(error);
  }

  private async readCard(card_id: string) {
    try {
      this.store.put((await ask(api.GET("/v1/cards/{card_id}", { params: { path: { card_id } } }))) as Card);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 404) throw error;
      this.store.drop(card_id);
    }
  }

  private async readColumns() {
    const board_id = this.store.board.id;
    const [board, columns] = await Promise.all([
      ask(api.GET("/v1/boards/{board_id}", { params: { path: { board_id } } })),
      ask(api.GET("/v1/boards/{board_id}/columns", { params: { path: { board_id }, query: { page_size: 100 } } })),
    ]);
    this.store.setBoard(board, columns.results);
  }
}
