// How one comes to these pages, and where one goes from them.
import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { serves } from "../../app/serves";

/** Where one begins after signing in. */
export const home = () => (serves("list_boards") ? "/boards" : "/account");

/** Where to go after signing in: a path of this server, and nothing else. */
export function returnPath(): string | undefined {
  const to = new URLSearchParams(location.search).get("return_to");
  return to && /^\/[^/\\]/.test(to) ? to : undefined;
}

/** Goes into the console as the person who has just signed in. */
export function useEnter() {
  const client = useQueryClient();
  const [, go] = useLocation();
  return (to = returnPath() ?? home()) => {
    client.clear();
    go(to, { replace: true });
  };
}
