import type { IconName } from "../parts/Icon";
import { addresses, type Address } from "./addresses";
import { serves } from "./serves";
import type { Session } from "./session";
import { t } from "./words";

export interface Place {
  path: string;
  label: string;
  icon: IconName;
  /** After G. */
  key?: string;
  group: "work" | "workspace" | "me";
}

/** Where one may go on this server once signed in. */
export function places({ isAdmin, seat }: Session): Place[] {
  const all: [Address, Omit<Place, "path">, boolean][] = [
    [addresses.inbox, { label: t("Inbox"), icon: "inbox", key: "i", group: "work" }, true],
    [addresses.boards, { label: t("Boards"), icon: "boards", key: "b", group: "work" }, true],
    [addresses.queues, { label: t("Queues"), icon: "queue", key: "q", group: "work" }, true],
    [addresses.agents, { label: t("Agents"), icon: "agent", key: "a", group: "work" }, true],
    [addresses.members, { label: t("Members"), icon: "people", key: "m", group: "workspace" }, true],
    [addresses.webhooks, { label: t("Webhooks"), icon: "hook", key: "h", group: "workspace" }, isAdmin],
    [addresses.automations, { label: t("Automations"), icon: "bolt", key: "l", group: "workspace" }, isAdmin],
    [addresses.outbox, { label: t("Mail"), icon: "mail", key: "o", group: "workspace" }, isAdmin],
    [addresses.audit, { label: t("Audit record"), icon: "record", key: "r", group: "workspace" }, isAdmin],
    [addresses.trash, { label: t("Archive and trash"), icon: "bin", key: "t", group: "workspace" }, true],
    [addresses.feedback, { label: t("Feedback"), icon: "comment", key: "f", group: "me" }, true],
    [addresses.server, { label: t("Server"), icon: "gear", key: "s", group: "me" }, true],
    [addresses.account, { label: t("Your account"), icon: "person", key: "p", group: "me" }, true],
  ];
  return all
    .filter(([address, place, allowed]) => allowed && serves(address.needs) && (seat || place.group === "me" || address === addresses.boards))
    .map(([{ path }, place]) => ({ path, ...place }));
}
