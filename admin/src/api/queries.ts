// What screens read, under one key each, so that nothing is held twice.
import { infiniteQueryOptions, MutationCache, QueryCache, QueryClient, queryOptions, type InvalidateOptions, type InvalidateQueryFilters } from "@tanstack/react-query";
import { api, ask, hasSession, type Schemas } from "./client";
import { Refusal } from "./refusal";
import { tabOrg } from "./workspace";

/** A session that is over anywhere is over everywhere. */
const onError = (error: unknown) => {
  if (error instanceof Refusal && error.status === 401 && queryClient.getQueryData(["me"])) queryClient.setQueryData(["me"], null);
};

/** What is being read for the first time is read again after that: the library would take the answer as it was before
    for what is. */
class Client extends QueryClient {
  private followed = new WeakSet<Promise<unknown>>(); // once after each, however often it is asked for meanwhile

  override invalidateQueries(filters?: InvalidateQueryFilters, options?: InvalidateOptions): Promise<void> {
    for (const query of this.getQueryCache().findAll({ ...filters, fetchStatus: "fetching" } as InvalidateQueryFilters))
      if (query.promise && query.state.data === undefined && !this.followed.has(query.promise)) {
        this.followed.add(query.promise);
        void query.promise.then(() => super.invalidateQueries({ queryKey: query.queryKey, exact: true }), () => {});
      }
    return super.invalidateQueries(filters, options);
  }
}

export const queryClient: QueryClient = new Client({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      retry: (count, error) => error instanceof Refusal && error.passes && error.status !== 429 && count < 2,
      refetchOnWindowFocus: true,
    },
    mutations: { networkMode: "always" }, // what cannot be sent says so, rather than to wait for a network
  },
});

/** Who is signed in; null is nobody. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async (): Promise<Schemas["UserResponse"] | null> => {
    if (!hasSession()) return null;
    try {
      return await ask(api.GET("/v1/me"));
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

export const optionsQuery = queryOptions({
  queryKey: ["options"],
  queryFn: () => ask(api.GET("/v1/auth/options")),
  staleTime: Infinity,
});

/** All pages of a list, one after the other; `most` bounds how many results. */
export async function everything<T>(
  page: (start_cursor: string | undefined) => Promise<{ results: T[]; next_cursor: string | null }>,
  most = 1_000,
): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const { results, next_cursor } = await page(cursor);
    all.push(...results);
    cursor = next_cursor ?? undefined;
  } while (cursor && all.length < most);
  return all;
}

export const membershipsQuery = queryOptions({
  queryKey: ["memberships"],
  queryFn: () =>
    everything((start_cursor) => ask(api.GET("/v1/me/memberships", { params: { query: { page_size: 100, start_cursor } } }))),
  staleTime: 60_000,
});

export const myInvitationsQuery = queryOptions({
  queryKey: ["my-invitations"],
  queryFn: async () => (await ask(api.GET("/v1/me/invitations", { params: { query: { page_size: 100 } } }))).results,
});

export const preferencesQuery = queryOptions({
  queryKey: ["preferences"],
  queryFn: () => ask(api.GET("/v1/me/preferences")),
  staleTime: 300_000,
});

/** Keys of what belongs to the tab's workspace begin with it. */
export const inOrg = (...key: unknown[]) => ["org", tabOrg(), ...key];

export const boardsQuery = (which: { archived?: boolean; in_trash?: boolean } = {}) =>
  queryOptions({
    queryKey: inOrg("boards", which),
    queryFn: () =>
      everything((start_cursor) =>
        ask(api.GET("/v1/boards", { params: { query: { page_size: 100, start_cursor, ...which } } }))),
  });

/** The people and agents of the workspace. */
export const principalsQuery = () =>
  queryOptions({
    queryKey: inOrg("users"),
    queryFn: () =>
      everything((start_cursor) => ask(api.GET("/v1/users", { params: { query: { page_size: 100, start_cursor } } }))),
    staleTime: 120_000,
  });

/** A list that is read page by page. */
export const pagesQuery = <T>(
  key: unknown[],
  page: (start_cursor: string | undefined) => Promise<{ results: T[]; next_cursor: string | null }>,
) =>
  infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ pageParam }) => page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });

/** Milliseconds after which addresses of files are asked for again; the server's last ten minutes. */
export const linksLast = 8 * 60_000;
