import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ago, shown } from "../../app/time";
import { t } from "../../app/words";
import { WaitPages } from "../../parts/Wait";
import { Face, isAgent, KindTag, nameOf } from "../../parts/Who";
import type { Card } from "../board/store";
import { activityQuery, Difference, type Activity } from "./Difference";
import { Versions } from "./Versions";

const filters = ["all", "people", "agents", "automations"] as const;
type Filter = (typeof filters)[number];
const names: Record<Filter, string> = { all: "All", people: "People", agents: "Agents", automations: "Automations" };
const isBy = ({ actor }: Activity, filter: Filter) => {
  if (filter === "all") return true;
  if (filter === "people") return !isAgent(actor);
  return isAgent(actor) && (actor.principal_type === "automation") === (filter === "automations");
};

const words: Record<string, string> = {
  "card.created": "created the card", "card.updated": "changed the card", "card.moved": "moved the card", "card.archived": "archived it", "card.restored": "restored it",
  "card.deleted": "moved it to the trash", "card.assigned": "changed who it is assigned to", "card.linked": "linked it", "card.unlinked": "unlinked it",
  "card.blocked": "blocked it", "card.unblocked": "unblocked it", "card.requeued": "requeued it", "card.held": "held it", "card.exhausted": "ran out of attempts",
  "lease.claimed": "claimed it", "lease.completed": "completed it", "lease.failed": "failed at it", "lease.released": "released it", "lease.expired": "let the lease expire",
  "lease.revoked": "revoked the lease", "comment.created": "commented", "comment.updated": "changed a comment", "comment.deleted": "deleted a comment",
  "block.created": "wrote", "block.updated": "changed what is written", "block.deleted": "deleted what was written", "block.restored": "restored text",
  "file.created": "attached a file", "file.deleted": "removed a file",
};

export function History({ card, canEdit }: { card: Card; canEdit: boolean }) {
  const [filter, setFilter] = useState<Filter>("all");
  const [versions, setVersions] = useState(false);
  const activity = useInfiniteQuery(activityQuery(card.id));
  return (
    <div className="history">
      <div className="row" role="group" aria-label={t("By whom")}>
        {filters.map((each) => (
          <button key={each} type="button" className="button small" aria-pressed={filter === each && !versions} onClick={() => { setFilter(each); setVersions(false); }}>{t(names[each])}</button>
        ))}
        <button type="button" className="button small" aria-pressed={versions} onClick={() => setVersions(true)}>{t("Versions")}</button>
      </div>
      {versions ? <Versions card={card} canEdit={canEdit} /> : (
        <WaitPages query={activity} empty={<p className="soft">{t("Nothing has happened yet.")}</p>}>
          {(all) => (
            <ol>
              {all.filter((each) => isBy(each, filter)).map((each) => (
                <li key={each.id} className="happening">
                  <Face who={each.actor} decorative />
                  <div className="grow">
                    <p>
                      <strong>{nameOf(each.actor)}</strong> <KindTag who={each.actor} /> {t(words[each.kind ?? ""] ?? each.action.replace(/_/g, " "))}
                      <time className="soft small" dateTime={each.occurred_at} title={shown(each.occurred_at)}> · {ago(each.occurred_at)}</time>
                      {each.via !== "web" && <span className="soft small"> · {t("by {{way}}", { way: each.via === "mcp" ? "MCP" : each.via === "api" ? "API" : t(each.via) })}</span>}
                    </p>
                    <Difference activity={each} />
                  </div>
                </li>
              ))}
            </ol>
          )}
        </WaitPages>
      )}
    </div>
  );
}
