import { useQuery } from "@tanstack/react-query";
import { useLayoutEffect, useState } from "react";
import { api, ask } from "../../api/client";
import { optionsQuery } from "../../api/queries";
import { t } from "../../app/words";
import { returnPath } from "./arrival";

const start = () => ask(api.GET("/v1/auth/google/start", { params: { query: { return_to: returnPath() } } }));

/** Signing in with an outside identity provider, on servers that have one. */
export function Outside({ onFail }: { onFail: (words: string) => void }) {
  const options = useQuery(optionsQuery);
  const there = useQuery({
    queryKey: ["provider", returnPath()],
    queryFn: start,
    enabled: options.data?.identity_provider === true,
    retry: false,
    staleTime: 0,
  });
  if (!there.data) return null;
  const { host } = new URL(there.data.authorization_url);
  const go = async () => {
    try {
      location.assign((await start()).authorization_url);
    } catch {
      onFail(t("The provider cannot be reached just now; try again."));
    }
  };
  return (
    <p id="outside" className="or">
      <button type="button" className="button" onClick={() => void go()}>
        {host === "accounts.google.com" ? t("Go on with Google") : t("Go on with {{host}}", { host })}
      </button>
    </p>
  );
}

const reasons: Record<string, string> = {
  access_denied: "You turned back at the provider; nothing was done.",
  account_conflict: "That address has an account already. Sign in to it with its password first, then come here again.",
  account_disabled: "This account is disabled; ask the operator of this server.",
  email_unverified: "The provider has not confirmed your address, so it opens no account here.",
  not_configured: "This server has no outside provider.",
  sign_up_closed: "This server takes no new accounts from outside; ask for an invitation.",
  state_expired: "That took longer than ten minutes; try again.",
  state_missing: "This browser did not set out from here, or keeps no cookies.",
  state_reused: "That way back was taken before; try again.",
  token_exchange_failed: "The provider did not vouch for you; try again.",
};

/** Why the way back from the provider ended here, once; it does not stay in the address. */
export function useProviderRefusal(): string | undefined {
  const [words] = useState(() => {
    const reason = new URLSearchParams(location.search).get("oauth_error");
    return reason ? t(reasons[reason] ?? "Signing in with the provider did not work; try again.") : undefined;
  });
  // Only once it is on the page: React may throw away what it has rendered, and ask again for the words.
  useLayoutEffect(() => {
    if (words) history.replaceState(null, "", location.pathname);
  }, [words]);
  return words;
}
