import { useState } from "react";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { Choose, TextField } from "../../parts/Field";
import { moveCards, unselectAfter } from "./actions";
import { useBoard } from "./context";

/** Moves cards without dragging them. */
export default function MoveDialog({ cards, onClose }: { cards: string[]; onClose: () => void }) {
  const { store } = useBoard();
  const first = store.card(cards[0]!);
  const [column, setColumn] = useState(first?.column_id ?? store.columnOrder()[0]!);
  const [position, setPosition] = useState("1");
  const others = store.shown(column).filter((id) => !cards.includes(id)).length;
  const move = () => {
    const index = Math.max(0, Math.min(others, Number(position) - 1));
    unselectAfter(store, () => moveCards(store, cards, column, index));
    onClose();
  };
  return (
    <FormDialog title={cards.length === 1 ? t("Move {{key}}", { key: first?.key }) : t("Move the selected cards")} send={t("Move")} onClose={onClose} onSend={move}>
      <Choose label={t("Column")} value={column} onChange={(event) => setColumn(event.target.value)} autoFocus
        options={store.columns().map(({ id, name }) => ({ value: id, label: name }))} />
      <TextField label={t("Position")} type="number" min={1} max={others + 1} required value={position} onChange={(event) => setPosition(event.target.value)}
        note={t("1 is the top; {{last}} is the bottom.", { last: others + 1 })} />
    </FormDialog>
  );
}
