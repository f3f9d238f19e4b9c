import { useState, type KeyboardEvent } from "react";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { toastError } from "../../parts/toasts";
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
  if (!isOpen)
    return (
      <button type="button" className="button quiet add-card" onClick={() => onOpen(true)}><Icon name="plus" />{t("Add a card")}</button>
    );
  const add = async () => {
    const wanted = title.trim();
    if (!wanted) return;
    setTitle("");
    try {
      onAdded((await createCard(store, column, wanted)).id);
    } catch (error) {
      setTitle((now) => now || wanted); // nothing that was written is lost
      toastError(error);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onOpen(false);
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      void add();
    }
  };
  return (
    <div className="add-card open">
      <textarea className="input" rows={2} autoFocus aria-label={t("Title of the new card")} placeholder={t("A title; Enter adds it")} maxLength={500}
        value={title} onChange={(event) => setTitle(event.target.value.replace(/\n/g, " "))} onKeyDown={onKeyDown}
        onBlur={() => { if (!title.trim()) onOpen(false); }} />
    </div>
  );
}
