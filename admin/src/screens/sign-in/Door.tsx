import { useEffect, useId, useState, type FormEvent, type ReactNode } from "react";
import { Link } from "wouter";
import { useCommands, useKeys } from "../../app/commands";
import { useTitle } from "../../app/title";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { lazy } from "../../parts/lazy";
import "./door.css";

const Calls = lazy(() => import("../../app/Calls"));

/** What the page has called, as curl: outside the console's frame, too. */
function CallsBelow() {
  const [shown, setShown] = useState(false);
  useKeys();
  useCommands([{ id: "calls", label: t("Show calls as curl and MCP"), group: t("Everywhere"), keys: ["g c"], run: () => setShown(true) }], []);
  return (
    <footer className="small">
      <button type="button" className="link" onClick={() => setShown(true)}>{t("Calls as curl")}</button>
      {shown && <Calls onClose={() => setShown(false)} />}
    </footer>
  );
}

/** A page for people from outside: a heading, what it holds, and what to know in the end. What came of a form
    stands at the form. */
export function Door({ title, says, children, wide }: { title: string; says?: ReactNode; children?: ReactNode; wide?: boolean | "text" }) {
  const heading = useTitle(title);
  // What the page is about changes with its steps; readers of the screen are taken along.
  useEffect(() => {
    if (!document.activeElement || document.activeElement === document.body) heading.current?.focus();
  }, [title, heading]);
  return (
    <div className={`door${wide ? " wide" : ""}${wide === "text" ? " for-text" : ""}`}>
      <header>
        <p className="brand"><img src="/favicon.svg" alt="" width="28" height="28" /><Link href="/">Workboard</Link></p>
      </header>
      <main>
        <h1 tabIndex={-1} ref={heading} dir="auto">{title}</h1>
        {children}
        <p className="outcome" role="status">{says}</p>
      </main>
      <CallsBelow />
    </div>
  );
}

/** A form that names its fields; `onSend` gets those that were filled in, and `says` is what came of it. */
export function DoorForm({ id, send, busy, says, onSend, children }: {
  id: string;
  send: string;
  busy?: boolean;
  says?: ReactNode;
  onSend: (fields: Record<string, string>) => void;
  children?: ReactNode;
}) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const entries = [...new FormData(event.currentTarget)].filter(([name, value]) => name !== "username" && value !== "");
    onSend(Object.fromEntries(entries) as Record<string, string>);
  };
  return (
    <form id={id} className="stack" onSubmit={submit}>
      {children}
      <Button className={`button ${children ? "go" : ""}`} busy={Boolean(busy)}>{send}</Button>
      <p className={busy ? "unseen" : "outcome"} role="status">{busy ? t("One moment…") : says}</p>
    </form>
  );
}

export function Email({ readOnly, value }: { readOnly?: boolean; value?: string }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{t("E-mail address")}</label>
      <input className="input" id={id} name="email" type="email" autoComplete="username" required maxLength={254}
        readOnly={readOnly} {...(value === undefined ? {} : { defaultValue: value })} autoFocus={!readOnly} />
    </div>
  );
}

export function Name() {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{t("Name")}</label>
      <input className="input" id={id} name="name" autoComplete="name" maxLength={120} aria-describedby={`${id}-note`} />
      <p className="note" id={`${id}-note`}>{t("As others will see you; may stay empty.")}</p>
    </div>
  );
}

export function NewPassword({ name, label, autoFocus }: { name: string; label: string; autoFocus?: boolean }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input className="input" id={id} name={name} type="password" autoComplete="new-password" required minLength={8} maxLength={128}
        aria-describedby={`${id}-note`} autoFocus={autoFocus} />
      <p className="note" id={`${id}-note`}>{t("At least 8 characters.")}</p>
    </div>
  );
}
