// What somebody has begun to write and not sent. The tab keeps it, so that nothing is lost by leaving a
// card, by a reload or with a session that ends; it is gone with the tab, or by signing out.
export interface Draft {
  text: string;
  /** People and agents that it mentions: id by name. */
  named: [string, string][];
}

const prefix = "draft ";
let isOver = false; // who has signed out leaves nothing

export function keptOf<T>(key: string): T | undefined {
  try {
    const kept = sessionStorage.getItem(prefix + key);
    return kept ? (JSON.parse(kept) as T) : undefined;
  } catch {
    return undefined; // a browser that keeps nothing
  }
}

export function keep(key: string, begun: unknown) {
  try {
    if (begun === undefined || isOver) sessionStorage.removeItem(prefix + key);
    else sessionStorage.setItem(prefix + key, JSON.stringify(begun));
  } catch {
    // it is lost with the page, then
  }
}

export const draftOf = (key: string) => keptOf<Draft>(key);
export const keepDraft = (key: string, draft: Draft) => keep(key, draft.text.trim() ? draft : undefined);

export const dropDraft = (key: string) => keepDraft(key, { text: "", named: [] });

/** As the page is left. */
export function dropAllDrafts() {
  isOver = true;
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  } catch {
    // there are none
  }
}
