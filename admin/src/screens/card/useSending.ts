// Text that is written in a box and sent, while the box may be closed, opened once more, or written in meanwhile.
import { useMutation } from "@tanstack/react-query";
import { useLayoutEffect, useRef, useState, type RefObject } from "react";
import { flushSync } from "react-dom";
import { draftOf, dropDraft, keepDraft, type Draft } from "../../app/drafts";

/** The boxes that are shown, by what their drafts are kept as: each hears what has been sent, whichever box sent it. */
const boxes = new Map<string, (written: string) => void>();

interface Sending {
  /** What the draft is kept as. */
  key: string;
  begun: { text: string; named: Map<string, string> };
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

export function useSending({ key, begun, isNew, field, send, onSent, onCut, onClose }: Sending) {
  const [text, setText] = useState(begun.text);
  const newest = useRef(begun.text);
  const named = useRef(begun.named);
  const caret = useRef<number>(undefined); // where it is to be once the text stands there
  useLayoutEffect(() => {
    if (caret.current !== undefined) field.current?.setSelectionRange(caret.current, caret.current);
    caret.current = undefined;
  }, [text, field]);
  const draft = (next: string): Draft => ({ text: next, named: [...named.current] });
  const write = (next: string) => {
    newest.current = next;
    setText(next);
    keepDraft(key, draft(next));
  };
  const restOf = (now: string, written: string) => {
    if (now === written) return "";
    return isNew && now.startsWith(written) ? now.slice(written.length).trimStart() : now;
  };

  const post = useMutation({ mutationFn: (written: string) => send(written, named.current) });
  const isSending = useRef(false), isCancelled = useRef(false);
  const wanted = useRef<string>(undefined); // what stood here when it was to be sent once more meanwhile
  const submit = () => {
    if (isSending.current) wanted.current = newest.current;
    else dispatch(newest.current);
  };
  const dispatch = (written: string) => {
    if (!written.trim()) return;
    isSending.current = true;
    void post.mutateAsync(written).then(() => settle(written), () => settle());
  };
  const settle = (written?: string) => {
    const next = wanted.current;
    isSending.current = false;
    wanted.current = undefined;
    if (written === undefined) return; // it failed, and stands here still
    onSent();
    const box = boxes.get(key);
    if (box) box(written);
    else keepDraft(key, draft(restOf(draftOf(key)?.text ?? "", written)));
    if (next !== undefined && next !== written && !isCancelled.current) dispatch(restOf(next, written));
  };

  const isComposing = useRef(false);
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
    boxes.set(key, cut);
    return () => {
      if (boxes.get(key) === cut) boxes.delete(key);
    };
  });
  const composition = {
    onCompositionStart: () => { isComposing.current = true; },
    // Its last words may be written after it.
    onCompositionEnd: () => void setTimeout(() => {
      isComposing.current = false;
      for (const written of cuts.current.splice(0)) boxes.get(key)?.(written);
    }),
  };

  const cancel = () => {
    isCancelled.current = true;
    dropDraft(key);
    onClose?.();
  };
  return { text, write, named, caret, submit, cancel, composition, isPending: post.isPending, error: post.error };
}
