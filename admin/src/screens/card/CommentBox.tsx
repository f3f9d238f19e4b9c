import { useQuery } from "@tanstack/react-query";
import { useId, useRef, useState, type KeyboardEvent } from "react";
import type { Schemas } from "../../api/client";
import { principalsQuery } from "../../api/queries";
import { draftOf } from "../../app/drafts";
import { useSession } from "../../app/session";
import { t } from "../../app/words";
import { Failure } from "../../parts/Failure";
import { Face } from "../../parts/Who";
import { refOf } from "../board/people";
import { fromRich, mentionAt, toMarkdown } from "./mentions";
import { useSending } from "./useSending";

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
  const [cursor, setCursor] = useState<number>();
  const [at, setAt] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const { text, write, named, caret, submit, cancel, composition, isPending, error } = useSending({
    key, begun, field, onSent, onClose,
    from: autoFocus ? begun.text.length : undefined,
    isNew: initial.length === 0,
    send: (written, names) => send(toMarkdown(written, names)),
    onCut: (letters) => setCursor((before) => before && Math.max(0, before - letters)),
  });
  const id = useId();
  const asked = mentionAt(text, cursor);
  const people = useQuery({ ...principalsQuery(), enabled: asked !== undefined });
  const offered = asked ? (people.data ?? []).filter(({ name }) => name?.toLowerCase().split(/\s+/).some((word) => word.startsWith(asked.query))).slice(0, most) : [];
  const chosen = offered[Math.min(at, offered.length - 1)];

  const mention = (who: (typeof offered)[number]) => {
    if (!asked || !who.name) return;
    named.current.set(who.name, who.id);
    const next = `${text.slice(0, asked.from)}@${who.name} `;
    write(next + text.slice(cursor));
    setCursor(undefined); // nothing is asked until somebody writes on
    caret.current = next.length;
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
    <form className="new-comment" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <textarea ref={field} className="input" dir="auto" rows={2} aria-label={label} placeholder={t("{{label}}; Markdown, @ mentions, Ctrl Enter sends it", { label })} value={text} autoFocus={autoFocus}
        aria-autocomplete="list" aria-haspopup="listbox" aria-controls={chosen ? id : undefined} aria-activedescendant={chosen ? `${id}-${chosen.id}` : undefined}
        onChange={(event) => { write(event.target.value); setCursor(event.target.selectionStart); setAt(0); }} onKeyDown={onKeyDown} onBlur={() => setCursor(undefined)} {...composition} />
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
        {(text.trim() || error) && <button className="button go small" aria-disabled={isPending}>{t("Send")}</button>}
        {onClose && <button type="button" className="button quiet small" onClick={cancel}>{t("Cancel")}</button>}
      </div>
      <Failure error={error} />
    </form>
  );
}
