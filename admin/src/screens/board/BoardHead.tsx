import { useState, useSyncExternalStore } from "react";
import { useLocation } from "wouter";
import { useQueryClient } from "@tanstack/react-query";
import { api, ask } from "../../api/client";
import { inOrg } from "../../api/queries";
import { useSession } from "../../app/session";
import { serves } from "../../app/serves";
import { t } from "../../app/words";
import { lazy } from "../../parts/lazy";
import { Menu, type Choice } from "../../parts/Menu";
import { useMenuCommands } from "../../parts/menuCommands";
import { toast, toastError } from "../../parts/toasts";
import { Face } from "../../parts/Who";
import { useBoard, useBoardRecord } from "./context";

const BoardDialog = lazy(() => import("./BoardDialog"));
const ShareDialog = lazy(() => import("./ShareDialog"));
const LabelsDialog = lazy(() => import("./LabelsDialog"));
const AccessDialog = lazy(() => import("./AccessDialog"));
type Open = "" | "settings" | "share" | "labels" | "access";

/** Who else follows the board just now. */
function Presence() {
  const { sync } = useBoard();
  const { me } = useSession();
  const all = useSyncExternalStore(sync.onPresence, sync.getPresent);
  const others = all.filter(({ id }) => id !== me.id);
  if (others.length === 0) return null;
  return (
    <span className="whos" role="group" aria-label={t("{{count}} here now", { count: others.length })}>
      {others.slice(0, 5).map((who) => <Face key={who.id} who={who} />)}
      {others.length > 5 && <span className="who">+{others.length - 5}</span>}
    </span>
  );
}

export function BoardHead() {
  const { store, canEdit } = useBoard();
  const { isViewer } = useSession();
  const client = useQueryClient();
  const [, go] = useLocation();
  const [shown, setShown] = useState<Open>("");
  const board = useBoardRecord(store);
  const { in_trash, is_archived } = board;
  const isBoardAdmin = board.role === "admin";
  const params = { path: { board_id: board.id } };
  const after = () => void client.invalidateQueries({ queryKey: inOrg("boards") });
  const restore = () => ask(api.POST("/v1/boards/{board_id}:restore", { params })).then((given) => { store.setBoard(given, store.columns()); after(); });
  const archive = async () => {
    store.setBoard(await ask(api.POST("/v1/boards/{board_id}:archive", { params })), store.columns());
    after();
    toast({ text: t("The board is archived"), undo: () => void restore().catch(toastError) });
  };
  const duplicate = async () => {
    const copy = await ask(api.POST("/v1/boards/{board_id}:duplicate", { params, body: {} }));
    after();
    go(`/boards/${copy.id}`);
  };
  const remove = async () => {
    await ask(api.DELETE("/v1/boards/{board_id}", { params }));
    after();
    go("/boards");
    toast({ text: t("The board is in the trash"), undo: () => void restore().catch(toastError) });
  };
  const choices: Choice[] = [
    { id: "settings", label: t("Name and description…"), icon: "gear", disabled: !canEdit, run: () => setShown("settings") },
    { id: "labels", label: t("Labels and properties…"), icon: "flag", disabled: !canEdit, run: () => setShown("labels") },
    { id: "share", label: t("Share by a link…"), icon: "share", disabled: !isBoardAdmin || in_trash || !serves("get_shared_board"), run: () => setShown("share") },
    { id: "access", label: t("Access…"), icon: "people", disabled: !isBoardAdmin || in_trash, run: () => setShown("access") },
    { id: "copy", label: t("Duplicate"), icon: "copy", disabled: isViewer || in_trash, run: () => void duplicate().catch(toastError) },
    is_archived
      ? { id: "restore", label: t("Restore from the archive"), icon: "bin", disabled: !isBoardAdmin || in_trash, run: () => void restore().catch(toastError) }
      : { id: "archive", label: t("Archive"), icon: "bin", disabled: !isBoardAdmin || in_trash, run: () => void archive().catch(toastError) },
    { id: "delete", label: t("Delete"), icon: "bin", danger: true, disabled: !isBoardAdmin || in_trash, run: () => void remove().catch(toastError) },
  ];
  useMenuCommands(t("Board"), choices, [board, canEdit, isViewer]);
  return (
    <header className="page-head board-head">
      <h1 className="clip" dir="auto" title={board.name}>{board.icon?.emoji ? `${board.icon.emoji} ` : ""}{board.name}</h1>
      {board.visibility === "private" && <span className="tag">{t("private")}</span>}
      {in_trash && (
        <>
          <span className="tag warn">{t("in the trash")}</span>
          {isBoardAdmin && <button type="button" className="button small" onClick={() => void restore().catch(toastError)}>{t("Restore")}</button>}
        </>
      )}
      {is_archived && !in_trash && <span className="tag warn">{t("archived: to be read only")}</span>}
      {!canEdit && !is_archived && !in_trash && <span className="tag">{t("you may read it")}</span>}
      <Presence />
      <Menu label={t("About this board")} choices={choices} />
      {shown === "settings" && <BoardDialog onClose={() => setShown("")} />}
      {shown === "share" && <ShareDialog onClose={() => setShown("")} />}
      {shown === "labels" && <LabelsDialog onClose={() => setShown("")} />}
      {shown === "access" && <AccessDialog onClose={() => setShown("")} />}
    </header>
  );
}
