import type { UseInfiniteQueryResult, UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Refusal } from "../api/refusal";
import { t } from "../app/words";
import { Button } from "./Button";
import { Failure } from "./Failure";

/** Lines in place of what is on its way; they show after a moment, so that quick answers do not flicker. */
export function Waiting({ lines = 4 }: { lines?: number }) {
  return (
    <div className="waiting" role="status" aria-label={t("Loading")}>
      {Array.from({ length: lines }, (_, at) => <span key={at} style={{ width: `${90 - ((at * 23) % 45)}%` }} />)}
    </div>
  );
}

/** In place of the console's frame, before it is known who is signed in. */
export const WaitingFrame = () => <div className="frame-waiting"><Waiting lines={7} /><Waiting /></div>;

/** What a query gave, or that it is on its way or failed. */
export function Wait<T>({ query, children, lines }: { query: UseQueryResult<T>; children: (data: T) => ReactNode; lines?: number }) {
  // What is no more, or no more for them to see, does not go on as if it were; of other failures the next reading knows.
  const isGone = query.error instanceof Refusal && (query.error.status === 404 || query.error.status === 403);
  if (query.data !== undefined && !isGone) return <>{children(query.data)}</>;
  if (query.error) return <Failure error={query.error} retry={() => void query.refetch()} />;
  return <Waiting lines={lines} />;
}

/** The same of a list that is read page by page. */
export function WaitPages<T>({ query, children, empty }: {
  query: UseInfiniteQueryResult<{ pages: { results: T[] }[] }>;
  children: (results: T[]) => ReactNode;
  empty: ReactNode;
}) {
  if (query.error && !query.data) return <Failure error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Waiting />;
  const results = query.data.pages.flatMap((page) => page.results);
  return (
    <>
      {results.length ? children(results) : empty}
      {query.error && <Failure error={query.error} retry={() => void (query.isFetchNextPageError ? query.fetchNextPage() : query.refetch())} />}
      {query.hasNextPage && (
        <p style={{ padding: "0.7rem" }}>
          <Button type="button" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>{t("Show more")}</Button>
        </p>
      )}
    </>
  );
}
