import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { EditorView } from "prosemirror-view";
import { useEffect, useRef, useState } from "react";
import { Refusal, worded } from "../api/refusal";
import { t } from "../app/words";
import { Failure } from "../parts/Failure";
import { Waiting } from "../parts/Wait";
import { applyOps, difference, type Block } from "./model";
import { blocksIn } from "./schema";
import { readBlocks, sendOps } from "./server";
import { SlashMenu, type SlashKeys } from "./SlashMenu";
import { createEditor, replaceDoc, type Slash } from "./view";
import "./editor.css";

type Saving = "saved" | "waiting" | "sending" | "failed";
const rest = 700; // milliseconds after the last key until it is sent

/** Keeps what is written as the server has it: sends the difference when the writing rests, and takes in
    what others have written meanwhile, block by block. */
class Keeper {
  private timer = 0;
  private sending: Promise<void> | null = null;
  state: Saving = "saved";
  error: unknown;
  constructor(private readonly card: string, private readonly view: EditorView, private base: Block[], private readonly on: { state: () => void; merged: () => void }) {}

  private become(state: Saving, error?: unknown) {
    this.state = state;
    this.error = error;
    this.on.state();
  }

  changed() {
    clearTimeout(this.timer);
    if (!this.sending) this.become("waiting");
    this.timer = window.setTimeout(() => void this.save(), rest);
  }

  async save(): Promise<void> {
    clearTimeout(this.timer);
    if (this.sending) await this.sending.catch(() => undefined);
    const next = blocksIn(this.view.state.doc);
    const ops = difference(this.base, next);
    if (ops.length === 0) return this.become("saved");
    this.become("sending");
    this.sending = this.send(ops, next);
    try {
      await this.sending;
      if (difference(this.base, blocksIn(this.view.state.doc)).length === 0) this.become("saved");
    } catch (error) {
      this.become("failed", error);
      if (error instanceof Refusal && error.passes) this.timer = window.setTimeout(() => void this.save(), (error.retryAfter ?? 4) * 1_000);
    } finally {
      this.sending = null;
    }
  }

  private async send(ops: ReturnType<typeof difference>, next: Block[]) {
    try {
      const versions = await sendOps(this.card, ops);
      const known = new Map(flat(this.base).map(({ id, version }) => [id, version]));
      this.base = withVersions(next, (id) => versions.get(id) ?? known.get(id));
    } catch (error) {
      if (!(error instanceof Refusal) || (error.status !== 412 && error.status !== 409 && error.status !== 404)) throw error;
      // Somebody was faster: what they wrote is taken in, and ours is put upon it.
      this.rebase(await readBlocks(this.card));
      this.base = withVersions(this.base, () => undefined);
      const again = blocksIn(this.view.state.doc);
      await sendOps(this.card, difference(this.base, again));
      this.base = await readBlocks(this.card);
    }
  }

  /** The server's blocks are these by now. */
  rebase(remote: Block[]) {
    const mine = blocksIn(this.view.state.doc);
    const ops = difference(this.base, mine);
    const isNew = difference(this.base, remote).length > 0;
    this.base = remote;
    if (!isNew) return;
    const next = ops.length ? applyOps(remote, ops) : remote;
    if (difference(mine, next).length === 0) return;
    replaceDoc(this.view, next);
    this.on.merged();
  }

  get isBusy() {
    return this.sending !== null;
  }
  end() {
    clearTimeout(this.timer);
  }
}

const flat = (blocks: Block[]): Block[] => blocks.flatMap((block) => [block, ...flat(block.children)]);
const withVersions = (blocks: Block[], version: (id: string) => number | undefined): Block[] =>
  blocks.map((block) => ({ ...block, version: version(block.id), children: withVersions(block.children, version) }));

/** The body of a card, to be written in. */
export function BlockEditor({ card, editable }: { card: string; editable: boolean }) {
  const query = useQuery({ queryKey: ["card", card, "blocks"], queryFn: () => readBlocks(card), structuralSharing: false });
  if (query.error && !query.data) return <Failure error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Waiting />;
  return <OpenEditor card={card} editable={editable} blocks={query.data} />;
}

function OpenEditor({ card, editable, blocks }: { card: string; editable: boolean; blocks: Block[] }) {
  const client = useQueryClient();
  const place = useRef<HTMLDivElement>(null);
  const keeper = useRef<Keeper>(null);
  const keys = useRef<SlashKeys>(null);
  const [slash, setSlash] = useState<Slash | null>(null);
  const [saving, setSaving] = useState<Saving>("saved");
  const [merged, setMerged] = useState(false);
  const first = useRef(blocks);

  useEffect(() => {
    const view = createEditor(place.current!, first.current, {
      editable, label: t("Text of the card"),
      onChange: () => { setMerged(false); keeper.current?.changed(); },
      onSlash: setSlash,
      onSlashKey: (key) => keys.current?.press(key) ?? false,
      onBlur: () => { if (keeper.current?.state === "waiting") void keeper.current.save(); },
    });
    const mine = (keeper.current = new Keeper(card, view, first.current, { state: () => setSaving(mine.state), merged: () => setMerged(true) }));
    const leave = () => { if (mine.state === "waiting") void mine.save(); };
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("pagehide", leave);
      const last = mine.state === "waiting" || mine.state === "failed" ? mine.save() : Promise.resolve();
      void last.finally(() => {
        mine.end();
        void client.invalidateQueries({ queryKey: ["card", card, "blocks"] });
      });
      keeper.current = null;
      // The view is read for the last time while it is sent.
      void last.finally(() => view.destroy());
    };
  }, [card, editable, client]);

  useEffect(() => {
    if (blocks === first.current || !keeper.current || keeper.current.isBusy) return;
    keeper.current.rebase(blocks);
  }, [blocks]);

  const says: Record<Saving, string> = { saved: "", waiting: t("Not saved yet…"), sending: t("Saving…"), failed: t("Not saved: {{why}}", { why: keeper.current?.error ? worded(keeper.current.error) : "" }) };
  return (
    <div className="editor-place">
      <div ref={place} />
      {slash && editable && <SlashMenu slash={slash} keys={keys} />}
      <p className={`saving small ${saving}`} role="status">
        {says[saving]}
        {merged && saving === "saved" && t("Somebody else changed this text just now; both are in it.")}
        {saving === "failed" && <button type="button" className="button small" onClick={() => void keeper.current?.save()}>{t("Try again")}</button>}
      </p>
    </div>
  );
}
export default BlockEditor;
