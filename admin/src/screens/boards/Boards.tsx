import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { Schemas } from "../../api/client";
import { boardsQuery, inOrg } from "../../api/queries";
import { useCommands } from "../../app/commands";
import { NewWorkspace } from "../../app/NewWorkspace";
import { serves } from "../../app/serves";
import { useSession } from "../../app/session";
import { ago } from "../../app/time";
import { useTitle } from "../../app/title";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { Failure } from "../../parts/Failure";
import { Icon } from "../../parts/Icon";
import { lazy } from "../../parts/lazy";
import { Wait } from "../../parts/Wait";
import { makeDemonstration } from "./demonstration";
import "./boards.css";

const NewBoard = lazy(() => import("./NewBoard"));
const ConnectAgent = lazy(() => import("./ConnectAgent"));

function BoardCard({ board }: { board: Schemas["Board"] }) {
  return (
    <li className="panel board-card">
      <span className="face" aria-hidden="true">{board.icon?.emoji ?? board.key.slice(0, 2)}</span>
      <div className="grow">
        <Link href={`/boards/${board.id}`} className="clip" dir="auto" title={board.name}>{board.name}</Link>
        <p className="soft small clip" title={board.description ?? undefined}>{board.description ?? t("{{count}} cards", { count: board.card_count })}</p>
        <p className="soft small">
          <span className="mono">{board.key}</span> · {t("changed {{when}}", { when: ago(board.last_edited_time) })}
          {board.visibility === "private" && <> · {t("private")}</>}
        </p>
      </div>
    </li>
  );
}

/** For people who have no boards yet: what there is to do, by one press. */
function NoBoards({ onNew, onDemo, busy, error }: { onNew: () => void; onDemo: () => void; busy: boolean; error: unknown }) {
  return (
    <div className="empty panel">
      <h2>{t("No boards yet")}</h2>
      <p>{t("A demonstration board comes with cards and a queue that an agent can work on at once; you can delete it whenever you like.")}</p>
      <div className="row" style={{ justifyContent: "center" }}>
        <Button type="button" className="button go" busy={busy} onClick={onDemo}>{busy ? t("One moment…") : t("Create a demonstration board")}</Button>
        <button type="button" className="button" onClick={onNew}>{t("Create an empty board")}</button>
      </div>
      <Failure error={error} />
    </div>
  );
}

export default function Boards() {
  useTitle(t("Boards"));
  const { seat, isViewer, me } = useSession();
  const client = useQueryClient();
  const [, go] = useLocation();
  const [making, setMaking] = useState(false);
  const [connecting, setConnecting] = useState<Schemas["Board"]>();
  const [opening, setOpening] = useState(false);
  // Events of grants go to admins alone, so who got one is shown the board when they come here.
  const boards = useQuery({ ...boardsQuery(), enabled: Boolean(seat), staleTime: 0 });
  const demo = useMutation({
    mutationFn: makeDemonstration,
    onSuccess: (board) => {
      void client.invalidateQueries({ queryKey: inOrg("boards") });
      setConnecting(board);
    },
  });
  useCommands(isViewer || !seat ? [] : [
    { id: "new board", label: t("New board"), group: t("Boards"), keys: ["n"], icon: "plus", run: () => setMaking(true) },
    { id: "demo board", label: t("Create a demonstration board"), group: t("Boards"), icon: "boards", run: () => demo.mutate() },
  ], [isViewer, seat]);
  if (!seat)
    return (
      <div className="empty">
        <h1>{t("Welcome, {{name}}", { name: me.name ?? me.email })}</h1>
        <p>{t("You are in no workspace yet. Open one, or accept an invitation: it is in your mail, and in the list of workspaces.")}</p>
        <button type="button" className="button go" onClick={() => setOpening(true)}>{t("Open a workspace")}</button>
        {opening && <NewWorkspace onClose={() => setOpening(false)} />}
      </div>
    );
  return (
    <>
      <header className="page-head">
        <h1>{t("Boards")}</h1>
        {!isViewer && <button type="button" className="button go" onClick={() => setMaking(true)}><Icon name="plus" />{t("New board")}</button>}
      </header>
      <div className="page-body">
        <Wait query={boards}>
          {(all) => all.length === 0
            ? (isViewer ? <p className="empty">{t("There are no boards that you may see.")}</p>
              : <NoBoards onNew={() => setMaking(true)} onDemo={() => demo.mutate()} busy={demo.isPending} error={demo.error} />)
            : <ul className="boards">{all.map((board) => <BoardCard key={board.id} board={board} />)}</ul>}
        </Wait>
        {Boolean(boards.data?.length) && <Failure error={demo.error} />}
      </div>
      {making && <NewBoard onClose={() => setMaking(false)} />}
      {connecting && (serves("claim_next_card")
        ? <ConnectAgent board={connecting} onClose={() => { setConnecting(undefined); go(`/boards/${connecting.id}`); }} />
        : null)}
    </>
  );
}
