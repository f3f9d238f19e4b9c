// Signing in with an outside identity provider, on servers that have one.
{
  const query = new URLSearchParams(location.search);
  const box = document.getElementById("outside");
  const button = box.querySelector("button");

  const reasons = {
    access_denied: "You turned back at the provider; nothing was done.",
    account_conflict:
      "That address has an account already. Sign in to it with its password first, then come here again.",
    account_disabled: "This account is disabled; ask whoever runs this server.",
    email_unverified: "The provider has not confirmed your address, so it opens no account here.",
    not_configured: "This server has no outside provider.",
    sign_up_closed: "This server takes no new accounts from outside; ask for an invitation.",
    state_expired: "That took longer than ten minutes; try again.",
    state_missing: "This browser did not set out from here, or keeps no cookies.",
    state_reused: "That way back was taken before; try again.",
    token_exchange_failed: "The provider did not vouch for you; try again.",
  };

  const ask = async () => {
    const to = query.get("return_to");
    const path = "/v1/auth/google/start" + (to ? "?return_to=" + encodeURIComponent(to) : "");
    const { ok, body } = await call("GET", path);
    return ok ? body : undefined;
  };

  button.addEventListener("click", async () => {
    const there = await ask().catch(() => undefined);
    if (there) location.assign(there.authorization_url);
    else say("The provider cannot be reached just now; try again.");
  });
  const asked = optionsHere().then(({ identity_provider: known = true, sign_up: policy }) =>
    known && !(policy === "off" && document.forms.signup) ? ask() : undefined);
  asked.then((there) => {
    const answered = document.getElementById("signed-in")?.hidden === false;  // nothing is asked for any more
    if (!there || answered) return;
    const { host } = new URL(there.authorization_url);
    button.textContent = host === "accounts.google.com" ? "Go on with Google" : `Go on with ${host}`;
    box.hidden = false;
  }, () => {});

  const reason = query.get("oauth_error");
  if (reason) {
    say(reasons[reason] ?? "Signing in with the provider did not work; try again.");
    history.replaceState(null, "", location.pathname);
  }
}
