import type { EditorView } from "prosemirror-view";
import { Refusal } from "../api/refusal";
import { tabOrg } from "../api/workspace";
import { keep, keptOf } from "../app/drafts";
import { applyOps, difference, flat, isText, type Block, type Op } from "./model";
import { replaceDoc } from "./remote";
import { blocksIn } from "./schema";
import { batchesOf, readBlocks, sendBatch, type Batch } from "./server";
import { renewIds } from "./view";

export type Saving = "saved" | "waiting" | "sending" | "failed";
const rest = 700; // milliseconds after the last key until it is sent
const mostTries = 8; // against others who write at the same time
const pause = 4; // seconds until what failed is tried again, unless the server names others

/** Those that have something that the server has not, by their drafts. */
const unsaved = new Map<string, Keeper>();
addEventListener("beforeunload", (event) => {
  for (const each of unsaved.values())
    if (each.state === "waiting") void each.leave();
    else event.preventDefault(); // the browser asks whether to leave
});

/** Of editors that were closed, by card: they send what is left. */
const closed = new Map<string, { stop: () => void; ended: Promise<void> }>();

/** Before a card is opened: who is still sending its text stops, and leaves the rest to whoever opens it. */
export async function takeOver(card: string) {
  const other = closed.get(card);
  other?.stop();
  await other?.ended;
}

/** What the tab keeps of a text that was not sent whole. */
interface Begun {
  base: Block[];
  ops: Op[];
  unanswered: Batch | null;
}
const remembered = 23 * 3_600_000; // milliseconds for which the server knows a batch by its key
const isRemembered = ({ at }: Batch) => at !== undefined && Date.now() - at < remembered;

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
  private isFinishing = false;
  private readonly org = tabOrg();
  /** When the server has answered last, in milliseconds of the page's clock. */
  answered = 0;
  state: Saving = "saved";
  error: unknown;
  /** What was not sent is kept as `draft` by the tab. */
  constructor(private readonly card: string, private readonly draft: string, private readonly view: EditorView, private base: Block[], private readonly on: {
    state: () => void;
    merged: () => void;
    /** What is being read just now may be older than what is about to be written. */
    sending: () => void;
    sent: () => void;
  }) {}

  private become(state: Saving, error?: unknown) {
    this.state = state;
    this.error = error;
    const other = unsaved.get(this.draft);
    if (state === "saved") {
      if (other && other !== this) return this.on.state(); // the draft is that one's
      unsaved.delete(this.draft);
      keep(this.draft, undefined);
    } else unsaved.set(this.draft, this);
    if (state === "failed") this.keepDraft();
    this.on.state();
  }

  private get changes() {
    return difference(this.base, blocksIn(this.view.state.doc));
  }
  /** Those that go without what the server refuses. */
  private changesBut(refused: ReadonlyMap<string, unknown>): Op[] {
    const known = new Map(flat(this.base).map((block) => [block.id, block]));
    const taken = without(blocksIn(this.view.state.doc), refused, known);
    // What is below a new block that is refused, or was what it is to be, is not deleted, though it is not there.
    const isMade = [...refused.keys()].every((id) => known.has(id));
    return difference(this.base, taken).filter((op) => !refused.has(blockOf(op)) && (isMade || op.op !== "delete"));
  }
  private get isSaved() {
    return !this.unanswered && this.changes.length === 0;
  }
  private keepDraft() {
    const { base, changes: ops, unanswered } = this;
    const begun: Begun = { base, ops, unanswered };
    keep(this.draft, ops.length || unanswered ? begun : undefined);
  }

  /** Goes on with what was written and not sent when the card, or the page, was left; whether there was something. What
      had been sent by then and not answered is sent once more under its key, so that it is known what became of it. */
  resume(): boolean {
    const begun = keptOf<Begun>(this.draft);
    if (!begun) return false;
    const remote = this.base;
    try {
      this.base = begun.base;
      this.unanswered = begun.unanswered && isRemembered(begun.unanswered) ? begun.unanswered : null;
      replaceDoc(this.view, applyOps(begun.base, begun.ops));
      if (!this.unanswered) this.rebase(remote);
    } catch {
      // Another version of this page has kept it, in its own way.
      [this.base, this.unanswered] = [remote, null];
      replaceDoc(this.view, remote);
      keep(this.draft, undefined);
      return false;
    }
    this.changed();
    return true;
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
      if (this.retryAfter) {
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => void this.save(), this.retryAfter);
      } // otherwise what was written meanwhile is sent in its time
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
    if (!this.isSaved) this.keepDraft();
    await this.save();
    this.isLeaving = false;
  }

  /** Of an editor that is closed: ends when all is saved, with the pictures that are on their way, never will be, or
      somebody takes it over. The view is needed until then. What never will be stays as the draft, and the browser asks
      before the tab goes with it; why, unless it was taken over, is the result. */
  async finish(pictures: Promise<unknown> | undefined): Promise<unknown> {
    this.isFinishing = true;
    if (!this.isSaved) this.keepDraft();
    let isStopped = false;
    let stop = () => undefined as void;
    const stopped = new Promise<void>((done) => (stop = () => { isStopped = true; done(); }));
    const one = { stop, ended: this.sendAll(stopped, pictures) };
    closed.set(this.card, one);
    await one.ended;
    if (closed.get(this.card) === one) closed.delete(this.card);
    if (this.state !== "failed" && unsaved.get(this.draft) === this) unsaved.delete(this.draft);
    return isStopped || this.state !== "failed" ? undefined : this.error;
  }

  private async sendAll(stopped: Promise<void>, pictures: Promise<unknown> | undefined) {
    const isStopped = (other: Promise<unknown>) => Promise.race([stopped.then(() => true), other.then(() => false)]);
    for (;;) {
      await this.save();
      clearTimeout(this.timer);
      const { retryAfter } = this;
      if (this.isSaved || (this.state === "failed" && !retryAfter)) {
        if (!pictures || (await isStopped(pictures))) break;
        pictures = undefined;
      } else if (await isStopped(new Promise((done) => setTimeout(done, retryAfter ?? rest)))) break;
    }
    this.keepDraft();
  }

  private async send() {
    const refused = new Map<string, Refusal>();
    for (let left = mostTries; ; left -= 1) {
      let batch: Batch | null = null;
      try {
        if (this.unanswered && !isRemembered(this.unanswered)) await this.forget();
        if (this.unanswered) await this.deliver((batch = this.unanswered));
        this.renew();
        for (batch of batchesOf(refused.size ? this.changesBut(refused) : this.changes, this.card)) await this.deliver(batch);
        break;
      } catch (error) {
        if (!(error instanceof Refusal) || !error.isDecided || left === 0) throw error;
        const named = error.status === 422 ? error.operations.flatMap((number) => batch?.ops[number] ?? []) : [];
        if (!named.length && ![404, 409, 412].includes(error.status)) throw error;
        // Somebody was faster: what they wrote is taken in, and ours is put upon it.
        const isNew = this.rebase(await readBlocks(this.card, this.org));
        if (error.status === 409 && !isNew) throw error; // it is about the card
        // What the server does not take as it is holds back nothing else.
        if (isNew) continue;
        for (const op of named) refused.set(blockOf(op), error);
        if (named.length) left += 1; // each is refused once
      }
    }
    for (const why of refused.values()) throw why;
  }

  /** Until it is known what became of a batch nothing else is sent or compared: the server may have more than `base`. */
  private async deliver(batch: Batch) {
    batch.at ??= Date.now();
    this.unanswered = batch;
    if (this.isLeaving || this.isFinishing) this.keepDraft(); // nobody may be there to hear the answer
    try {
      const versions = await sendBatch(this.card, this.org, batch, this.isLeaving);
      this.unanswered = null;
      this.answered = performance.now();
      this.know(withVersions(applyOps(this.base, batch.ops), (id) => versions.get(id)));
    } catch (error) {
      if (error instanceof Refusal && error.isDecided) this.unanswered = null;
      throw error;
    }
  }

  /** The server knows the batch no more: what has become of it is seen by its blocks. */
  private async forget() {
    const remote = await readBlocks(this.card, this.org);
    this.unanswered = null;
    this.rebase(remote);
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

  /** The server's blocks are these by now, as is heard while nothing is sent. */
  take(remote: Block[]) {
    this.rebase(remote);
    if (!this.isSaved) this.changed();
  }

  /** Puts what is not sent upon the server's blocks; whether these were others than was known. */
  private rebase(remote: Block[]): boolean {
    this.renew();
    const mine = blocksIn(this.view.state.doc);
    const ops = difference(this.base, mine);
    const isNew = difference(this.base, remote).length > 0;
    this.know(remote);
    if (!isNew) return false;
    const next = ops.length ? applyOps(remote, ops) : remote;
    if (difference(mine, next).length === 0) return true;
    replaceDoc(this.view, next);
    this.on.merged();
    return true;
  }

  /** While it is not known what the server has, or a character is being composed of several keys, nothing around it may change. */
  get isBusy() {
    return this.sending !== null || this.unanswered !== null || this.view.composing;
  }
}

/** The tree as it is without what the server refuses, so that nothing else is put behind that or below it. */
const without = (blocks: Block[], refused: ReadonlyMap<string, unknown>, known: ReadonlyMap<string, Block>): Block[] =>
  blocks.flatMap((block) => {
    const kept = refused.has(block.id) ? known.get(block.id) : block;
    if (!kept) return [];
    return [isText(kept.type) ? { ...kept, children: without(block.children, refused, known) } : kept];
  });
const blockOf = (op: Op) => ("block" in op ? op.block.id : op.id);
const idsOf = (blocks: Block[]) => new Set(flat(blocks).map(({ id }) => id));
const withVersions = (blocks: Block[], version: (id: string) => number | undefined): Block[] =>
  blocks.map((block) => ({ ...block, version: version(block.id) ?? block.version, children: withVersions(block.children, version) }));
