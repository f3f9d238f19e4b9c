import { useInfiniteQuery } from "@tanstack/react-query";
import { useRef, useState, useSyncExternalStore } from "react";
import { useParams } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { Refusal } from "../../api/refusal";
import { briefly, shown } from "../../app/time";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { Facts } from "../../parts/Facts";
import { Failure } from "../../parts/Failure";
import { Labels } from "../../parts/Labels";
import { Markdown } from "../../parts/markdown";
import { Waiting } from "../../parts/Wait";
import { nameOf } from "../../parts/Who";
import { Door, DoorForm } from "../sign-in/Door";
import "./shared.css";

type Shared = Schemas["SharedBoard"];
type Card = Schemas["SharedCard"];

const useHash = () =>
  useSyncExternalStore((listener) => (addEventListener("hashchange", listener), () => removeEventListener("hashchange", listener)), () => location.hash);

/** Its bytes in UTF-8, each as a character: browsers put no others into a header. */
const asHeader = (password: string | undefined) =>
  password ? { "x-svc-share-password": String.fromCharCode(...new TextEncoder().encode(password)) } : {};

function useShared(token: string, card_id: string | undefined, password: string | undefined) {
  return useInfiniteQuery({
    queryKey: ["shared", token, card_id, password],
    queryFn: ({ pageParam }) => ask(api.GET("/v1/shared/{token}", {
      params: {
        path: { token },
        query: { page_size: 50, card_id, start_cursor: pageParam },
        header: asHeader(password),
      },
    })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: () => undefined,
    retry: false,
  });
}

function Tile({ card }: { card: Card }) {
  const small = [card.due && briefly(card.due), card.assignees.map(nameOf).join(", ")].filter(Boolean).join(" · ");
  return (
    <li className="card">
      <span className="soft small">{card.key}</span>
      <a href={`#${card.id}`} dir="auto">{card.title}</a>
      <Labels labels={card.labels} />
      {small && <span className="soft small">{small}</span>}
    </li>
  );
}

function Column({ column, more }: { column: Shared["columns"][number]; more: (cursor: string) => Promise<Shared> }) {
  const [pages, setPages] = useState<Shared["columns"][number][]>([]);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const all = [column, ...pages];
  const cursor = all.at(-1)!.next_cursor;
  const next = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const page = (await more(cursor!)).columns.find(({ id }) => id === column.id);
      if (page) setPages([...pages, page]);
    } catch (why) {
      setError(why);
    }
    setBusy(false);
  };
  const cards = all.flatMap((each) => each.cards);
  return (
    <section className="shared-column" aria-labelledby={`column-${column.id}`}>
      <h2 id={`column-${column.id}`}>{column.name} <span className="soft small">{column.card_count}</span></h2>
      {cards.length ? <ul>{cards.map((card) => <Tile key={card.id} card={card} />)}</ul> : <p className="soft">{t("No cards.")}</p>}
      <Failure error={error} />
      {cursor && <Button type="button" busy={busy} onClick={() => void next()}>{t("Show more")}</Button>}
    </section>
  );
}

function OneCard({ card, board, back }: { card: Card; board: Shared; back: boolean }) {
  return (
    <Door title={card.title} wide="text">
      <p className="soft">{back && <><a href="#">{board.name}</a> · </>}{card.key}</p>
      <Labels labels={card.labels} />
      <Facts rows={[
        [t("Assigned to"), card.assignees.map(nameOf).join(", ")],
        [t("Due"), card.due && shown(card.due)],
        [t("Start"), card.start && shown(card.start)],
        [t("Priority"), card.priority === "none" ? undefined : t(card.priority)],
        [t("Estimate"), card.estimate],
        [t("Completed"), card.completed_at && shown(card.completed_at)],
      ]} properties={card.properties} />
      {card.markdown ? <Markdown text={card.markdown} /> : <p className="soft">{t("Nothing is written on this card.")}</p>}
    </Door>
  );
}

/** What a share link shows. */
export default function SharedPage() {
  const { token = "" } = useParams();
  const hash = useHash();
  const only = /^#([\w-]{36})$/.exec(hash)?.[1];
  const [password, setPassword] = useState<string>();
  const query = useShared(token, only, password);
  const { error } = query;
  const opened = useRef(false);
  if (query.data) opened.current = true;
  const isLocked = error instanceof Refusal && (error.reason === "password_required" || error.reason === "wrong_password");
  // While a password is on its way, its form stays.
  if (isLocked || (password !== undefined && !opened.current && query.isPending))
    return (
      <Door title={t("This link has a password")}>
        <DoorForm id="unlock" send={t("Open")} busy={query.isFetching} says={isLocked && error.reason === "wrong_password" && t("That is not the link's password.")} onSend={({ password: word }) => setPassword(word)}>
          <div className="field">
            <label htmlFor="password">{t("Password")}</label>
            <input className="input" id="password" name="password" type="password" autoComplete="off" required maxLength={128} autoFocus />
          </div>
        </DoorForm>
      </Door>
    );
  if (error)
    return (
      error instanceof Refusal && error.status === 404
        ? <Door title={t("Nothing here")} says={t("There is no such link. It was withdrawn, or has run out, or is incomplete.")} />
        : <Door title={t("Shared board")} wide><Failure error={error} retry={() => void query.refetch()} /></Door>
    );
  const board = query.data?.pages[0];
  if (!board) return <Door title={t("Shared board")} wide><div className="shared-columns">{[3, 5, 4].map((lines) => <div key={lines} className="shared-column"><Waiting lines={lines} /></div>)}</div></Door>;
  const cards = board.columns.flatMap((each) => each.cards);
  const single = cards.length === 1 && cards[0]!.markdown !== null;
  if (cards[0] && (only || single)) return <OneCard card={cards[0]} board={board} back={Boolean(only)} />;
  const more = (start_cursor: string) => ask(api.GET("/v1/shared/{token}", {
    params: { path: { token }, query: { page_size: 50, start_cursor }, header: asHeader(password) },
  }));
  return (
    <Door title={board.icon?.emoji ? `${board.icon.emoji} ${board.name}` : board.name} wide>
      {board.description && <p className="lead">{board.description}</p>}
      <div className="shared-columns" tabIndex={0} role="region" aria-label={t("Columns")}>
        {board.columns.map((column) => <Column key={column.id} column={column} more={more} />)}
      </div>
    </Door>
  );
}
