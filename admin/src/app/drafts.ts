// What somebody has begun to write and not sent. The tab keeps it, so that nothing is lost by leaving a
// card, by a reload or with a session that ends; it is gone with the tab, or by signing out.
export interface Draft {
  text: string;
  /** People and agents that it mentions: id by name. */
  named: [string, string][];
}

const prefix = "draft ";

export function draftOf(key: string): Draft | undefined {
  try {
    const kept = sessionStorage.getItem(prefix + key);
    return kept ? (JSON.parse(kept) as Draft) : undefined;
  } catch {
    return undefined; // a browser that keeps nothing
  }
}

export function keepDraft(key: string, draft: Draft) {
  try {
    if (draft.text.trim()) sessionStorage.setItem(prefix + key, JSON.stringify(draft));
    else sessionStorage.removeItem(prefix + key);
  } catch {
    // it is lost with the page, then
  }
}

export const dropDraft = (key: string) => keepDraft(key, { text: "", named: [] });

export function dropAllDrafts() {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  } catch {
    // there are none
  }
}
