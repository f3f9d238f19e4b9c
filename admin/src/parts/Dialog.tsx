import type { FormEvent, ReactNode } from "react";
import { Dialog as Inner, Heading, Modal, ModalOverlay } from "react-aria-components";
import { t } from "../app/words";
import { Button } from "./Button";
import { Failure } from "./Failure";
import { Icon } from "./Icon";
import "./dialog.css";

/** A modal window: Escape and a press beside it close it, and focus goes back to where it was. */
export function Dialog({ title, onClose, children, wide }: { title: string; onClose: () => void; children: ReactNode; wide?: boolean }) {
  return (
    <ModalOverlay className="overlay" isOpen isDismissable onOpenChange={(open) => { if (!open) onClose(); }}>
      <Modal className={`modal${wide ? " wide" : ""}`}>
        <Inner className="dialog">
          <header>
            <Heading slot="title">{title}</Heading>
            <button type="button" className="button quiet icon" aria-label={t("Close")} onClick={onClose}><Icon name="close" /></button>
          </header>
          {children}
        </Inner>
      </Modal>
    </ModalOverlay>
  );
}

/** A window with a form (its button keeps the focus while it waits, so that keys go on working): what is in it, the button that sends it, and what the server said against it. */
export function FormDialog({ title, onClose, onSend, send, busy, off, error, danger, children }: {
  title: string;
  onClose: () => void;
  onSend: () => void;
  send: string;
  busy?: boolean;
  /** There is nothing to send yet. */
  off?: boolean;
  error?: unknown;
  danger?: boolean;
  children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy && !off) onSend();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        {children}
        <Failure error={error} />
        <div className="row">
          <Button className={`button ${danger ? "danger" : "go"}`} busy={Boolean(busy)} off={off}>{send}</Button>
          <button type="button" className="button" onClick={onClose}>{t("Cancel")}</button>
        </div>
      </form>
    </Dialog>
  );
}
