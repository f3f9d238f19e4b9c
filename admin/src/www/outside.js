// Signing in with an outside identity provider, on servers that have one.
{
  const query = new URLSearchParams(location.search);
  const box = document.getElementById("outside");
  const outcome = document.getElementById("outcome");

  const reasons = {
    access_denied: "You turned back at the provider; nothing was done.",
    account_conflict:
      "That address has an account already. Sign in to it with its password first, then come here again.",
    email_unverified: "The provider has not confirmed your address, so it opens no account here.",
    not_configured: "This server has no outside provider.",
    state_expired: "That took longer than ten minutes; try again.",
    state_missing: "This browser did not set out from here, or keeps no cookies.",
    state_reused: "That way back was taken before; try again.",
    token_exchange_failed: "The provider did not vouch for you; try again.",
  };

  const ask = async () => {
    const to = query.get("return_to");
    const answer = await fetch(
      "/v1/auth/google/start" + (to ? "?return_to=" + encodeURIComponent(to) : ""),
      { headers: { "X-Board-Version": "2026-06-19", Accept: "application/json" } },
    );
    return answer.ok ? answer.json() : undefined;
  };

  const leave = async () => {
    const there = await ask().catch(() => undefined);
    if (there) location.assign(there.authorization_url);
    else outcome.textContent = "The provider cannot be reached just now; try again.";
  };

  box.querySelector("button").addEventListener("click", leave);
  ask().then((there) => {
    if (!there) return;
    const { host } = new URL(there.authorization_url);
    box.querySelector("button").textContent =
      host === "accounts.google.com" ? "Sign in with Google" : `Sign in with ${host}`;
    box.hidden = false;
  }, () => {});

  const reason = query.get("oauth_error");
  if (reason) {
    outcome.textContent = reasons[reason] ?? "Signing in with the provider did not work; try again.";
    history.replaceState(null, "", location.pathname);
  }
}
