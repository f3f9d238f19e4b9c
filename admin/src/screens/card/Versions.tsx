import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, ask } from "../../api/client";
import { pagesQuery } from "../../api/queries";
import { ago, shown } from "../../app/time";
import { t } from "../../app/words";
import { toast, toastError } from "../../parts/toasts";
import { WaitPages } from "../../parts/Wait";
import { Face, nameOf } from "../../parts/Who";
import { useBoard } from "../board/context";
import type { Card } from "../board/store";
import { activityQuery, Difference, fieldInWords, type Activity } from "./Difference";

/** What made each version of the card: the activity is read on until it has all of them down to `oldest`. */
function useMakers(card_id: string, oldest: number | undefined): Map<number, Activity> {
  const { data, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery(activityQuery(card_id));
  const makers = new Map<number, Activity>();
  for (const each of data?.pages.flatMap(({ results }) => results) ?? []) {
    const { version } = (each.changes ?? {}) as { version?: number };
    if (each.subject_type === "card" && version) makers.set(version, each);
  }
  const isShort = oldest !== undefined && data !== undefined && Math.min(Infinity, ...makers.keys()) > oldest;
  useEffect(() => {
    if (isShort && hasNextPage && !isFetching) void fetchNextPage();
  }, [isShort, hasNextPage, isFetching, fetchNextPage]);
  return makers;
}

/** The card as it was; going back is a change like any other. */
export function Versions({ card, canEdit }: { card: Card; canEdit: boolean }) {
  const { store } = useBoard();
  const query = useInfiniteQuery(pagesQuery(["card", card.id, "versions"], (start_cursor) =>
    ask(api.GET("/v1/cards/{card_id}/versions", { params: { path: { card_id: card.id }, query: { page_size: 50, start_cursor } } }))));
  const makers = useMakers(card.id, query.data?.pages.at(-1)?.results.at(-1)?.version);
  const revert = async (version: number) => {
    const before = card.version;
    store.put((await ask(api.POST("/v1/cards/{card_id}:revert", { params: { path: { card_id: card.id } }, body: { version } }))) as Card);
    toast({ text: t("The card is as it was in version {{version}}", { version }), undo: () => void revert(before).catch(toastError) });
  };
  return (
    <WaitPages query={query} empty={<p className="soft">{t("There are no versions.")}</p>}>
      {(all) => (
        <ol>
          {all.map((each) => (
            <li key={each.version} className="happening">
              <Face who={each.edited_by} decorative />
              <div className="grow">
                <p>
                  <strong>{t("Version {{version}}", { version: each.version })}</strong> · {nameOf(each.edited_by)} <time className="soft small" dateTime={each.edited_at} title={shown(each.edited_at)}>{ago(each.edited_at)}</time>
                </p>
                {makers.has(each.version)
                  ? <Difference activity={makers.get(each.version)!} />
                  : <p className="soft small">{each.changed_fields.map(fieldInWords).filter(Boolean).join(", ")}</p>}
              </div>
              {canEdit && each.version !== card.version && (
                <button type="button" className="button small" onClick={() => void revert(each.version).catch(toastError)}>{t("Restore this version")}</button>
              )}
            </li>
          ))}
        </ol>
      )}
    </WaitPages>
  );
}
