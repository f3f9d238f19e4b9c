import { useQuery } from "@tanstack/react-query";
import { principalsQuery } from "../../api/queries";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { Menu } from "../../parts/Menu";
import { archiveOrDelete, changeCards, moveCards, unselectAfter } from "./actions";
import { useBoard, useSelection, useStoreVersion } from "./context";
import { refOf } from "./people";
import { priorities } from "./priorities";

/** What can be done to all selected cards at once. */
export function BulkBar({ onMove }: { onMove: (cards: string[]) => void }) {
  const { store } = useBoard();
  const selection = useSelection(store);
  const people = useQuery({ ...principalsQuery(), enabled: selection.size > 0 });
  useStoreVersion(); // the filter may leave some of them out
  const ids = store.chosen();
  if (ids.length === 0) return null;
  const done = (work: () => Promise<boolean>) => unselectAfter(store, work);
  const toggle = <T extends { id: string }>(all: T[], one: T) => (all.some(({ id }) => id === one.id) ? all : [...all, one]);
  return (
    <div className="bulk" role="toolbar" aria-label={t("The selected cards")}>
      <strong>{t("{{count}} selected", { count: ids.length })}</strong>
      <Menu label={t("Move")} className="button small" choices={[
        ...store.columns().map((column) => ({ id: column.id, label: column.name, run: () => done(() => moveCards(store, ids, column.id, 0)) })),
        { id: "place", label: t("To a position…"), icon: "more" as const, run: () => onMove(ids) },
      ]}>{t("Move")}</Menu>
      <Menu label={t("Assign")} className="button small" choices={[
        { id: "nobody", label: t("Nobody"), run: () => done(() => changeCards(store, ids, () => ({ assignees: [] }), () => ({ assignees: [] }))) },
        ...(people.data ?? []).map((person) => ({
          id: person.id, label: person.name ?? person.person?.email ?? "", note: person.type === "bot" ? t("agent") : undefined,
          run: () => done(() => changeCards(store, ids,
            (card) => ({ assignees: toggle(card.assignees, refOf(person)).map(({ id }) => id) }),
            (card) => ({ assignees: toggle(card.assignees, refOf(person)) }))),
        })),
      ]}>{t("Assign")}</Menu>
      {store.board.labels.length > 0 && (
        <Menu label={t("Label")} className="button small" choices={store.board.labels.map((label) => ({
          id: label.id, label: label.name,
          run: () => done(() => changeCards(store, ids,
            (card) => ({ labels: toggle(card.labels, label).map(({ id }) => id) }),
            (card) => ({ labels: toggle(card.labels, label) }))),
        }))}>{t("Label")}</Menu>
      )}
      <Menu label={t("Priority")} className="button small" choices={priorities.map((priority) => ({
        id: priority, label: t(priority), run: () => done(() => changeCards(store, ids, () => ({ priority }), () => ({ priority }))),
      }))}>{t("Priority")}</Menu>
      <button type="button" className="button small" onClick={() => done(() => archiveOrDelete(store, ids, "archive"))}>{t("Archive")}</button>
      <button type="button" className="button small danger" onClick={() => done(() => archiveOrDelete(store, ids, "delete"))}>{t("Delete")}</button>
      <button type="button" className="button small quiet icon" aria-label={t("Select none")} onClick={() => store.setSelection([])}><Icon name="close" /></button>
    </div>
  );
}
