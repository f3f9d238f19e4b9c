// Text that is written in a box and sent, while the box may be closed, opened once more, or written in meanwhile.
import { useMutation } from "@tanstack/react-query";
import { useLayoutEffect, useRef, useState, type RefObject } from "react";
import { flushSync } from "react-dom";
import { draftOf, dropDraft, keepDraft } from "../../app/drafts";

interface Box {
  /** This has been sent, and is to be here no more. */
  cut: (written: string) => void;
  dispatch: (written: string) => void;
}
/** Those that are shown, by what their drafts are kept as. */
const boxes = new Map<string, Box>();
/** What is on its way, by the same; it may have been sent from a box that is not shown any more. */
const underWay = new Map<string, {
  written: string;
  /** It was taken out of the box since. */
  isGone: boolean;
  /** What stood in the box when it was to be sent once more. */
  wanted?: string;
}>();

interface Sending {
  /** What the draft is kept as. */
  key: string;
  begun: { text: string; named: Map<string, string> };
  /** Where the caret is at first, unless that is left to the browser. */
  from?: number;
  /** What follows on a text that was sent is another one; otherwise the whole is sent once more. */
  isNew: boolean;
  field: RefObject<HTMLTextAreaElement | null>;
  send: (written: string, named: Map<string, string>) => Promise<unknown>;
  onSent: () => void;
  /** So many letters at the beginning of the text were sent, and are gone. */
  onCut: (letters: number) => void;
  /** It was cancelled, or all of it was sent. */
  onClose?: () => void;
}

export function useSending({ key, begun, from, isNew, field, send, onSent, onCut, onClose }: Sending) {
  const [text, setText] = useState(begun.text);
  const newest = useRef(begun.text);
  const named = useRef(begun.named);
  const caret = useRef(from); // where it is to be once the text stands there
  useLayoutEffect(() => {
    if (caret.current !== undefined) field.current?.setSelectionRange(caret.current, caret.current);
    caret.current = undefined;
  }, [text, field]);
  const write = (next: string) => {
    newest.current = next;
    setText(next);
    keepDraft(key, { text: next, named: [...named.current] });
    const sent = underWay.get(key);
    if (sent && !next.startsWith(sent.written)) sent.isGone = true;
  };
  const restOf = (now: string, written: string) => {
    if (now === written) return "";
    return isNew && now.startsWith(written) ? now.slice(written.length).trimStart() : now;
  };

  const post = useMutation({ mutationFn: (written: string) => send(written, named.current) });
  const submit = () => {
    const sent = underWay.get(key);
    if (sent) sent.wanted = newest.current;
    else dispatch(newest.current);
  };
  const dispatch = (written: string) => {
    if (!written.trim()) return;
    underWay.set(key, { written, isGone: false });
    void post.mutateAsync(written).then(() => settle(), () => void underWay.delete(key)); // what failed stands here still
  };
  const settle = () => {
    const { written, isGone, wanted } = underWay.get(key)!;
    underWay.delete(key);
    onSent();
    if (!isGone) leave(written);
    if (wanted !== undefined) (boxes.get(key)?.dispatch ?? dispatch)(isGone ? wanted : restOf(wanted, written));
  };
  /** What was sent goes out of the box, or out of its draft. */
  const leave = (written: string) => {
    const box = boxes.get(key), kept = draftOf(key);
    if (box) box.cut(written);
    else if (kept) keepDraft(key, { ...kept, text: restOf(kept.text, written) });
  };

  const isComposing = useRef(false);
  const composed = useRef(0);
  const cuts = useRef<string[]>([]); // of answers that came while an input method composed, which a cut would disturb
  const cut = (written: string) => {
    if (isComposing.current) return void cuts.current.push(written);
    const now = newest.current, rest = restOf(now, written);
    const letters = now.length - rest.length;
    if (letters === 0) return;
    caret.current = Math.max(0, (field.current?.selectionStart ?? 0) - letters);
    onCut(letters);
    flushSync(() => write(rest)); // before the next key
    if (!rest) onClose?.();
  };
  useLayoutEffect(() => {
    const box = { cut, dispatch };
    boxes.set(key, box);
    return () => {
      if (boxes.get(key) === box) boxes.delete(key);
    };
  });
  const composition = {
    onCompositionStart: () => {
      clearTimeout(composed.current);
      isComposing.current = true;
    },
    // Its last words may be written after it.
    onCompositionEnd: () => {
      composed.current = window.setTimeout(() => {
        isComposing.current = false;
        cuts.current.splice(0).forEach(leave);
      });
    },
  };

  const cancel = () => {
    const sent = underWay.get(key);
    if (sent) Object.assign(sent, { isGone: true, wanted: undefined });
    dropDraft(key);
    onClose?.();
  };
  return { text, write, named, caret, submit, cancel, composition, isPending: post.isPending, error: post.error };
}
