// Who is signed in, in which workspace this tab works, and what they prefer.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useLayoutEffect, useMemo, useState, useSyncExternalStore, type ReactNode } from "react";
import { api, ask, hasSession, type Schemas } from "../api/client";
import { live } from "../api/live";
import { membershipsQuery, meQuery, preferencesQuery } from "../api/queries";
import { onTabOrg, setTabOrg, tabOrg } from "../api/workspace";
import { allowSingleKeys } from "./commands";
import { dropAllDrafts } from "./drafts";
import { wear } from "./theme";
import { readTimesAs } from "./time";
import { speak } from "./words";

export interface Session {
  me: Schemas["UserResponse"];
  seats: Schemas["MembershipResponse"][];
  /** The seat in this tab's workspace; none in no workspace. */
  seat: Schemas["MembershipResponse"] | undefined;
  isAdmin: boolean;
  /** Looks after nothing and changes nothing. */
  isViewer: boolean;
}

const SessionContext = createContext<Session | null>(null);
export const useSession = (): Session => {
  const session = useContext(SessionContext);
  if (!session) throw new Error("nobody is signed in here");
  return session;
};

export const useTabOrg = () => useSyncExternalStore(onTabOrg, tabOrg);

/** Shows the children to people who are signed in, and `outside` to others. */
export function SignedIn({ children, outside, waiting, failed }: {
  children: ReactNode;
  outside: ReactNode;
  waiting: ReactNode;
  failed: (error: unknown, retry: () => void) => ReactNode;
}) {
  const client = useQueryClient();
  const org = useTabOrg();
  const me = useQuery(meQuery);
  const seats = useQuery({ ...membershipsQuery, enabled: hasSession() });
  const preferences = useQuery({ ...preferencesQuery, enabled: hasSession() });

  useEffect(() => {
    const over = () => void client.invalidateQueries({ queryKey: meQuery.queryKey });
    window.addEventListener("workboard:signed-out", over);
    return () => window.removeEventListener("workboard:signed-out", over);
  }, [client]);
  // Words and times are not drawn once more when these come, so they come first.
  const [isSetUp, setUp] = useState(false);
  useEffect(() => {
    if (preferences.error) setUp(true);
    if (!preferences.data) return;
    wear(preferences.data);
    readTimesAs(preferences.data);
    allowSingleKeys(preferences.data.keyboard_shortcuts);
    void speak(preferences.data.locale).catch(() => undefined).then(() => setUp(true));
  }, [preferences.data, preferences.error]);

  const list = seats.data;
  const seat = list?.find((each) => each.org_id === org) ?? list?.find((each) => each.org_id === me.data?.active_org_id) ?? list?.[0];
  useEffect(() => {
    if (list && seat?.org_id !== org) {
      setTabOrg(seat?.org_id);
      live.restart();
    }
  }, [list, seat?.org_id, org]);

  const session = useMemo<Session | null>(() => {
    if (!me.data || !list) return null;
    return {
      me: me.data, seats: list, seat,
      isAdmin: seat?.role === "owner" || seat?.role === "admin",
      isViewer: seat?.role === "viewer",
    };
  }, [me.data, list, seat]);

  if (me.data === null || (!hasSession() && !me.data)) return <>{outside}</>;
  const error = me.error ?? seats.error;
  if (error && !session) return <>{failed(error, () => { void me.refetch(); void seats.refetch(); })}</>;
  if (!session || !isSetUp || seat?.org_id !== org) return <>{waiting}</>;
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>;
}

/** Works in another workspace from now on, in this tab. */
export function enterWorkspace(id: string) {
  if (id === tabOrg()) return;
  setTabOrg(id);
  live.restart();
}

/** What is shown is of this workspace, also when it is shown again and the tab was in another one meanwhile; whether the
    tab is in it. */
export function useWorkspaceOf(org: string | undefined): boolean {
  const now = useTabOrg();
  useLayoutEffect(() => {
    if (org) enterWorkspace(org);
  }, [org]);
  return org === now;
}

export async function signOut() {
  await ask(api.POST("/v1/auth/logout"));
  leave();
}

/** To the page to sign in, with nothing of theirs left in the tab: they are signed out. */
export function leave() {
  setTabOrg(undefined);
  dropAllDrafts();
  location.assign("/login");
}
