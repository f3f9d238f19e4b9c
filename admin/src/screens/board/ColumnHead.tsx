import { useState } from "react";
import { api, ask } from "../../api/client";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { lazy } from "../../parts/lazy";
import { Menu, type Choice } from "../../parts/Menu";
import { toastError } from "../../parts/toasts";
import { useBoard, useShown } from "./context";
import { QueueStrip } from "./QueueStrip";
import type { Column } from "./store";

const ColumnDialog = lazy(() => import("./ColumnDialog"));
const DeleteColumn = lazy(async () => ({ default: (await import("./ColumnDialog")).DeleteColumn }));

function Count({ column }: { column: Column }) {
  const { store } = useBoard();
  const shown = useShown(store, column.id).length;
  const { card_count, wip_limit } = column;
  const over = wip_limit !== null && card_count > wip_limit;
  const count = store.isFiltered() ? t("{{shown}} of {{all}}", { shown, all: card_count }) : String(card_count);
  return (
    <span className={`tag${over ? " bad" : wip_limit === card_count ? " warn" : ""}`}>
      {wip_limit === null ? count : `${count} / ${wip_limit}`}
      <span className="unseen"> {over ? t("cards, more than the limit") : t("cards")}</span>
    </span>
  );
}

export function ColumnHead({ column, onAdd }: { column: Column; onAdd: () => void }) {
  const { store, canEdit } = useBoard();
  const [editing, setEditing] = useState<"" | "this" | "new" | "delete">("");
  const order = store.columnOrder();
  const at = order.indexOf(column.id);
  const params = { path: { board_id: column.board_id, column_id: column.id } };
  const move = (body: { before_id: string } | { after_id: string }) =>
    void ask(api.POST("/v1/boards/{board_id}/columns/{column_id}:move", { params, body })).catch(toastError);
  const choices: Choice[] = [
    { id: "add", label: t("Add a card"), icon: "plus", run: onAdd },
    { id: "select", label: t("Select all cards"), icon: "check", run: () => store.setSelection(store.shown(column.id)) },
    { id: "edit", label: t("Edit the column…"), icon: "gear", run: () => setEditing("this") },
    { id: "new", label: t("New column to the right…"), icon: "plus", run: () => setEditing("new") },
    { id: "left", label: t("Move to the left"), icon: "left", disabled: at === 0, run: () => move({ before_id: order[at - 1]! }) },
    { id: "right", label: t("Move to the right"), icon: "right", disabled: at === order.length - 1, run: () => move({ after_id: order[at + 1]! }) },
    { id: "delete", label: t("Delete the column…"), icon: "bin", danger: true, disabled: order.length === 1, run: () => setEditing("delete") },
  ];
  return (
    <header>
      <div className="row apart" style={{ flexWrap: "nowrap" }}>
        <h2 id={`column-${column.id}`}><span className="dot" aria-hidden="true" /><span className="clip" title={column.name}>{column.name}</span></h2>
        <Count column={column} />
        {column.kind === "done" && <span className="tag good">{t("done")}</span>}
        <span className="grow" />
        {canEdit && (
          <>
            <button type="button" className="button quiet small icon" aria-label={t("Add a card to {{column}}", { column: column.name })} onClick={onAdd}>
              <Icon name="plus" />
            </button>
            <Menu label={t("About {{column}}", { column: column.name })} choices={choices} className="button quiet small icon" />
          </>
        )}
      </div>
      {column.queue.enabled && <QueueStrip column={column} />}
      {(editing === "this" || editing === "new") && (
        <ColumnDialog column={editing === "this" ? column : undefined} after={column.id} onClose={() => setEditing("")} />
      )}
      {editing === "delete" && <DeleteColumn column={column} onClose={() => setEditing("")} />}
    </header>
  );
}
