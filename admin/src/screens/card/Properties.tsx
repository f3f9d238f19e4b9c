import { useQuery } from "@tanstack/react-query";
import { principalsQuery } from "../../api/queries";
import { dayOf, onDay, shown } from "../../app/time";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { LabelTag } from "../../parts/Labels";
import { Menu } from "../../parts/Menu";
import { Who } from "../../parts/Who";
import { changeCards } from "../board/actions";
import { priorities } from "../board/priorities";
import { useBoard, useBoardRecord } from "../board/context";
import { refOf } from "../board/people";
import type { Card } from "../board/store";
import { CustomProperty } from "./CustomProperty";
import { DayValue, TextValue } from "./fields";

/** What is known of the card, to be changed where it stands. */
export function Properties({ card, canEdit }: { card: Card; canEdit: boolean }) {
  const { store } = useBoard();
  const board = useBoardRecord(store);
  const people = useQuery(principalsQuery());
  const change = (changes: Parameters<typeof changeCards>[2], local: Parameters<typeof changeCards>[3]) => void changeCards(store, [card.id], changes, local);
  const toggle = <T extends { id: string }>(all: T[], one: T) => (all.some(({ id }) => id === one.id) ? all.filter(({ id }) => id !== one.id) : [...all, one]);
  return (
    <dl className="properties">
      <div>
        <dt>{t("Assigned to")}</dt>
        <dd className="row">
          {card.assignees.map((who) => <Who key={who.id} who={who} />)}
          {card.assignees.length === 0 && !canEdit && <span className="soft">{t("Nobody")}</span>}
          {canEdit && (
            <Menu label={t("Assign")} className="button quiet small" choices={(people.data ?? []).map((person) => ({
              id: person.id, label: person.name ?? person.person?.email ?? "", note: person.type === "bot" ? t("agent") : undefined,
              selected: card.assignees.some(({ id }) => id === person.id),
              run: () => change((was) => ({ assignees: toggle(was.assignees, refOf(person)).map(({ id }) => id) }), (now) => ({ assignees: toggle(now.assignees, refOf(person)) })),
            }))}><Icon name="plus" /><span className="unseen">{t("Assign")}</span></Menu>
          )}
        </dd>
      </div>
      <div>
        <dt>{t("Labels")}</dt>
        <dd className="row">
          {card.labels.map((label) => <LabelTag key={label.id} label={label} />)}
          {canEdit && board.labels.length > 0 && (
            <Menu label={t("Label")} className="button quiet small" choices={board.labels.map((label) => ({
              id: label.id, label: label.name, selected: card.labels.some(({ id }) => id === label.id),
              run: () => change((was) => ({ labels: toggle(was.labels, label).map(({ id }) => id) }), (now) => ({ labels: toggle(now.labels, label) })),
            }))}><Icon name="plus" /><span className="unseen">{t("Label")}</span></Menu>
          )}
          {card.labels.length === 0 && board.labels.length === 0 && <span className="soft">{t("The board has none.")}</span>}
        </dd>
      </div>
      <div>
        <dt id="priority-of">{t("Priority")}</dt>
        <dd>
          {canEdit
            ? (
              <select className="input plain" aria-labelledby="priority-of" value={card.priority}
                onChange={(event) => { const priority = event.target.value as Card["priority"]; change(() => ({ priority }), () => ({ priority })); }}>
                {priorities.map((each) => <option key={each} value={each}>{t(each)}</option>)}
              </select>
            ) : t(card.priority)}
        </dd>
      </div>
      <DateRow name="due" label={t("Due")} card={card} canEdit={canEdit} />
      <DateRow name="start" label={t("Start")} card={card} canEdit={canEdit} />
      <Estimate card={card} canEdit={canEdit} />
      {board.properties.map((property) => <CustomProperty key={property.id} property={property} card={card} canEdit={canEdit} people={people.data ?? []} />)}
      {card.completed_at && <div><dt>{t("Completed")}</dt><dd>{shown(card.completed_at)}</dd></div>}
      <div><dt>{t("Created")}</dt><dd className="soft">{shown(card.created_time)} · <Who who={card.created_by} /></dd></div>
    </dl>
  );
}

function DateRow({ name, label, card, canEdit }: { name: "due" | "start"; label: string; card: Card; canEdit: boolean }) {
  const { store } = useBoard();
  const value = card[name];
  const isInstant = Boolean(value && value.length > 10);
  if (!canEdit) return value ? <div><dt>{label}</dt><dd>{shown(value)}</dd></div> : null;
  const save = (text: string) => {
    const next = text ? onDay(value, text) : null; // an hour stays
    void changeCards(store, [card.id], () => ({ [name]: next }), () => ({ [name]: next }));
  };
  return (
    <div>
      <dt id={`${name}-of`}>{label}</dt>
      <dd className="row">
        <DayValue labelledBy={`${name}-of`} value={value ? dayOf(value) : ""} onSave={save} />
        {isInstant && <span className="soft small">{shown(value!)}</span>}
      </dd>
    </div>
  );
}

function Estimate({ card, canEdit }: { card: Card; canEdit: boolean }) {
  const { store } = useBoard();
  if (!canEdit) return card.estimate === null ? null : <div><dt>{t("Estimate")}</dt><dd>{card.estimate}</dd></div>;
  const save = (text: string) => {
    const estimate = text === "" ? null : Number(text);
    void changeCards(store, [card.id], () => ({ estimate }), () => ({ estimate }));
  };
  return (
    <div>
      <dt id="estimate-of">{t("Estimate")}</dt>
      <dd><TextValue labelledBy="estimate-of" type="number" min={0} value={card.estimate?.toString() ?? ""} onSave={save} /></dd>
    </div>
  );
}
