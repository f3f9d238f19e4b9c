import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { EditorView } from "prosemirror-view";
import { useEffect, useRef, useState } from "react";
import { worded } from "../api/refusal";
import { tabOrg } from "../api/workspace";
import { useCommands } from "../app/commands";
import { keptOf } from "../app/drafts";
import { serves } from "../app/serves";
import { useSession } from "../app/session";
import { t } from "../app/words";
import { Failure } from "../parts/Failure";
import { toast } from "../parts/toasts";
import { Waiting } from "../parts/Wait";
import { Keeper, takeOver, type Saving } from "./keeper";
import type { Block } from "./model";
import { uploadFile, pictureTypes } from "../parts/upload";
import { pictureBlock } from "./files";
import { keysOfText } from "./keys";
import { readBlocks } from "./server";
import { SlashMenu, type SlashKeys } from "./SlashMenu";
import { blockAt, createEditor, insertBehind, type Slash } from "./view";
import "./editor.css";

const keyOf = (card: string) => ["card", card, "blocks"];

/** The body of a card, to be written in. */
export function BlockEditor({ card, editable }: { card: string; editable: boolean }) {
  const query = useQuery({ queryKey: keyOf(card), structuralSharing: false, queryFn: async () => {
    await takeOver(card);
    const begun = performance.now();
    return { blocks: await readBlocks(card), begun };
  } });
  if (query.error && !query.data) return <Failure error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Waiting />;
  return <OpenEditor card={card} editable={editable} {...query.data} />;
}

/** The blocks as they were read, which was begun then, in milliseconds of the page's clock. */
function OpenEditor({ card, editable, blocks, begun }: { card: string; editable: boolean; blocks: Block[]; begun: number }) {
  const client = useQueryClient();
  const draft = `${useSession().me.id} text ${card}`;
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
  const pending = useRef<Promise<void>>(undefined); // pictures on their way
  const [pictures, setPictures] = useState<{ name: string; part: number; error?: unknown }>();

  /** Sends pictures one after the other; each shows as soon as the server has it, and is put into the text also when
      that has been closed by then. */
  const sendPictures = async (view: EditorView, files: File[], block: string | undefined) => {
    let after = block;
    const org = tabOrg();
    const refused: { name: string; error: unknown }[] = [];
    for (const file of files) {
      setPictures({ name: file.name, part: 0 });
      try {
        const made = pictureBlock(await uploadFile(file, (part) => setPictures({ name: file.name, part }), org));
        if (view.isDestroyed) throw new Error(t("The card was opened once more meanwhile."));
        insertBehind(view, after, made);
        after = made.id;
      } catch (error) {
        refused.push({ name: file.name, error });
      }
    }
    const name = refused.map((each) => each.name).join(", "), error = refused[0]?.error;
    setPictures(error ? { name, part: 0, error } : undefined);
    if (error && !editor.current) toast(t("{{name}} was not sent: {{why}}", { name, why: worded(error) }));
  };
  const onPictures = (files: File[], block: string | undefined) => {
    const view = editor.current;
    if (!view) return;
    const all = Promise.all([pending.current, sendPictures(view, files, block)]).then(() => {
      if (pending.current === all) pending.current = undefined;
    });
    pending.current = all;
  };

  useEffect(() => {
    const queryKey = keyOf(card);
    const view = createEditor(place.current!, first.current, {
      editable, label: t("Text of the card"),
      onChange: () => { setMerged(false); keeper.current?.changed(); },
      onSlash: setSlash,
      onSlashKey: (key) => keys.current?.press(key) ?? false,
      ...(serves("list_attachments") && { onPictures }),
      onBlur: () => { if (editable) void keeper.current?.save(); },
    });
    editor.current = view;
    const mine = (keeper.current = new Keeper(card, draft, view, first.current, {
      state: () => setSaving(mine.state),
      merged: () => setMerged(true),
      sending: () => {
        missed.current ||= client.isFetching({ queryKey }) > 0;
        void client.cancelQueries({ queryKey });
      },
      sent: () => {
        missed.current ||= client.isFetching({ queryKey }) > 0; // begun before the answer came
        if (missed.current) void client.invalidateQueries({ queryKey });
        missed.current = false;
      },
    }));
    const ended = new AbortController();
    const { signal } = ended;
    if (editable) {
      if (mine.resume()) missed.current = true; // what others have written since comes when that is sent
      addEventListener("pagehide", () => void mine.leave(), { signal });
      addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") void mine.leave(); }, { signal });
      addEventListener("online", () => { if (mine.state === "failed") void mine.save(); }, { signal });
    }
    return () => {
      ended.abort();
      keeper.current = null;
      editor.current = null;
      if (!editable) return view.destroy(); // what somebody wrote here before is theirs, and stays as the draft
      if (mine.state !== "saved" || pending.current) void client.resetQueries({ queryKey }); // who comes back reads what was sent by then
      void mine.finish(pending.current).then((why) => {
        if (why) toast(t("What you wrote in the card that you closed is not saved: {{why}}", { why: worded(why) }));
      }).finally(() => {
        view.destroy();
        void client.invalidateQueries({ queryKey });
      });
    };
  }, [card, draft, editable, client]);

  useEffect(() => {
    if (blocks === first.current || !keeper.current) return;
    if (keeper.current.isBusy) missed.current = true; // it is read again when that is over
    else if (begun < keeper.current.answered) void client.invalidateQueries({ queryKey: keyOf(card) }); // what was sent since is not in it
    else keeper.current.take(blocks);
  }, [blocks, begun, card, client]);

  const [left] = useState(() => !editable && keptOf(draft) !== undefined);
  useCommands(editable ? keysOfText() : [], [editable]);

  const says: Record<Saving, string> = { saved: "", waiting: t("Not saved yet…"), sending: t("Saving…"), failed: t("Not saved: {{why}}", { why: keeper.current?.error ? worded(keeper.current.error) : "" }) };
  return (
    <div className="editor-place">
      <div ref={place} />
      {slash && editable && <SlashMenu slash={slash} keys={keys} onPicture={() => chooser.current?.click()} />}
      <input ref={chooser} type="file" accept={pictureTypes.join(",")} multiple hidden aria-label={t("Pictures for the text")} onChange={(event) => {
        const { current } = editor;
        if (current) onPictures([...(event.target.files ?? [])], blockAt(current.state, current.state.selection.from));
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
        {left && t("What you wrote here is not saved. This tab keeps it until you may write here again.")}
        {merged && saving === "saved" && t("Somebody else changed this text just now; both are in it.")}
        {saving === "failed" && <button type="button" className="button small" onClick={() => void keeper.current?.save()}>{t("Try again")}</button>}
      </p>
    </div>
  );
}
export default BlockEditor;
