import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link, useParams } from "wouter";
import { inOrg } from "../../api/queries";
import { Refusal } from "../../api/refusal";
import { useCommands, type Command } from "../../app/commands";
import { useSession, useWorkspaceOf } from "../../app/session";
import { useTitle } from "../../app/title";
import { useToday } from "../../app/useToday";
import { t } from "../../app/words";
import { Failure } from "../../parts/Failure";
import { lazy } from "../../parts/lazy";
import { Waiting } from "../../parts/Wait";
import { BoardHead } from "./BoardHead";
import { BulkBar } from "./BulkBar";
import { Columns } from "./Columns";
import { BoardContext, useBoardRecord, type BoardHandle } from "./context";
import { predicate } from "./filter";
import { BoardStore } from "./store";
import { BoardSync, findBoard, readBoard } from "./sync";
import { Toolbar } from "./Toolbar";
import { useBoardAddress } from "./useBoardAddress";
import "./board.css";

const CardPanel = lazy(() => import("../card/CardPanel"), <section className="card-panel card-waiting"><Waiting lines={6} /></section>);
const MoveDialog = lazy(() => import("./MoveDialog"));
const ColumnDialog = lazy(() => import("./ColumnDialog"));
const Lanes = lazy(() => import("./Lanes"), <Waiting />);
const ListView = lazy(() => import("./ListView"), <Waiting />);
const CalendarView = lazy(() => import("./CalendarView"), <Waiting />);

/** The board's store, read once and kept up to date by its events from then on, and the workspace that it is of. */
function useBoardStore(id: string) {
  const { seats } = useSession();
  return useQuery({
    queryKey: ["board", id],
    queryFn: async () => {
      const { snapshot, org } = await findBoard(id, seats.map(({ org_id }) => org_id));
      return { store: new BoardStore(snapshot), org };
    },
    staleTime: Infinity,
    gcTime: 60_000,
    structuralSharing: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

function useSync(store: BoardStore) {
  const client = useQueryClient();
  const [sync, setSync] = useState<BoardSync>();
  useEffect(() => {
    const queue = inOrg("queue", store.board.id);
    let timer = 0;
    const readAgain = () => void client.invalidateQueries({ queryKey: ["board", store.board.id] });
    const begun = new BoardSync(store, {
      gap: readAgain,
      // It may no longer be for them to see. If it is, reading it again would only ask for the same events again.
      lost: () => void readBoard(store.board.id).catch(readAgain),
      event: (kind, card, isOwn) => {
        if (/^(lease|card|column)\./.test(kind))
          timer ||= window.setTimeout(() => {
            timer = 0;
            void client.invalidateQueries({ queryKey: queue });
          }, 600);
        if (card && !(isOwn && kind.startsWith("block."))) void client.invalidateQueries({ queryKey: ["card", card] });
      },
    });
    setSync(begun);
    return () => {
      clearTimeout(timer);
      begun.end();
    };
  }, [store, client]);
  return sync;
}

/** Columns where there will be some. */
const BoardWaiting = () => <div className="board-waiting">{[6, 4, 5].map((lines) => <div key={lines} className="column"><Waiting lines={lines} /></div>)}</div>;

export default function BoardPage() {
  const { id = "" } = useParams();
  const query = useBoardStore(id);
  const isInWorkspace = useWorkspaceOf(query.data?.org);
  // What shows a card is fetched together with the board; what fails here fails there again, and is said.
  useEffect(() => {
    if (new URLSearchParams(location.search).has("card")) CardPanel.preload();
  }, []);
  const isMissing = query.error instanceof Refusal && (query.error.status === 404 || query.error.status === 422);
  if (query.error && (isMissing || !query.data)) {
    return isMissing
      ? <div className="empty"><h1>{t("Nothing here")}</h1><p>{t("There is no such board, or it is not for you to see.")}</p><Link href="/boards" className="button">{t("Your boards")}</Link></div>
      : <div className="page-body"><Failure error={query.error} retry={() => void query.refetch()} /></div>;
  }
  if (!query.data || !isInWorkspace) return <BoardWaiting />;
  return <OpenBoard key={id} store={query.data.store} />;
}

function OpenBoard({ store }: { store: BoardStore }) {
  const sync = useSync(store);
  const { isViewer } = useSession();
  const today = useToday();
  const board = useBoardRecord(store);
  const address = useBoardAddress(board.id);
  const { filter, view, card, openCard, hrefOf } = address;
  const [adding, setAdding] = useState<string | null>(null);
  const [moving, setMoving] = useState<string[] | null>(null);
  const [newColumn, setNewColumn] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  const canEdit = !isViewer && (board.role === "editor" || board.role === "admin") && !board.is_archived && !board.in_trash;
  useTitle(card ? undefined : board.name);

  useEffect(() => {
    store.setFilter(predicate(filter));
  }, [store, filter, today]);

  const lastFocus = useRef<HTMLElement | null>(null);
  const open = useCallback((next: string | undefined) => {
    if (next) lastFocus.current = document.activeElement as HTMLElement | null;
    openCard(next);
    if (!next) setTimeout(() => lastFocus.current?.isConnected && lastFocus.current.focus());
  }, [openCard]);
  const handle = useMemo<BoardHandle | null>(() => (sync ? { store, sync, canEdit, open, hrefOf, today } : null), [store, sync, canEdit, open, hrefOf, today]);

  const group = t("On this board");
  const told = (id: string, label: string, keys: string[]): Command => ({ id, label, keys, group, onlyKeys: true, run: () => undefined });
  useCommands([
    { id: "filter", label: t("Filter the cards"), group, keys: ["/"], icon: "filter", run: () => search.current?.focus() },
    ...(canEdit ? [
      { id: "new card", label: t("Add a card"), group, keys: ["n"], icon: "plus" as const, run: () => { address.setView("board"); setAdding(store.columnOrder()[0] ?? null); } },
      { id: "new column", label: t("New column"), group, icon: "plus" as const, run: () => setNewColumn(true) },
    ] : []),
    { id: "view board", label: t("Show as a board"), group, keys: ["v b"], icon: "boards", run: () => address.setView("board") },
    { id: "view lanes", label: t("Show in lanes"), group, keys: ["v s"], icon: "lanes", run: () => address.setView("lanes") },
    { id: "view list", label: t("Show as a list"), group, keys: ["v l"], icon: "list", run: () => address.setView("list") },
    { id: "view calendar", label: t("Show as a calendar"), group, keys: ["v c"], icon: "calendar", run: () => address.setView("calendar") },
    told("open", t("Open the card"), ["Enter"]),
    ...(view === "calendar" ? [] : [told("walk", t("Go from card to card"), view === "list" ? ["j", "k"] : ["h", "j", "k", "l"])]),
    ...(canEdit && view === "board" ? [told("grab", t("Pick the card up, and drop it"), ["Space"])] : []),
    ...(canEdit && view !== "calendar" ? [
      told("move", t("Move the card by a dialog"), ["m"]),
      told("select", t("Select the card"), ["x"]),
      told("archive", t("Archive the card"), ["e"]),
    ] : []),
  ], [canEdit, view, store, address.setView]);

  if (!handle) return <BoardWaiting />;
  return (
    <BoardContext.Provider value={handle}>
      <div className={`board-page${card ? " with-card" : ""}${card && address.isPage ? " as-page" : ""}`}>
        <div className="board-side">
          <BoardHead />
          <Toolbar filter={filter} onFilter={address.setFilter} view={view} onView={address.setView} search={search} />
          {view === "list" ? <ListView onMove={setMoving} /> : view === "lanes" ? <Lanes by={address.by} onBy={address.setBy} onMove={setMoving} /> : view === "calendar" ? <CalendarView />
            : <Columns adding={adding} onAdd={setAdding} onMove={setMoving} onNewColumn={() => setNewColumn(true)} />}
          {canEdit && <BulkBar onMove={setMoving} />}
        </div>
        {card && <CardPanel key={card} name={card} onMove={(id) => setMoving([id])} isPage={address.isPage} onPage={address.setPage} />}
        {moving && <MoveDialog cards={moving} onClose={() => setMoving(null)} />}
        {newColumn && <ColumnDialog after={store.columnOrder().at(-1)} onClose={() => setNewColumn(false)} />}
      </div>
    </BoardContext.Provider>
  );
}
