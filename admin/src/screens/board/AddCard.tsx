import { useRef, useState, type KeyboardEvent } from "react";
import { worded } from "../../api/refusal";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { toast, toastError } from "../../parts/toasts";
import { createCard } from "./actions";
import { useBoard } from "./context";

/** A line below a column: Enter makes a card and goes on with the next, Escape ends it. */
export function AddCard({ column, isOpen, onOpen, onAdded }: {
  column: string;
  isOpen: boolean;
  onOpen: (open: boolean) => void;
  onAdded: (card: string) => void;
}) {
  const { store } = useBoard();
  const [title, setTitle] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  if (!isOpen)
    return (
      <button type="button" className="button quiet add-card" onClick={() => onOpen(true)}><Icon name="plus" />{t("Add a card")}</button>
    );
  const create = async (wanted: string) => {
    try {
      onAdded((await createCard(store, column, wanted)).id);
    } catch (error) {
      // Nothing that was written is lost: it comes back, or waits where the next one is being written already.
      if (field.current?.value === "") {
        setTitle(wanted);
        toastError(error);
      } else toast({ text: `${wanted}: ${worded(error)}`, ms: 60_000, action: { label: t("Try again"), run: () => void create(wanted) } });
    }
  };
  const add = () => {
    const wanted = title.trim();
    if (!wanted) return;
    setTitle("");
    void create(wanted);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onOpen(false);
    } else if (event.key === "Enter") {
      event.preventDefault();
      add();
    }
  };
  return (
    <div className="add-card open">
      <textarea ref={field} className="input" rows={2} autoFocus aria-label={t("Title of the new card")} placeholder={t("A title; Enter adds it")} maxLength={500}
        value={title} onChange={(event) => setTitle(event.target.value.replace(/\n/g, " "))} onKeyDown={onKeyDown}
        onBlur={() => { if (!title.trim()) onOpen(false); }} />
    </div>
  );
}
