// Lists of the workspace follow its events: what an event is about is read again when it is shown.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { live } from "../api/live";
import { inOrg, membershipsQuery } from "../api/queries";
import { useTabOrg } from "./session";

const seats = "memberships"; // of all workspaces
const touched: Record<string, string[]> = {
  board: ["boards"], member: ["members", "users", "billing", seats], agent: ["agents", "users"], token: ["tokens"], invitation: ["invitations"],
  webhook: ["webhooks"], automation: ["automations"], grant: ["grants"], org: ["workspace", seats], card: ["away-cards"],
};
/** Of cards, most events are no matter to a list, and they are many. */
const kinds = Object.keys(touched).flatMap((noun) => (noun === "card" ? ["archived", "deleted", "restored", "purged"] : ["*"]).map((verb) => `${noun}.${verb}`));

export function useLiveLists() {
  const client = useQueryClient();
  const org = useTabOrg();
  useEffect(() => {
    if (!org) return;
    let stale = new Set<string>();
    let timer = 0;
    const refresh = () => {
      timer = 0;
      for (const each of stale) void client.invalidateQueries({ queryKey: each === seats ? membershipsQuery.queryKey : inOrg(each) });
      stale = new Set();
    };
    const touch = (noun: string) => {
      for (const each of touched[noun] ?? []) stale.add(each);
      timer ||= window.setTimeout(refresh, 300);
    };
    const end = live.follow({
      kinds,
      begun: () => Object.keys(touched).forEach(touch),
      event: ({ kind }) => touch(kind.split(".")[0]!),
      gap: () => void client.invalidateQueries({ queryKey: ["org", org] }),
    });
    const endNews = live.onNews(() => void client.invalidateQueries({ queryKey: inOrg("notifications") }));
    return () => {
      clearTimeout(timer);
      endNews();
      end();
    };
  }, [client, org]);
}
