import { useQuery } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { Link, useLocation } from "wouter";
import { api, ask } from "../api/client";
import { live } from "../api/live";
import { inOrg } from "../api/queries";
import { Icon } from "../parts/Icon";
import { lazy } from "../parts/lazy";
import { toastError } from "../parts/toasts";
import { Face } from "../parts/Who";
import { places, type Place } from "./places";
import { serves } from "./serves";
import { signOut, useSession } from "./session";
import { countUnread } from "./title";
import { t } from "./words";

const Switcher = lazy(() => import("./Switcher"), <div className="button quiet switcher" aria-hidden="true" />);

const states = () => ({
  off: "",
  connecting: t("Connecting…"),
  live: t("Live"),
  lost: t("Not connected: what is shown may be old"),
});

/** Whether changes by others show at once. */
function LiveState() {
  const state = useSyncExternalStore(live.onState, live.getState);
  if (state === "off") return null;
  return <span className={`live ${state}`} role="status"><span aria-hidden="true" />{states()[state]}</span>;
}

/** Where the other one is out of sight. */
export function LostSign() {
  const state = useSyncExternalStore(live.onState, live.getState);
  return state === "lost" ? <span className="tag warn" role="status">{t("Not connected")}</span> : null;
}

/** How much is unread; the title of the page says so, too. */
function Unread() {
  const count = useQuery({ queryKey: inOrg("notifications", "count"), queryFn: () => ask(api.GET("/v1/notifications/count")) }).data?.unread_count ?? 0;
  useEffect(() => countUnread(count), [count]);
  return count ? <span className="tag good">{count > 99 ? "99+" : count}<span className="unseen"> {t("unread")}</span></span> : null;
}

export function Sidebar({ open, onFind, onKeys, onCalls }: { open: boolean; onFind: () => void; onKeys: () => void; onCalls: () => void }) {
  const [path] = useLocation();
  const session = useSession();
  const all = places(session);
  const line = (place: Place) => {
    const current = path === place.path || path.startsWith(place.path + "/") || (place.path === "/boards" && path.startsWith("/cards/"));
    return (
      <li key={place.path}>
        <Link href={place.path} aria-current={current ? "page" : undefined}><Icon name={place.icon} /><span className="grow">{place.label}</span>{place.path === "/inbox" && <Unread />}</Link>
      </li>
    );
  };
  return (
    <nav className={`sidebar${open ? " open" : ""}`} aria-label={t("Workspace")}>
      <Switcher />
      <button type="button" className="button find" onClick={onFind}>
        <Icon name="search" /><span className="grow">{t("Find or do…")}</span><kbd>Ctrl K</kbd>
      </button>
      <ul>{all.filter(({ group }) => group === "work").map(line)}</ul>
      <h2 className="small soft">{t("Workspace")}</h2>
      <ul>
        {all.filter(({ group }) => group === "workspace").map(line)}
        {serves("/docs") && <li><a href="/docs"><Icon name="book" />{t("API reference")}</a></li>}
      </ul>
      <div className="foot">
        <LiveState />
        <div className="row self">
          <Link href="/account" className="me grow" aria-current={path === "/account" ? "page" : undefined}>
            <Face who={session.me} decorative />
            <span className="clip" title={session.me.email ?? undefined}>{session.me.name ?? session.me.email}</span>
          </Link>
          <button type="button" className="button quiet small" onClick={() => void signOut().catch(toastError)}>{t("Sign out")}</button>
        </div>
        <div className="row" style={{ gap: "0.2rem" }}>
          {serves("create_feedback") && <Link href={`/feedback?from=${encodeURIComponent(path)}`} className="button quiet small">{t("Feedback")}</Link>}
          <button type="button" className="button quiet small" onClick={onKeys} title="?">{t("Keys")}</button>
          <button type="button" className="button quiet small" onClick={onCalls} title={t("What this page has called, as curl and as MCP call")}>{t("Calls")}</button>
        </div>
      </div>
    </nav>
  );
}
