import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useId, useRef, useState, type KeyboardEvent } from "react";
import { useLocation } from "wouter";
import { api, ask } from "../api/client";
import { boardsQuery, inOrg } from "../api/queries";
import { Dialog } from "../parts/Dialog";
import { Failure } from "../parts/Failure";
import { Icon, type IconName } from "../parts/Icon";
import { untilClosed } from "../parts/Menu";
import { actionsOnPage } from "./actionsOnPage";
import { keyName, useAllCommands } from "./commands";
import { serves } from "./serves";
import { useSession } from "./session";
import { t } from "./words";

interface Hit {
  id: string;
  label: string;
  note?: string;
  icon: IconName;
  keys?: string;
  run: () => void;
}

const fits = (label: string, words: string[]) => words.every((word) => label.toLowerCase().includes(word));

const cardKey = /^[a-z][a-z0-9]*-[0-9]+$/i;

/** Finds cards and boards, and does whatever has a command. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState<string>(); // what the arrow keys led to: what comes in above it does not change that
  const [, go] = useLocation();
  const { seat } = useSession();
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const wanted = useDeferredValue(query.trim());
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const commands = useAllCommands();
  const [onPage] = useState(actionsOnPage);
  const boards = useQuery({ ...boardsQuery(), enabled: Boolean(seat) });
  const found = useQuery({
    queryKey: inOrg("search", wanted),
    queryFn: ({ signal }) => ask(api.POST("/v1/search", { body: { query: wanted, page_size: 12 }, signal })),
    enabled: Boolean(seat) && serves("search") && wanted.length > 1,
    placeholderData: (before) => before,
  });

  const byKey = useQuery({
    queryKey: inOrg("search", "key", wanted),
    queryFn: ({ signal }) => ask(api.GET("/v1/cards/{card_id}", { params: { path: { card_id: wanted } }, signal })),
    enabled: Boolean(seat) && cardKey.test(wanted),
    retry: false,
  });

  const hits: Hit[] = [
    ...(byKey.data ? [byKey.data] : []).map((card): Hit => ({
      id: card.id, label: `${card.key} ${card.title}`, icon: "text", run: () => go(`/cards/${card.id}`),
    })),
    ...(boards.data ?? []).filter(({ name, key }) => words.length > 0 && fits(`${name} ${key}`, words)).slice(0, 6).map((board): Hit => ({
      id: board.id, label: board.name, note: board.key, icon: "boards", run: () => go(`/boards/${board.id}`),
    })),
    ...(wanted.length > 1 ? found.data?.results ?? [] : []).filter(({ object, id }) => object !== "board" && id !== byKey.data?.id).map((result): Hit => {
      const card = result as { id: string; key: string; title: string; card_id?: string | null; highlight: { text: string }[]; object: string };
      const text = card.object === "card" ? undefined : card.highlight.map(({ text: piece }) => piece).join("").slice(0, 90);
      return { id: card.id, label: `${card.key} ${card.title}`, note: text, icon: card.object === "comment" ? "comment" : "text", run: () => go(`/cards/${card.card_id ?? card.id}`) };
    }),
    ...commands.filter((each) => !each.onlyKeys && each.id !== "palette" && fits(`${each.group} ${each.label}`, words)).map((each): Hit => ({
      id: each.id, label: each.label, note: each.group, icon: each.icon ?? "right", keys: each.keys?.[0], run: each.run,
    })),
    ...onPage.filter(({ label }) => fits(`${t("On this page")} ${label}`, words) && !commands.some((each) => each.label === label)).map((each): Hit => ({
      id: `page ${each.label}`, label: each.label, note: t("On this page"), icon: "right", run: each.run,
    })),
  ];
  const chosen = hits.find((hit) => hit.id === at) ?? hits[0];
  const choose = (hit: Hit | undefined) => {
    if (!hit) return;
    onClose();
    setTimeout(hit.run, untilClosed);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && chosen) {
      const next = (hits.indexOf(chosen) + step + hits.length) % hits.length;
      setAt(hits[next]!.id);
      list.current?.children[next]?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") choose(chosen);
    else return;
    event.preventDefault();
  };

  return (
    <Dialog title={t("Find or do something")} onClose={onClose}>
      <input className="input" role="combobox" aria-expanded="true" aria-controls={id} aria-label={t("Words of a card, a board, or what to do")}
        aria-activedescendant={chosen ? `${id}-${hits.indexOf(chosen)}` : undefined} autoFocus value={query} placeholder={t("Words of a card, a board, or what to do")}
        onChange={(event) => { setQuery(event.target.value); setAt(undefined); }} onKeyDown={onKeyDown} />
      <ul className="menu hits" id={id} role="listbox" aria-label={t("Found")} ref={list}>
        {hits.map((hit, index) => (
          <li key={hit.id} id={`${id}-${index}`} role="option" aria-selected={hit === chosen} className="menu-item"
            data-focused={hit === chosen || undefined} onClick={() => choose(hit)}>
            <Icon name={hit.icon} />
            <span className="clip" dir="auto" title={hit.label}>{hit.label}</span>
            {hit.keys ? <kbd className="note">{keyName(hit.keys)}</kbd> : hit.note && <span className="note clip">{hit.note}</span>}
          </li>
        ))}
      </ul>
      <Failure error={found.error} retry={() => void found.refetch()} />
      {hits.length === 0 && !found.isFetching && !found.error && <p className="soft" role="status">{t("Nothing fits.")}</p>}
    </Dialog>
  );
}
