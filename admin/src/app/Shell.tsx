import { useEffect, useState, type ReactNode } from "react";
import { useLocation } from "wouter";
import { undoNewest } from "../parts/toasts";
import { Icon } from "../parts/Icon";
import { lazy } from "../parts/lazy";
import { useCommands, useKeys, type Command } from "./commands";
import { LostSign, Sidebar } from "./Sidebar";
import { places } from "./places";
import { useLiveLists } from "./liveLists";
import { serves } from "./serves";
import { useSession } from "./session";
import { t } from "./words";
import "./shell.css";

const Palette = lazy(() => import("./Palette"));
const Keys = lazy(() => import("./Keys"));
const Calls = lazy(() => import("./Calls"));
const SurveyPrompt = lazy(() => import("../screens/feedback/SurveyPrompt"));

/** The frame around every page that needs a session. */
export default function Shell({ children }: { children: ReactNode }) {
  const [path, go] = useLocation();
  const [palette, setPalette] = useState(false);
  const [keys, setKeys] = useState(false);
  const [calls, setCalls] = useState(false);
  const [drawer, setDrawer] = useState(false);
  const session = useSession();
  useLiveLists();

  useEffect(() => setDrawer(false), [path]);
  useKeys();

  const commands: Command[] = [
    { id: "palette", label: t("Find or do something"), group: t("Everywhere"), keys: ["mod+k"], icon: "search", run: () => setPalette(true) },
    { id: "keys", label: t("Show the keys"), group: t("Everywhere"), keys: ["?"], icon: "list", run: () => setKeys(true) },
    { id: "calls", label: t("Show calls as curl and MCP"), group: t("Everywhere"), keys: ["g c"], icon: "copy", run: () => setCalls(true) },
    { id: "undo", label: t("Undo"), group: t("Everywhere"), keys: ["mod+z"], notWhileWriting: true, run: undoNewest },
    ...places(session).map((place): Command => ({
      id: `go ${place.path}`, label: t("Go to {{place}}", { place: place.label }), group: t("Go to"), icon: place.icon,
      keys: place.key ? [`g ${place.key}`] : undefined, run: () => go(place.path),
    })),
  ];
  useCommands(commands, [session]);

  return (
    <div className="shell">
      <a className="skip" href="#main">{t("Skip to the page")}</a>
      <header className="topbar">
        <button type="button" className="button quiet icon" aria-label={t("Menu")} aria-expanded={drawer} onClick={() => setDrawer(!drawer)}>
          <Icon name="menu" />
        </button>
        <span className="clip grow">{session.seat?.org_name ?? "Workboard"}</span>
        <LostSign />
        <button type="button" className="button quiet icon" aria-label={t("Find or do something")} onClick={() => setPalette(true)}>
          <Icon name="search" />
        </button>
      </header>
      {drawer && <div className="drawer-shade" onClick={() => setDrawer(false)} aria-hidden="true" />}
      <Sidebar open={drawer} onFind={() => setPalette(true)} onKeys={() => setKeys(true)} onCalls={() => setCalls(true)} />
      <main id="main" tabIndex={-1}>{children}</main>
      {palette && <Palette onClose={() => setPalette(false)} />}
      {keys && <Keys onClose={() => setKeys(false)} />}
      {calls && <Calls onClose={() => setCalls(false)} />}
      {serves("get_my_surveys") && session.seat && <SurveyPrompt />}
    </div>
  );
}
