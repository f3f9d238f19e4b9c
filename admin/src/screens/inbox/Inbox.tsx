import { useInfiniteQuery } from "@tanstack/react-query";
import { useRef, useState, type KeyboardEvent } from "react";
import { useLocation } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, pagesQuery } from "../../api/queries";
import { isKeyAllowed, useCommands } from "../../app/commands";
import { enterWorkspace, useSession } from "../../app/session";
import { ago, shown } from "../../app/time";
import { t } from "../../app/words";
import { Icon, type IconName } from "../../parts/Icon";
import { Empty, Page } from "../../parts/Page";
import { useToldAct } from "../../parts/useAct";
import { useKeptFocus } from "../../parts/useKeptFocus";
import { WaitPages } from "../../parts/Wait";
import { Face } from "../../parts/Who";
import "./inbox.css";

type Notice = Schemas["NotificationResponse"];
const icons: Partial<Record<Notice["kind"], IconName>> = {
  mention: "comment", comment: "comment", assigned: "person", moved: "right", due: "clock", invitation: "mail", membership: "people", lease_failed: "queue",
  lease_expired: "queue", automation_failed: "bolt", agent_disabled: "agent", webhook_disabled: "hook",
};

/** Where a notice leads to within the console. */
function placeOf({ target }: Notice): string | undefined {
  if (!target) return undefined;
  if (target.card_id) return `/cards/${target.card_id}`;
  if (target.board_id) return `/boards/${target.board_id}`;
  try {
    return new URL(target.url).pathname;
  } catch {
    return undefined;
  }
}

/** What others did that concerns the reader: the newest first. */
export default function Inbox() {
  const [, go] = useLocation();
  const { seats } = useSession();
  const [unread, setUnread] = useState(true);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const key = inOrg("notifications");
  const act = useToldAct(key);
  const focus = useKeptFocus<HTMLElement>("[data-notice]");
  const query = useInfiniteQuery(pagesQuery([...key, unread], (start_cursor) =>
    ask(api.GET("/v1/notifications", { params: { query: { page_size: 50, start_cursor, ...(unread && { unread }) } } }))));
  const all = query.data?.pages.flatMap(({ results }) => results) ?? [];
  const read = (notice: Notice) => {
    if (!notice.read) act.mutate(() => ask(api.POST("/v1/notifications/{notification_id}:read", { params: { path: { notification_id: notice.id } } })), notice.id);
  };
  const readAll = () => act.mutate(() => ask(api.POST("/v1/notifications:readAll")), "all");
  const open = (notice: Notice) => {
    read(notice);
    const place = placeOf(notice);
    if (!place) return;
    // Cards and boards are found wherever they are; what else it is about is in its workspace.
    if (!notice.target?.board_id && seats.some(({ org_id }) => org_id === notice.org_id)) enterWorkspace(notice.org_id);
    go(place);
  };
  useCommands([{ id: "read all", label: t("Mark all as read"), group: t("Inbox"), keys: ["shift+e"], icon: "check", run: readAll }], []);
  const onKeyDown = (event: KeyboardEvent) => {
    const item = (event.target as HTMLElement).closest<HTMLElement>("[data-notice]");
    if (!item || event.ctrlKey || event.metaKey || !isKeyAllowed(event.key)) return;
    const index = Number(item.dataset.notice);
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step) {
      const next = Math.max(0, Math.min(all.length - 1, index + step));
      setAt(next);
      list.current?.querySelector<HTMLElement>(`[data-notice="${next}"]`)?.focus();
    } else if (event.key === "e") read(all[index]!);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Page title={t("Inbox")} actions={<button type="button" className="button" aria-disabled={act.isBusy("all")} onClick={readAll}>{t("Mark all as read")}</button>}>
      <div className="row" role="group" aria-label={t("Which")}>
        <button type="button" className="button small" aria-pressed={unread} onClick={() => setUnread(true)}>{t("Unread")}</button>
        <button type="button" className="button small" aria-pressed={!unread} onClick={() => setUnread(false)}>{t("All")}</button>
      </div>
      <section className="panel" aria-label={t("Notifications")} onKeyDown={onKeyDown} {...focus}>
        <WaitPages query={query} empty={<Empty title={unread ? t("All is read") : t("Nothing yet")}><p>{t("What others do to your cards, and whatever names you, comes here.")}</p></Empty>}>
          {(notices) => (
            <ul className="notices" ref={list}>
              {notices.map((notice, index) => (
                <li key={notice.id} className={notice.read ? "read" : undefined}>
                  <button type="button" data-notice={index} tabIndex={index === Math.min(at, notices.length - 1) ? 0 : -1} onFocus={() => setAt(index)} onClick={() => open(notice)}>
                    {notice.actor ? <Face who={notice.actor} decorative /> : <Icon name={icons[notice.kind] ?? "inbox"} />}
                    <span className="grow">
                      <span className="title" dir="auto">{!notice.read && <span className="unseen">{t("Unread:")} </span>}{notice.title}{notice.event_count > 1 && <> <span className="tag">{notice.event_count}</span></>}</span>
                      {notice.body && <span className="soft small clip">{notice.body}</span>}
                    </span>
                    <time className="soft small" dateTime={notice.created_time} title={shown(notice.created_time)}>{ago(notice.created_time)}</time>
                  </button>
                </li>
              ))}
            </ul>
          )}
        </WaitPages>
      </section>
    </Page>
  );
}
