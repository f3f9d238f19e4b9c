// What a mailed link carries is for one use: before anything else it is taken out of the address, and so
// out of the history, and kept for the page that it is for.
const kept = new Map<string, string>();

export function takeMailedToken() {
  if (!/^\/(verify-email|reset-password|invitations\/[^/]+)$/.test(location.pathname)) return;
  const token = new URLSearchParams(location.search).get("token");
  if (!token) return;
  kept.set(location.pathname, token);
  history.replaceState(null, "", location.pathname);
}

export const mailedToken = (): string | undefined => kept.get(location.pathname);
