import { useMutation, useQuery } from "@tanstack/react-query";
import { useId, useLayoutEffect, useRef, useState, type FormEvent, type KeyboardEvent } from "react";
import type { Schemas } from "../../api/client";
import { principalsQuery } from "../../api/queries";
import { draftOf, dropDraft, keepDraft } from "../../app/drafts";
import { useSession } from "../../app/session";
import { t } from "../../app/words";
import { Failure } from "../../parts/Failure";
import { Face } from "../../parts/Who";
import { refOf } from "../board/people";
import { fromRich, mentionAt, toMarkdown } from "./mentions";

const most = 6; // people that are offered

/** Markdown, sent by Ctrl Enter; @ offers people and agents. What was not sent stays, until it is cancelled, also what
    is written while something is on its way. */
export function CommentBox({ draft, label, send, onSent, onClose, initial = [], autoFocus }: {
  /** What it is kept as while it is written: the id of what it answers or changes. */
  draft: string;
  label: string;
  send: (markdown: string) => Promise<unknown>;
  onSent: () => void;
  /** It was cancelled, or all of it was sent. */
  onClose?: () => void;
  initial?: Schemas["RichText"][];
  autoFocus?: boolean;
}) {
  const key = `${useSession().me.id} ${draft}`;
  const [begun] = useState(() => {
    const kept = draftOf(key);
    return kept ? { text: kept.text, named: new Map(kept.named) } : fromRich(initial);
  });
  const [text, setText] = useState(begun.text);
  const [cursor, setCursor] = useState<number>();
  const [at, setAt] = useState(0);
  const named = useRef(begun.named);
  const field = useRef<HTMLTextAreaElement>(null);
  const caret = useRef(autoFocus ? begun.text.length : undefined); // where it is to be once the text stands there
  useLayoutEffect(() => {
    if (caret.current !== undefined) field.current?.setSelectionRange(caret.current, caret.current);
    caret.current = undefined;
  }, [text]);
  const id = useId();
  const asked = mentionAt(text, cursor);
  const people = useQuery({ ...principalsQuery(), enabled: asked !== undefined });
  const offered = asked ? (people.data ?? []).filter(({ name }) => name?.toLowerCase().split(/\s+/).some((word) => word.startsWith(asked.query))).slice(0, most) : [];
  const chosen = offered[Math.min(at, offered.length - 1)];

  const newest = useRef(begun.text);
  const write = (next: string) => {
    newest.current = next;
    setText(next);
    keepDraft(key, { text: next, named: [...named.current] });
  };
  const sending = useRef<"" | "one" | "and the rest">("");
  const post = useMutation({ mutationFn: (written: string) => send(toMarkdown(written, named.current)) });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    const written = newest.current;
    if (sending.current) sending.current = "and the rest";
    else if (written.trim()) {
      sending.current = "one";
      void post.mutateAsync(written).then(() => end(written), () => { sending.current = ""; });
    }
  };
  const end = (written: string) => {
    const now = newest.current;
    // A new comment has been said, and what follows is another; what was changed is changed once more, as a whole.
    const isAnother = initial.length === 0 && now.startsWith(written);
    const rest = isAnother ? now.slice(written.length).trimStart() : now === written ? "" : now;
    const goesOn = rest && sending.current === "and the rest";
    sending.current = "";
    write(rest);
    onSent();
    if (goesOn) submit();
    else if (!rest) onClose?.();
  };
  const mention = (who: (typeof offered)[number]) => {
    if (!asked || !who.name) return;
    named.current.set(who.name, who.id);
    const next = `${text.slice(0, asked.from)}@${who.name} `;
    write(next + text.slice(cursor));
    setCursor(undefined); // nothing is asked until somebody writes on
    caret.current = next.length;
  };
  const cancel = () => {
    dropDraft(key);
    onClose?.();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (chosen) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) setAt((Math.min(at, offered.length - 1) + step + offered.length) % offered.length);
      else if ((event.key === "Enter" || event.key === "Tab") && !event.ctrlKey && !event.metaKey) mention(chosen);
      else if (event.key === "Escape") setCursor(undefined);
      else return;
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
    else if (event.key === "Escape" && onClose) {
      event.stopPropagation();
      cancel();
    } else if (event.key === "Escape") field.current?.blur();
  };
  return (
    <form className="new-comment" onSubmit={submit}>
      <textarea ref={field} className="input" dir="auto" rows={2} aria-label={label} placeholder={t("{{label}}; Markdown, @ mentions, Ctrl Enter sends it", { label })} value={text} autoFocus={autoFocus}
        aria-autocomplete="list" aria-haspopup="listbox" aria-controls={chosen ? id : undefined} aria-activedescendant={chosen ? `${id}-${chosen.id}` : undefined}
        onChange={(event) => { write(event.target.value); setCursor(event.target.selectionStart); setAt(0); }} onKeyDown={onKeyDown} onBlur={() => setCursor(undefined)} />
      {chosen && (
        <ul className="menu popover mentions" id={id} role="listbox" aria-label={t("People and agents")}>
          {offered.map((who) => (
            <li key={who.id} id={`${id}-${who.id}`} role="option" aria-selected={who === chosen} data-focused={who === chosen || undefined} className="menu-item"
              onMouseDown={(event) => { event.preventDefault(); mention(who); }}>
              <Face who={refOf(who)} decorative /><span>{who.name}</span>{who.type === "bot" && <span className="tag agent">{t("agent")}</span>}
            </li>
          ))}
        </ul>
      )}
      <div className="row">
        {(text.trim() || post.error) && <button className="button go small" aria-disabled={post.isPending}>{t("Send")}</button>}
        {onClose && <button type="button" className="button quiet small" onClick={cancel}>{t("Cancel")}</button>}
      </div>
      <Failure error={post.error} />
    </form>
  );
}
