// Each tab works in one workspace; the choice outlives reloads, and new tabs begin with the last.
const key = "workboard.workspace";
let current = read();
const listeners = new Set<() => void>();

function read(): string | undefined {
  return sessionStorage.getItem(key) ?? localStorage.getItem(key) ?? undefined;
}

/** The id of this tab's workspace, which goes with every call. */
export const tabOrg = () => current;

/** The header of calls that stay in a workspace, whichever the tab works in by then. */
export const inWorkspace = (org: string | undefined): Record<string, string> => (org ? { "X-Svc-Org": org } : {});

export function setTabOrg(id: string | undefined) {
  if (id === current) return;
  current = id;
  for (const store of [sessionStorage, localStorage]) {
    if (id) store.setItem(key, id);
    else store.removeItem(key);
  }
  for (const each of listeners) each();
}

export function onTabOrg(listener: () => void) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
