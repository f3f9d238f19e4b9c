import { useQueries, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { api, ask } from "../../api/client";
import { inOrg } from "../../api/queries";
import { t } from "../../app/words";
import { Dialog } from "../../parts/Dialog";
import { Icon } from "../../parts/Icon";
import { changeCards } from "../board/actions";
import { useBoard } from "../board/context";
import type { Card } from "../board/store";

/** The cards that have to be done before this one. */
export function Dependencies({ card, canEdit }: { card: Card; canEdit: boolean }) {
  const { store, open } = useBoard();
  const [adding, setAdding] = useState(false);
  const elsewhere = card.blocked_by.filter((id) => !store.card(id));
  const others = useQueries({
    queries: elsewhere.map((id) => ({
      queryKey: ["card-brief", id],
      queryFn: () => ask(api.GET("/v1/cards/{card_id}", { params: { path: { card_id: id } } })),
    })),
  });
  const known = new Map([...others.map(({ data }) => data).filter((each) => each !== undefined), ...card.blocked_by.map((id) => store.card(id)).filter((each) => each !== undefined)].map((each) => [each.id, each]));
  const set = (blocked_by: string[]) => void changeCards(store, [card.id], () => ({ blocked_by }), () => ({ blocked_by }));
  if (card.blocked_by.length === 0 && !canEdit) return null;
  return (
    <section className="dependencies" aria-labelledby="waits-heading">
      <div className="row">
        <h2 id="waits-heading">{t("Waits for")}</h2>
        {card.blocked && <span className="tag bad">{t("blocked")}</span>}
        {canEdit && <button type="button" className="button quiet small" onClick={() => setAdding(true)}><Icon name="plus" />{t("Add")}</button>}
      </div>
      {card.blocked_by.length > 0 && (
        <ul>
          {card.blocked_by.map((id) => {
            const other = known.get(id);
            return (
              <li key={id} className="row">
                <button type="button" className="button quiet small grow" style={{ justifyContent: "flex-start" }} disabled={!other} onClick={() => open(id)}>
                  {other ? <><span className="soft">{other.key}</span><span className="clip" dir="auto" title={other.title}>{other.title}</span>{other.completed_at && <span className="tag good">{t("done")}</span>}</> : t("a card that you may not see")}
                </button>
                {canEdit && <button type="button" className="button quiet small icon" aria-label={t("Does not wait for {{key}}", { key: other?.key ?? "" })} onClick={() => set(card.blocked_by.filter((each) => each !== id))}><Icon name="close" /></button>}
              </li>
            );
          })}
        </ul>
      )}
      {adding && <ChooseCard not={[card.id, ...card.blocked_by]} onClose={() => setAdding(false)} onChoose={(id) => { set([...card.blocked_by, id]); setAdding(false); }} />}
    </section>
  );
}

function ChooseCard({ not, onClose, onChoose }: { not: string[]; onClose: () => void; onChoose: (id: string) => void }) {
  const { store } = useBoard();
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: inOrg("cards", wanted),
    queryFn: () => ask(api.GET("/v1/cards", { params: { query: { text: wanted, page_size: 15 } } })),
    enabled: wanted.length > 1,
    placeholderData: (before) => before,
  });
  const here = store.allShown().filter(({ key, title }) => `${key} ${title}`.toLowerCase().includes(wanted.toLowerCase())).slice(0, 15);
  const all = [...here, ...(wanted.length > 1 ? found.data?.results ?? [] : [])].filter(({ id }, at, list) => !not.includes(id) && list.findIndex((each) => each.id === id) === at).slice(0, 15);
  return (
    <Dialog title={t("Which card has to be done first?")} onClose={onClose}>
      <input className="input" autoFocus aria-label={t("Words of its title, or its key")} placeholder={t("Words of its title, or its key")} value={text} onChange={(event) => setText(event.target.value)} />
      <ul className="menu" style={{ listStyle: "none" }}>
        {all.map((card) => (
          <li key={card.id}><button type="button" className="button quiet" style={{ width: "100%", justifyContent: "flex-start" }} onClick={() => onChoose(card.id)}><span className="soft">{card.key}</span><span className="clip" dir="auto">{card.title}</span></button></li>
        ))}
      </ul>
    </Dialog>
  );
}
