import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";
import { ways, type By } from "./lanes";
import { readFilter, writeFilter, type Filter } from "./filter";

export type View = "board" | "lanes" | "list" | "calendar";

/** What the address says of a board: the filter, the view, the card that is open. */
export function useBoardAddress(board: string) {
  const search = useSearch();
  const [, go] = useLocation();
  const query = useMemo(() => new URLSearchParams(search), [search]);
  const filter = useMemo(() => readFilter(query), [query]);
  const wanted = query.get("view");
  const view: View = wanted === "lanes" || wanted === "list" || wanted === "calendar" ? wanted : "board";
  const by = ways.find((each) => each === query.get("by")) ?? "assignee";
  const card = query.get("card") ?? undefined;
  const isPage = query.get("as") === "page"; // the card alone, without the board beside it
  const to = useCallback((next: URLSearchParams, replace: boolean) => {
    const text = next.toString();
    go(`/boards/${board}${text ? `?${text}` : ""}`, { replace });
  }, [board, go]);
  const withField = useCallback((name: string, value: string | undefined) => {
    const next = new URLSearchParams(query);
    if (value) next.set(name, value);
    else next.delete(name);
    return next;
  }, [query]);
  return {
    filter, view, by, card, isPage,
    setFilter: useCallback((next: Filter) => to(writeFilter(next, query), true), [to, query]),
    setView: useCallback((next: View) => to(withField("view", next === "board" ? undefined : next), true), [to, withField]),
    setBy: useCallback((next: By) => to(withField("by", next === "assignee" ? undefined : next), true), [to, withField]),
    openCard: useCallback((id: string | undefined) => {
      const next = withField("card", id);
      if (!id) next.delete("as");
      to(next, false);
    }, [to, withField]),
    setPage: useCallback((next: boolean) => to(withField("as", next ? "page" : undefined), true), [to, withField]),
    hrefOf: useCallback((id: string) => `/boards/${board}?${withField("card", id)}`, [board, withField]),
  };
}
