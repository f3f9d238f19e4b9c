import type { EditorView } from "prosemirror-view";
import { Refusal } from "../api/refusal";
import { applyOps, difference, flat, type Block } from "./model";
import { blocksIn } from "./schema";
import { batchesOf, readBlocks, sendBatch, type Batch } from "./server";
import { renewIds, replaceDoc } from "./view";

export type Saving = "saved" | "waiting" | "sending" | "failed";
const rest = 700; // milliseconds after the last key until it is sent
const mostTries = 8; // against others who write at the same time
const pause = 4; // seconds until what failed is tried again, unless the server names others

/** Those that have something that the server has not. */
const unsaved = new Set<Keeper>();
addEventListener("beforeunload", (event) => {
  for (const each of unsaved)
    if (each.state === "waiting") void each.leave();
    else event.preventDefault(); // the browser asks whether to leave
});

/** Keeps what is written as the server has it: sends the difference when the writing rests, and takes in
    what others have written meanwhile, block by block. */
export class Keeper {
  private timer = 0;
  private sending: Promise<void> | null = null;
  /** Sent, and perhaps carried out: its answer was lost. */
  private unanswered: Batch | null = null;
  /** What the server's tree had once; it gives no second block such an id. */
  private readonly gone = new Set<string>();
  private isLeaving = false;
  state: Saving = "saved";
  error: unknown;
  constructor(private readonly card: string, private readonly view: EditorView, private base: Block[], private readonly on: {
    state: () => void;
    merged: () => void;
    /** What is being read just now may be older than what is about to be written. */
    sending: () => void;
    sent: () => void;
  }) {}

  private become(state: Saving, error?: unknown) {
    this.state = state;
    this.error = error;
    if (state === "saved") unsaved.delete(this);
    else unsaved.add(this);
    this.on.state();
  }

  private get isSaved() {
    return !this.unanswered && difference(this.base, blocksIn(this.view.state.doc)).length === 0;
  }

  changed() {
    clearTimeout(this.timer);
    if (!this.sending) this.become("waiting");
    this.timer = window.setTimeout(() => void this.save(), rest);
  }

  async save(): Promise<void> {
    clearTimeout(this.timer);
    while (this.sending) await this.sending.catch(() => undefined); // others may have waited, too
    if (this.isSaved) return this.become("saved");
    this.become("sending");
    this.on.sending();
    this.sending = this.send();
    try {
      await this.sending;
      if (this.isSaved) this.become("saved");
    } catch (error) {
      this.become("failed", error);
      clearTimeout(this.timer);
      if (this.retryAfter) this.timer = window.setTimeout(() => void this.save(), this.retryAfter);
    } finally {
      this.sending = null;
      this.on.sent();
    }
  }

  /** In milliseconds; of what will not go well another time there is none. */
  private get retryAfter(): number | undefined {
    return this.error instanceof Refusal && this.error.passes ? (this.error.retryAfter ?? pause) * 1_000 : undefined;
  }

  /** Of a page that may be gone in a moment. */
  async leave() {
    this.isLeaving = true;
    await this.save();
    this.isLeaving = false;
  }

  /** Of an editor that is closed: ends when all is saved, or never will be. The view is needed until then. */
  async finish() {
    for (;;) {
      await this.save();
      clearTimeout(this.timer);
      const { retryAfter } = this;
      if (this.isSaved || (this.state === "failed" && !retryAfter)) break;
      await new Promise((done) => setTimeout(done, retryAfter ?? rest));
    }
    unsaved.delete(this);
  }

  private async send() {
    for (let left = mostTries; ; left -= 1) {
      try {
        if (this.unanswered) await this.deliver(this.unanswered);
        this.renew();
        for (const batch of batchesOf(difference(this.base, blocksIn(this.view.state.doc)), this.card)) await this.deliver(batch);
        return;
      } catch (error) {
        const isConflict = error instanceof Refusal && error.isDecided && (error.status === 412 || error.status === 409 || error.status === 404);
        if (!isConflict || left === 0) throw error;
        // Somebody was faster: what they wrote is taken in, and ours is put upon it.
        this.rebase(await readBlocks(this.card));
      }
    }
  }

  /** Until it is known what became of a batch nothing else is sent or compared: the server may have more than `base`. */
  private async deliver(batch: Batch) {
    this.unanswered = batch;
    try {
      const versions = await sendBatch(this.card, batch, this.isLeaving);
      this.unanswered = null;
      this.know(withVersions(applyOps(this.base, batch.ops), (id) => versions.get(id)));
    } catch (error) {
      if (error instanceof Refusal && error.isDecided) this.unanswered = null;
      throw error;
    }
  }

  /** Blocks that come back after they were deleted, as by undo, are new ones to the server, as are those of which
      another type was made. */
  private renew() {
    const known = new Map(flat(this.base).map(({ id, type }) => [id, type]));
    const spent = flat(blocksIn(this.view.state.doc)).filter(({ id, type }) => (known.has(id) ? known.get(id) !== type : this.gone.has(id)));
    if (spent.length) renewIds(this.view, new Set(spent.map(({ id }) => id)));
  }

  private know(base: Block[]) {
    const there = idsOf(base);
    for (const id of idsOf(this.base)) if (!there.has(id)) this.gone.add(id);
    this.base = base;
  }

  /** The server's blocks are these by now. */
  rebase(remote: Block[]) {
    this.renew();
    const mine = blocksIn(this.view.state.doc);
    const ops = difference(this.base, mine);
    const isNew = difference(this.base, remote).length > 0;
    this.know(remote);
    if (!isNew) return;
    const next = ops.length ? applyOps(remote, ops) : remote;
    if (difference(mine, next).length === 0) return;
    replaceDoc(this.view, next);
    this.on.merged();
  }

  /** While it is not known what the server has, or a character is being composed of several keys, nothing around it may change. */
  get isBusy() {
    return this.sending !== null || this.unanswered !== null || this.view.composing;
  }
}

const idsOf = (blocks: Block[]) => new Set(flat(blocks).map(({ id }) => id));
const withVersions = (blocks: Block[], version: (id: string) => number | undefined): Block[] =>
  blocks.map((block) => ({ ...block, version: version(block.id) ?? block.version, children: withVersions(block.children, version) }));
