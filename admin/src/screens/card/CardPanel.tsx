import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ClipboardEvent, type DragEvent } from "react";
import { Redirect } from "wouter";
import { api, ask } from "../../api/client";
import { Refusal } from "../../api/refusal";
import { useCommands } from "../../app/commands";
import { serves } from "../../app/serves";
import { useTitle } from "../../app/title";
import { t } from "../../app/words";
import { copied } from "../../parts/clipboard";
import { Icon } from "../../parts/Icon";
import { lazy } from "../../parts/lazy";
import { Menu, type Choice } from "../../parts/Menu";
import { useMenuCommands } from "../../parts/menuCommands";
import { toast, toastError } from "../../parts/toasts";
import { Waiting } from "../../parts/Wait";
import { changeCards, duplicateCard, archiveOrDelete } from "../board/actions";
import { useBoard, useCard } from "../board/context";
import type { Card } from "../board/store";
import { Attachments, type AttachmentsHandle } from "./Attachments";
import { Attempts } from "./Attempts";
import { Comments } from "./Comments";
import { Dependencies } from "./Dependencies";
import { History } from "./History";
import { Properties } from "./Properties";
import { Watch } from "./Watch";
import "./card.css";

const BlockEditor = lazy(() => import("../../editor/BlockEditor"), <Waiting />);
if (serves("list_block_children")) BlockEditor.preload(); // while the card is asked for

interface Shown {
  onMove: (id: string) => void;
  /** Whether it has the screen to itself. */
  isPage: boolean;
  onPage: (next: boolean) => void;
}

type Tab = "comments" | "history" | "attempts";

/** A card beside its board, or in its place on a small screen. `name` is its id, or its key. */
export default function CardPanel({ name, ...shown }: { name: string } & Shown) {
  const { store, open } = useBoard();
  const id = store.find(name)?.id ?? name;
  const card = useCard(store, id);
  // Read once for what the board leaves out, such as long values; from then on events tell.
  const whole = useQuery({
    queryKey: ["card-whole", name],
    queryFn: async () => {
      const given = (await ask(api.GET("/v1/cards/{card_id}", { params: { path: { card_id: name } } }))) as Card;
      if (given.board_id === store.board.id) store.put(given);
      return given;
    },
    staleTime: 0,
    retry: false,
  });
  const found = card ?? (whole.data ? store.card(whole.data.id) : undefined);
  if (found) return <OpenCard id={found.id} {...shown} />;
  if (whole.data && whole.data.board_id !== store.board.id) return <Redirect to={`/cards/${whole.data.id}`} replace />;
  return (
    <section className="card-panel" aria-label={t("Card")}>
      {whole.error
        ? (
          <div className="empty">
            <h2>{t("Nothing here")}</h2>
            <p>{whole.error instanceof Refusal && whole.error.status === 404 ? t("There is no such card, or it is not for you to see.") : whole.error.message}</p>
            <button type="button" className="button" onClick={() => open(undefined)}>{t("Close")}</button>
          </div>
        ) : <Waiting />}
    </section>
  );
}

function Title({ card }: { card: Card }) {
  const { store, canEdit } = useBoard();
  const field = useRef<HTMLTextAreaElement>(null);
  const [written, setWritten] = useState<string>(); // until it is left: others may give the card another title meanwhile
  const title = written ?? card.title;
  useEffect(() => {
    const { current } = field;
    if (!current) return;
    current.style.height = "0";
    current.style.height = `${current.scrollHeight}px`;
  }, [title]);
  const save = () => {
    const next = written?.trim();
    setWritten(undefined);
    if (next && next !== card.title) void changeCards(store, [card.id], () => ({ title: next }), () => ({ title: next }));
  };
  if (!canEdit) return <h1 className="card-title" dir="auto">{card.title}</h1>;
  return (
    <h1 className="card-title">
      <span className="unseen">{card.title}</span>
      <textarea ref={field} aria-label={t("Title")} dir="auto" rows={1} value={title} maxLength={500} onChange={(event) => setWritten(event.target.value.replace(/\n/g, " "))} onBlur={save}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            event.currentTarget.blur();
          } else if (event.key === "Escape") {
            setWritten(undefined);
            event.stopPropagation();
          }
        }} />
    </h1>
  );
}

function OpenCard({ id, onMove, isPage, onPage }: { id: string } & Shown) {
  const { store, canEdit: canEditBoard, open } = useBoard();
  const card = useCard(store, id)!;
  const [tab, setTab] = useState<Tab>("comments");
  const panel = useRef<HTMLElement>(null);
  const attachments = useRef<AttachmentsHandle>(null);
  const [dropping, setDropping] = useState(false);
  useTitle(`${card.key} ${card.title}`);
  const canEdit = canEditBoard && !card.is_archived && !card.in_trash;
  const place = store.place(id);
  const beside = (by: number) => (place ? store.shown(place.column)[place.index + by] : undefined);

  useEffect(() => {
    panel.current?.focus();
  }, [id]);
  const close = () => open(undefined);
  const group = t("On this card");
  useCommands([
    { id: "card next", label: t("Next card"), group, keys: ["]"], icon: "down", run: () => { const next = beside(1); if (next) open(next); } },
    { id: "card before", label: t("Card before"), group, keys: ["["], icon: "down", run: () => { const before = beside(-1); if (before) open(before); } },
    { id: "card close", label: t("Close the card"), group, keys: ["Escape"], icon: "close", run: close },
    { id: "card page", label: isPage ? t("Show the card beside the board") : t("Show the card as a page"), group, keys: ["f"], icon: "expand", run: () => onPage(!isPage) },
    { id: "card comment", label: t("Write a comment"), group, keys: ["c"], icon: "comment", run: () => { setTab("comments"); setTimeout(() => panel.current?.querySelector<HTMLElement>(".new-comment textarea")?.focus()); } },
    ...(canEdit ? [{ id: "card move", label: t("Move this card"), group, keys: ["m"], icon: "right" as const, run: () => onMove(id) }] : []),
  ], [id, canEdit, place?.index, place?.column, isPage, onPage]);

  // What the text did not take for a picture of its own is attached.
  const take = (event: ClipboardEvent | DragEvent, files: FileList) => {
    setDropping(false);
    if (event.isDefaultPrevented() || files.length === 0 || !canEdit || !attachments.current) return;
    event.preventDefault();
    attachments.current.take([...files]);
  };
  const restore = async () => store.put((await ask(api.POST("/v1/cards/{card_id}:restore", { params: { path: { card_id: id } } }))) as Card);
  const choices: Choice[] = [
    { id: "move", label: t("Move…"), icon: "right", disabled: !canEdit, run: () => onMove(id) },
    { id: "link", label: t("Copy the link"), icon: "link", run: () => void copied(card.url).then((isDone) => toast(isDone ? t("The link is copied") : card.url)) },
    { id: "copy", label: t("Duplicate"), icon: "copy", disabled: !canEditBoard, run: () => void duplicateCard(store, id) },
    { id: "archive", label: t("Archive"), icon: "bin", disabled: !canEdit, run: () => { void archiveOrDelete(store, [id], "archive"); close(); } },
    { id: "delete", label: t("Delete"), icon: "bin", danger: true, disabled: !canEdit, run: () => { void archiveOrDelete(store, [id], "delete"); close(); } },
  ];
  useMenuCommands(t("Card"), choices, [card, canEdit, canEditBoard, open, onMove]);
  const tabs: [Tab, string][] = [["comments", t("Comments")], ["history", t("History")], ["attempts", t("Attempts")]];
  return (
    <section className={`card-panel${dropping ? " dropping" : ""}`} aria-label={t("Card {{key}}", { key: card.key })} ref={panel} tabIndex={-1}
      onPaste={(event) => take(event, event.clipboardData.files)} onDrop={(event) => take(event, event.dataTransfer.files)}
      onDragOver={(event) => {
        if (!canEdit || !event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={(event) => { if (!event.currentTarget.contains(event.relatedTarget as Node)) setDropping(false); }}>
      <header className="row">
        <span className="mono soft">{card.key}</span>
        <span className="tag">{store.column(card.column_id)?.name}</span>
        <span className="grow" />
        <button type="button" className="button quiet icon" aria-label={t("Card before")} disabled={!beside(-1)} onClick={() => open(beside(-1))}><span style={{ rotate: "180deg", display: "grid" }}><Icon name="down" /></span></button>
        <button type="button" className="button quiet icon" aria-label={t("Next card")} disabled={!beside(1)} onClick={() => open(beside(1))}><Icon name="down" /></button>
        <button type="button" className="button quiet icon as-page-toggle" aria-label={t("As a page")} title={t("As a page")} aria-pressed={isPage} onClick={() => onPage(!isPage)}><Icon name="expand" /></button>
        <Watch card={id} />
        <Menu label={t("About this card")} choices={choices} />
        <button type="button" className="button quiet icon" aria-label={t("Close the card")} onClick={close}><Icon name="close" /></button>
      </header>
      {(card.is_archived || card.in_trash) && (
        <p className="away-note row">
          <span className="grow">{card.in_trash ? t("This card is in the trash.") : t("This card is archived.")}</span>
          {canEditBoard && <button type="button" className="button small" onClick={() => void restore().catch(toastError)}>{t("Restore")}</button>}
        </p>
      )}
      <Title card={card} />
      <Properties card={card} canEdit={canEdit} />
      <Dependencies card={card} canEdit={canEdit} />
      {serves("list_attachments") && <Attachments key={id} card={id} canEdit={canEdit} handle={attachments} />}
      {serves("list_block_children") && (
        <BlockEditor key={`${id} ${canEdit}`} card={id} editable={canEdit} />
      )}
      <div className="card-tabs" role="tablist" aria-label={t("More about the card")}>
        {tabs.map(([each, label]) => (
          <button key={each} type="button" role="tab" id={`tab-${each}`} aria-selected={tab === each} aria-controls="card-tab" tabIndex={tab === each ? 0 : -1} onClick={() => setTab(each)}
            onKeyDown={(event) => {
              const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
              if (!step) return;
              const at = tabs.findIndex(([name]) => name === tab);
              const [next] = tabs[(at + step + tabs.length) % tabs.length]!;
              setTab(next);
              document.getElementById(`tab-${next}`)?.focus();
            }}>
            {label}{each === "comments" && card.comment_count > 0 && <span className="tag">{card.comment_count}</span>}
          </button>
        ))}
      </div>
      <div id="card-tab" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === "comments" ? <Comments card={id} /> : tab === "history" ? <History card={card} canEdit={canEdit} /> : <Attempts card={card} canEdit={canEdit} />}
      </div>
    </section>
  );
}
