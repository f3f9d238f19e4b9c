import { useEffect, useState, type FormEvent, type ReactNode } from "react";
import { Dialog as Inner, Heading, Modal, ModalOverlay } from "react-aria-components";
import { t } from "../app/words";
import { Button } from "./Button";
import { Failure } from "./Failure";
import { Icon } from "./Icon";
import "./dialog.css";

/** What had the focus before a dialog followed upon another: what had it in that one goes with it. */
let first: HTMLElement | null = null;

/** What has the focus when a dialog has gone: what had it before, also if it was drawn anew meanwhile (a card in another
    column), or else the dialog below, or the page's heading. */
function successorOf(opener: HTMLElement | null): HTMLElement | null {
  const below = document.querySelector<HTMLElement>(".overlay [role=dialog]");
  const before = [opener, first].filter((each) => each !== null && each !== document.body) as HTMLElement[];
  const found = before.flatMap((each) => {
    if (each.isConnected) return [each];
    const { card } = each.dataset;
    return card ? [...document.querySelectorAll<HTMLElement>(`[data-card="${CSS.escape(card)}"]`)] : [];
  });
  if (below) return found.find((each) => below.contains(each)) ?? below;
  // Where nothing had it, nothing has it; a board's keys lead back to a card that is out of sight by themselves.
  const hasHeading = before.length > 0 && !before.some((each) => each.dataset.card);
  return found[0] ?? (hasHeading ? document.querySelector("h1") : null);
}

/** Gives the focus back when a dialog goes, also one that an answer closes: React Aria tries while the page is inert
    still. */
function useReturnedFocus() {
  const [opener] = useState(() => document.activeElement as HTMLElement | null);
  useEffect(() => {
    if (opener && !opener.closest(".overlay")) first = opener;
    return () => void setTimeout(() => {
      const { activeElement } = document;
      const to = activeElement === document.body ? successorOf(opener) : null;
      if (to?.tagName === "H1") to.tabIndex = -1;
      to?.focus();
      if (!document.querySelector(".overlay")) first = null;
    });
  }, [opener]);
}

/** A modal window: Escape and a press beside it close it, unless it `stays`, and focus goes back to where it was. */
export function Dialog({ title, onClose, children, wide, stays = false }: { title: string; onClose: () => void; children: ReactNode; wide?: boolean; stays?: boolean }) {
  useReturnedFocus();
  const close = () => { if (!stays) onClose(); };
  return (
    <ModalOverlay className="overlay" isOpen isDismissable onOpenChange={(open) => { if (!open) close(); }}>
      <Modal className={`modal${wide ? " wide" : ""}`}>
        <Inner className="dialog">
          <header>
            <Heading slot="title">{title}</Heading>
            <button type="button" className="button quiet icon" aria-label={t("Close")} aria-disabled={stays} onClick={close}><Icon name="close" /></button>
          </header>
          {children}
        </Inner>
      </Modal>
    </ModalOverlay>
  );
}

/** A window with a form (its button keeps the focus while it waits, so that keys go on working): what is in it, the button that sends it, and what the server said against it. */
export function FormDialog({ title, onClose, onSend, send, busy, off, error, danger, once = false, children }: {
  title: string;
  onClose: () => void;
  onSend: () => void;
  send: string;
  busy?: boolean;
  /** There is nothing to send yet. */
  off?: boolean;
  error?: unknown;
  danger?: boolean;
  /** Its answer is shown this once: it cannot be left while that is on its way. */
  once?: boolean;
  children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy && !off) onSend();
  };
  const stays = once && Boolean(busy);
  return (
    <Dialog title={title} onClose={onClose} stays={stays}>
      <form className="stack" onSubmit={submit}>
        {children}
        <Failure error={error} />
        <div className="row">
          <Button className={`button ${danger ? "danger" : "go"}`} busy={Boolean(busy)} off={off}>{send}</Button>
          <button type="button" className="button" aria-disabled={stays} onClick={() => { if (!stays) onClose(); }}>{t("Cancel")}</button>
        </div>
      </form>
    </Dialog>
  );
}
