import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { boardsQuery, inOrg, pagesQuery } from "../../api/queries";
import { useSession } from "../../app/session";
import { ago } from "../../app/time";
import { t } from "../../app/words";
import { Page } from "../../parts/Page";
import { toast } from "../../parts/toasts";
import { useToldAct } from "../../parts/useAct";
import { useKeptFocus } from "../../parts/useKeptFocus";
import { Wait, WaitPages } from "../../parts/Wait";

type Which = "archived" | "in_trash";
const Nothing = ({ says }: { says: string }) => <p className="soft" style={{ padding: "0 0.9rem 0.9rem", margin: 0 }}>{says}</p>;

function Row({ href, name, note, when, label, busy, onRestore }: { href?: string; name: string; note: string; when: string; label: string; busy: boolean; onRestore?: () => void }) {
  return (
    <tr>
      <td dir="auto">{href ? <Link href={href}>{name}</Link> : name}</td>
      <td className="soft mono nowrap">{note}</td>
      <td className="soft small nowrap">{ago(when)}</td>
      <td className="end">{onRestore && <button type="button" className="button small" aria-disabled={busy} aria-label={label} onClick={onRestore}>{t("Restore")}</button>}</td>
    </tr>
  );
}

const Head = ({ title }: { title: string }) => (
  <thead><tr><th>{title}</th><th>{t("Key")}</th><th>{t("Last edited")}</th><th><span className="unseen">{t("Actions")}</span></th></tr></thead>
);

function Boards({ which }: { which: Which }) {
  const query = useQuery(boardsQuery({ [which]: true }));
  const act = useToldAct(inOrg("boards"));
  const focus = useKeptFocus<HTMLElement>("tbody button");
  const restore = (board: Schemas["Board"]) => act.mutate(async () => {
    await ask(api.POST("/v1/boards/{board_id}:restore", { params: { path: { board_id: board.id } } }));
    toast(t("{{name}} is restored", { name: board.name }));
  }, board.id);
  return (
    <section className="panel" aria-labelledby="boards-heading" {...focus}>
      <h2 id="boards-heading" style={{ padding: "0.8rem 0.9rem 0.4rem" }}>{t("Boards")}</h2>
      <Wait query={query}>
        {(all) => (all.length === 0 ? <Nothing says={which === "archived" ? t("No board is archived.") : t("No board is in the trash.")} /> : (
          <table className="table cards"><Head title={t("Board")} />
            <tbody>{all.map((board) => <Row key={board.id} href={which === "archived" ? `/boards/${board.id}` : undefined} name={board.name} note={board.key} when={board.last_edited_time} busy={act.isBusy(board.id)}
              label={t("Restore {{name}}", { name: board.name })} onRestore={board.role === "admin" ? () => restore(board) : undefined} />)}</tbody>
          </table>
        ))}
      </Wait>
    </section>
  );
}

function Cards({ which }: { which: Which }) {
  const { isViewer } = useSession();
  const key = inOrg("away-cards", which);
  const query = useInfiniteQuery(pagesQuery(key, (start_cursor) => ask(api.GET("/v1/cards", { params: { query: { page_size: 50, start_cursor, ...(which === "archived" ? { archived: true, sort: "updated" as const } : { in_trash: true }) } } }))));
  const act = useToldAct(key);
  const focus = useKeptFocus<HTMLElement>("tbody button");
  const restore = (card: Schemas["Card"]) => act.mutate(async () => {
    await ask(api.POST("/v1/cards/{card_id}:restore", { params: { path: { card_id: card.id } } }));
    toast(t("{{name}} is restored", { name: card.key }));
  }, card.id);
  return (
    <section className="panel" aria-labelledby="cards-heading" {...focus}>
      <h2 id="cards-heading" style={{ padding: "0.8rem 0.9rem 0.4rem" }}>{t("Cards")}</h2>
      <WaitPages query={query} empty={<Nothing says={which === "archived" ? t("No card is archived.") : t("No card is in the trash.")} />}>
        {(all) => (
          <table className="table cards"><Head title={t("Card")} />
            <tbody>{all.map((card) => <Row key={card.id} href={`/cards/${card.id}`} name={card.title} note={card.key} when={card.last_edited_time} busy={act.isBusy(card.id)}
              label={t("Restore {{name}}", { name: card.key })} onRestore={isViewer ? undefined : () => restore(card)} />)}</tbody>
          </table>
        )}
      </WaitPages>
    </section>
  );
}

/** What is out of sight, and can be brought back: the archive for good, the trash for a time. */
export default function Trash() {
  const [which, setWhich] = useState<Which>("archived");
  return (
    <Page title={t("Archive and trash")}>
      <div className="row" role="group" aria-label={t("Where")}>
        <button type="button" className="button small" aria-pressed={which === "archived"} onClick={() => setWhich("archived")}>{t("Archive")}</button>
        <button type="button" className="button small" aria-pressed={which === "in_trash"} onClick={() => setWhich("in_trash")}>{t("Trash")}</button>
      </div>
      <p className="soft" style={{ margin: 0 }}>{which === "archived" ? t("What is archived is kept for good.") : t("What is in the trash goes for good after some time, 30 days unless the operator says otherwise.")}</p>
      <Boards key={`boards ${which}`} which={which} />
      <Cards key={`cards ${which}`} which={which} />
    </Page>
  );
}
