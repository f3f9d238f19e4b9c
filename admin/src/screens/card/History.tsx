import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { pagesQuery } from "../../api/queries";
import { ago, shown } from "../../app/time";
import { t } from "../../app/words";
import { valueInWords } from "../../parts/Facts";
import { toast, toastError } from "../../parts/toasts";
import { WaitPages } from "../../parts/Wait";
import { Face, isAgent, nameOf } from "../../parts/Who";
import { useBoard } from "../board/context";
import type { Card } from "../board/store";

type Activity = Schemas["CardActivity"];
type Filter = "all" | "people" | "agents";

const silent = new Set(["last_edited_time", "last_edited_by", "version", "position", "object", "id", "org_id", "url", "created_time", "created_by", "card_id", "board_id", "file_id", "parent_id", "discussion_id", "content_type", "size_bytes"]);
const words: Record<string, string> = {
  "card.created": "created the card", "card.updated": "changed the card", "card.moved": "moved the card", "card.archived": "archived it", "card.restored": "restored it",
  "card.deleted": "moved it to the trash", "card.assigned": "changed who it is assigned to", "card.linked": "linked it", "card.unlinked": "unlinked it",
  "card.blocked": "blocked it", "card.unblocked": "unblocked it", "card.requeued": "requeued it", "card.held": "held it", "card.exhausted": "ran out of attempts",
  "lease.claimed": "claimed it", "lease.completed": "completed it", "lease.failed": "failed at it", "lease.released": "released it", "lease.expired": "let the lease expire",
  "lease.revoked": "revoked the lease", "comment.created": "commented", "comment.updated": "changed a comment", "comment.deleted": "deleted a comment",
  "block.created": "wrote", "block.updated": "changed what is written", "block.deleted": "deleted what was written", "block.restored": "restored text",
  "file.created": "attached a file", "file.deleted": "removed a file",
};

/** Text of a block, or a value, in a few words. */
function brief(value: unknown): string {
  if (value && typeof value === "object" && !Array.isArray(value)) {
    const rich = (value as { rich_text?: { plain_text: string }[] }).rich_text;
    if (rich) return rich.map(({ plain_text }) => plain_text).join("");
    const { state } = value as { state?: string };
    if (state) return t(state);
  }
  if (Array.isArray(value) && value.every((each) => each && typeof each === "object" && "type" in each && (each as { type: string }).type in each))
    return value.map((each) => brief((each as Record<string, unknown>)[(each as { type: string }).type])).join(" / ");
  return valueInWords(value) ?? "";
}

/** What was, and what is: field by field. */
function Difference({ activity }: { activity: Activity }) {
  const { store } = useBoard();
  const changes = (activity.changes ?? {}) as Record<string, unknown>;
  const previous = (activity.previous ?? {}) as Record<string, unknown>;
  if (activity.kind === "card.created" || activity.kind === "comment.created") return null;
  const column = (id: unknown) => (typeof id === "string" ? store.column(id)?.name ?? "" : "");
  const rows = Object.keys({ ...changes, ...previous }).filter((name) => !silent.has(name)).map((name) => {
    const word = name === "column_id" ? column : brief;
    return { name, was: word(previous[name]).slice(0, 400), is: word(changes[name]).slice(0, 400) };
  }).filter(({ was, is }) => was !== is);
  if (rows.length === 0) return null;
  return (
    <ul className="difference">
      {rows.map(({ name, was, is }) => (
        <li key={name}><span className="soft">{t(name.replace(/_id$/, "").replace(/_/g, " "))}</span> {was && <del>{was}</del>} {is && <ins>{is}</ins>}</li>
      ))}
    </ul>
  );
}

export function History({ card, canEdit }: { card: Card; canEdit: boolean }) {
  const [filter, setFilter] = useState<Filter>("all");
  const [versions, setVersions] = useState(false);
  const activity = useInfiniteQuery(pagesQuery(["card", card.id, "activity"], (start_cursor) =>
    ask(api.GET("/v1/cards/{card_id}/activity", { params: { path: { card_id: card.id }, query: { page_size: 50, start_cursor } } }))));
  return (
    <div className="history">
      <div className="row" role="group" aria-label={t("By whom")}>
        {([["all", t("All")], ["people", t("People")], ["agents", t("Agents and automations")]] as const).map(([id, label]) => (
          <button key={id} type="button" className="button small" aria-pressed={filter === id && !versions} onClick={() => { setFilter(id); setVersions(false); }}>{label}</button>
        ))}
        <button type="button" className="button small" aria-pressed={versions} onClick={() => setVersions(true)}>{t("Versions")}</button>
      </div>
      {versions ? <Versions card={card} canEdit={canEdit} /> : (
        <WaitPages query={activity} empty={<p className="soft">{t("Nothing has happened yet.")}</p>}>
          {(all) => (
            <ol>
              {all.filter(({ actor }) => filter === "all" || isAgent(actor) === (filter === "agents")).map((each) => (
                <li key={each.id} className="happening">
                  <Face who={each.actor} decorative />
                  <div className="grow">
                    <p>
                      <strong>{nameOf(each.actor)}</strong>{isAgent(each.actor) && <> <span className="tag agent">{t("agent")}</span></>} {t(words[each.kind ?? ""] ?? each.action.replace(/_/g, " "))}
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

/** The card as it was; going back is a change like any other. */
function Versions({ card, canEdit }: { card: Card; canEdit: boolean }) {
  const { store } = useBoard();
  const query = useInfiniteQuery(pagesQuery(["card", card.id, "versions"], (start_cursor) =>
    ask(api.GET("/v1/cards/{card_id}/versions", { params: { path: { card_id: card.id }, query: { page_size: 50, start_cursor } } }))));
  const revert = async (version: number) => {
    const before = card.version;
    store.put((await ask(api.POST("/v1/cards/{card_id}:revert", { params: { path: { card_id: card.id } }, body: { version } }))) as Card);
    toast({ text: t("The card is as it was in version {{version}}", { version }), action: { label: t("Undo"), run: () => void revert(before).catch(toastError) } });
  };
  return (
    <WaitPages query={query} empty={<p className="soft">{t("There are no versions.")}</p>}>
      {(all) => (
        <ol>
          {all.map((each) => (
            <li key={each.version} className="happening">
              <Face who={each.edited_by} decorative />
              <div className="grow">
                <p>
                  <strong>{t("Version {{version}}", { version: each.version })}</strong> · {nameOf(each.edited_by)} <time className="soft small" dateTime={each.edited_at} title={shown(each.edited_at)}>{ago(each.edited_at)}</time>
                </p>
                <p className="soft small">{each.changed_fields.filter((name) => !silent.has(name)).map((name) => t(name.replace(/_id$/, "").replace(/_/g, " "))).join(", ")}</p>
              </div>
              {canEdit && each.version !== card.version && (
                <button type="button" className="button small" onClick={() => void revert(each.version).catch(toastError)}>{t("Restore this version")}</button>
              )}
            </li>
          ))}
        </ol>
      )}
    </WaitPages>
  );
}
