import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { EditorView } from "prosemirror-view";
import { useEffect, useRef, useState } from "react";
import { Refusal, worded } from "../api/refusal";
import { useCommands } from "../app/commands";
import { serves } from "../app/serves";
import { t } from "../app/words";
import { Failure } from "../parts/Failure";
import { Waiting } from "../parts/Wait";
import { applyOps, difference, type Block } from "./model";
import { blocksIn } from "./schema";
import { uploadFile, pictureTypes } from "../parts/upload";
import { pictureBlock } from "./files";
import { keysOfText } from "./keys";
import { readBlocks, sendOps } from "./server";
import { SlashMenu, type SlashKeys } from "./SlashMenu";
import { blockAt, createEditor, insertBehind, replaceDoc, type Slash } from "./view";
import "./editor.css";

type Saving = "saved" | "waiting" | "sending" | "failed";
const rest = 700; // milliseconds after the last key until it is sent
const mostTries = 8; // against others who write at the same time

/** Keeps what is written as the server has it: sends the difference when the writing rests, and takes in
    what others have written meanwhile, block by block. */
class Keeper {
  private timer = 0;
  private sending: Promise<void> | null = null;
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
    if (difference(this.base, blocksIn(this.view.state.doc)).length === 0) return this.become("saved");
    this.become("sending");
    this.on.sending();
    this.sending = this.send();
    try {
      await this.sending;
      if (difference(this.base, blocksIn(this.view.state.doc)).length === 0) this.become("saved");
    } catch (error) {
      this.become("failed", error);
      if (error instanceof Refusal && error.passes) this.timer = window.setTimeout(() => void this.save(), (error.retryAfter ?? 4) * 1_000);
    } finally {
      this.sending = null;
      this.on.sent();
    }
  }

  private async send() {
    for (let left = mostTries; ; left -= 1) {
      const next = blocksIn(this.view.state.doc);
      try {
        const versions = await sendOps(this.card, difference(this.base, next));
        const known = new Map(flat(this.base).map(({ id, version }) => [id, version]));
        this.base = withVersions(next, (id) => versions.get(id) ?? known.get(id));
        return;
      } catch (error) {
        const isConflict = error instanceof Refusal && (error.status === 412 || error.status === 409 || error.status === 404);
        if (!isConflict || left === 0) throw error;
        // Somebody was faster: what they wrote is taken in, and ours is put upon it.
        this.rebase(await readBlocks(this.card));
      }
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

  /** While a character is being composed of several keys, nothing around it may change. */
  get isBusy() {
    return this.sending !== null || this.view.composing;
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
  const missed = useRef(false);
  const editor = useRef<EditorView>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const [pictures, setPictures] = useState<{ name: string; part: number; error?: unknown }>();

  /** Sends pictures one after the other; each shows as soon as the server has it. */
  const sendPictures = async (files: File[], block: string | undefined) => {
    let after = block;
    try {
      for (const file of files) {
        setPictures({ name: file.name, part: 0 });
        const kept = await uploadFile(file, (part) => setPictures({ name: file.name, part }));
        const made = pictureBlock(kept);
        if (!editor.current) return;
        insertBehind(editor.current, after, made);
        after = made.id;
      }
      setPictures(undefined);
    } catch (error) {
      setPictures((now) => now && { ...now, error });
    }
  };

  useEffect(() => {
    const queryKey = ["card", card, "blocks"];
    const view = createEditor(place.current!, first.current, {
      editable, label: t("Text of the card"),
      onChange: () => { setMerged(false); keeper.current?.changed(); },
      onSlash: setSlash,
      onSlashKey: (key) => keys.current?.press(key) ?? false,
      ...(serves("list_attachments") && { onPictures: (files: File[], block: string | undefined) => void sendPictures(files, block) }),
      onBlur: () => { if (keeper.current?.state === "waiting") void keeper.current.save(); },
    });
    editor.current = view;
    const mine = (keeper.current = new Keeper(card, view, first.current, {
      state: () => setSaving(mine.state),
      merged: () => setMerged(true),
      sending: () => {
        missed.current ||= client.isFetching({ queryKey }) > 0;
        void client.cancelQueries({ queryKey });
      },
      sent: () => {
        if (missed.current) void client.invalidateQueries({ queryKey });
        missed.current = false;
      },
    }));
    const leave = () => { if (mine.state === "waiting") void mine.save(); };
    const online = () => { if (mine.state === "failed") void mine.save(); };
    addEventListener("pagehide", leave);
    addEventListener("online", online);
    return () => {
      removeEventListener("pagehide", leave);
      removeEventListener("online", online);
      const last = mine.state === "waiting" || mine.state === "failed" ? mine.save() : Promise.resolve();
      void last.finally(() => {
        mine.end();
        void client.invalidateQueries({ queryKey });
      });
      keeper.current = null;
      editor.current = null;
      // The view is read for the last time while it is sent.
      void last.finally(() => view.destroy());
    };
  }, [card, editable, client]);

  useEffect(() => {
    if (blocks === first.current || !keeper.current) return;
    if (keeper.current.isBusy) missed.current = true; // it is read again when that is over
    else keeper.current.rebase(blocks);
  }, [blocks]);

  useCommands(editable ? keysOfText() : [], [editable]);

  const says: Record<Saving, string> = { saved: "", waiting: t("Not saved yet…"), sending: t("Saving…"), failed: t("Not saved: {{why}}", { why: keeper.current?.error ? worded(keeper.current.error) : "" }) };
  return (
    <div className="editor-place">
      <div ref={place} />
      {slash && editable && <SlashMenu slash={slash} keys={keys} onPicture={() => chooser.current?.click()} />}
      <input ref={chooser} type="file" accept={pictureTypes.join(",")} multiple hidden aria-label={t("Pictures for the text")} onChange={(event) => {
        const { current } = editor;
        if (current) void sendPictures([...(event.target.files ?? [])], blockAt(current.state, current.state.selection.from));
        event.target.value = "";
      }} />
      {pictures && (
        <p className="row small soft" role="status">
          {pictures.error
            ? <>{t("{{name}} was not sent: {{why}}", { name: pictures.name, why: worded(pictures.error) })}<button type="button" className="button quiet small" onClick={() => setPictures(undefined)}>{t("Dismiss")}</button></>
            : <>{t("Sending {{name}}", { name: pictures.name })} <progress aria-label={t("Sending {{name}}", { name: pictures.name })} value={pictures.part || undefined} max={1} /></>}
        </p>
      )}
      <p className={`saving small ${saving}`} role="status">
        {says[saving]}
        {merged && saving === "saved" && t("Somebody else changed this text just now; both are in it.")}
        {saving === "failed" && <button type="button" className="button small" onClick={() => void keeper.current?.save()}>{t("Try again")}</button>}
      </p>
    </div>
  );
}
export default BlockEditor;
