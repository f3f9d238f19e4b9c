import { useQuery } from "@tanstack/react-query";
import { useEffect, useState, type RefObject } from "react";
import { principalsQuery } from "../../api/queries";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { Menu, type Choice } from "../../parts/Menu";
import { priorities } from "./priorities";
import { useBoard, useBoardRecord } from "./context";
import { isEmpty, noFilter, nobody, type Filter } from "./filter";
import type { View } from "./useBoardAddress";

const toggled = (all: string[], one: string) => (all.includes(one) ? all.filter((each) => each !== one) : [...all, one]);

function Chooser({ label, chosen, choices }: { label: string; chosen: number; choices: Choice[] }) {
  return (
    <Menu label={label} choices={choices} className={`button small${chosen ? " chosen" : ""}`}>
      {label}{chosen > 0 && <span className="tag good">{chosen}</span>}<Icon name="down" size={13} />
    </Menu>
  );
}

/** Words, people, labels and the like by which cards are found; how the board is shown. */
export function Toolbar({ filter, onFilter, view, onView, search }: {
  filter: Filter;
  onFilter: (filter: Filter) => void;
  view: View;
  onView: (view: View) => void;
  search: RefObject<HTMLInputElement | null>;
}) {
  const { store } = useBoard();
  const people = useQuery(principalsQuery());
  const board = useBoardRecord(store);
  // What is written shows at once; the address follows when the writing rests.
  const [text, setText] = useState(filter.text);
  useEffect(() => setText(filter.text), [filter.text]);
  useEffect(() => {
    if (text === filter.text) return;
    const timer = setTimeout(() => onFilter({ ...filter, text }), 200);
    return () => clearTimeout(timer);
  }, [text, filter, onFilter]);

  const one = <K extends "due" | "state">(name: K, value: Filter[K], label: string): Choice => ({
    id: value, label, selected: filter[name] === value, run: () => onFilter({ ...filter, [name]: filter[name] === value ? "" : value }),
  });
  return (
    <div className="toolbar" role="search" aria-label={t("Cards of this board")}>
      <div className="finder">
        <Icon name="search" size={14} />
        <input ref={search} className="input" type="search" aria-label={t("Filter by words")} placeholder={t("Filter")} value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => { if (event.key === "Escape") { setText(""); event.currentTarget.blur(); } }} />
      </div>
      <Chooser label={t("Assigned")} chosen={filter.assignees.length} choices={[
        { id: nobody, label: t("Nobody"), selected: filter.assignees.includes(nobody), run: () => onFilter({ ...filter, assignees: toggled(filter.assignees, nobody) }) },
        ...(people.data ?? []).map((person): Choice => ({
          id: person.id, label: person.name ?? person.person?.email ?? "", note: person.type === "bot" ? t("agent") : undefined,
          selected: filter.assignees.includes(person.id), run: () => onFilter({ ...filter, assignees: toggled(filter.assignees, person.id) }),
        })),
      ]} />
      {board.labels.length > 0 && (
        <Chooser label={t("Label")} chosen={filter.labels.length} choices={board.labels.map(({ id, name }): Choice => ({
          id, label: name, selected: filter.labels.includes(id), run: () => onFilter({ ...filter, labels: toggled(filter.labels, id) }),
        }))} />
      )}
      <Chooser label={t("Priority")} chosen={filter.priorities.length} choices={priorities.map((id): Choice => ({
        id, label: t(id), selected: filter.priorities.includes(id), run: () => onFilter({ ...filter, priorities: toggled(filter.priorities, id) }),
      }))} />
      <Chooser label={t("Due")} chosen={filter.due ? 1 : 0} choices={[one("due", "overdue", t("Overdue")), one("due", "week", t("Within a week")), one("due", "none", t("Without a date"))]} />
      <Chooser label={t("State")} chosen={filter.state ? 1 : 0} choices={[one("state", "blocked", t("Blocked")), one("state", "leased", t("Leased")), one("state", "stuck", t("Needs attention"))]} />
      {!isEmpty(filter) && <button type="button" className="button small quiet" onClick={({ detail }) => {
        onFilter(noFilter);
        if (detail === 0) search.current?.focus(); // by a key, whose button goes
      }}>{t("Clear")}</button>}
      <span className="grow" />
      <div className="views" role="group" aria-label={t("View")}>
        {([["board", "boards", t("Board")], ["lanes", "lanes", t("Lanes")], ["list", "list", t("List")], ["calendar", "calendar", t("Calendar")]] as const).map(([id, icon, label]) => (
          <button key={id} type="button" className="button small quiet" aria-pressed={view === id} onClick={() => onView(id)}>
            <Icon name={icon} /><span className="wide-only">{label}</span><span className="narrow-only unseen">{label}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
