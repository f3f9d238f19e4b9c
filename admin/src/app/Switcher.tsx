import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { myInvitationsQuery } from "../api/queries";
import { Icon } from "../parts/Icon";
import { Menu, type Choice } from "../parts/Menu";
import { useMenuCommands } from "../parts/menuCommands";
import { NewWorkspace } from "./NewWorkspace";
import { enterWorkspace, useSession } from "./session";
import { t } from "./words";

/** The workspace of this tab, the others, and invitations to more. */
export default function Switcher() {
  const { seats, seat } = useSession();
  const [making, setMaking] = useState(false);
  const [, go] = useLocation();
  const invitations = useQuery(myInvitationsQuery);
  const choices: Choice[] = [
    ...seats.map((each): Choice => ({
      id: each.org_id, label: each.org_name, note: t(each.role), selected: each.org_id === seat?.org_id,
      run: () => { enterWorkspace(each.org_id); go("/boards"); },
    })),
    ...(invitations.data ?? []).map((each): Choice => ({
      id: each.id, label: t("Invitation to {{name}}", { name: each.org_name }), icon: "mail", run: () => go(`/invitations/${each.id}`),
    })),
    { id: "new", label: t("New workspace…"), icon: "plus", run: () => setMaking(true) },
  ];
  useMenuCommands(t("Workspace"), choices, [seats, seat, invitations.data]);
  return (
    <>
      <Menu label={t("Workspaces")} choices={choices} className="button quiet switcher">
        <span className="mark" aria-hidden="true">{[...(seat?.org_name || "W")][0]!.toUpperCase()}</span>
        <span className="clip grow" title={seat?.org_name}>{seat?.org_name ?? t("No workspace")}</span>
        {Boolean(invitations.data?.length) && <span className="tag warn">{invitations.data!.length}<span className="unseen"> {t("invitations")}</span></span>}
        <Icon name="down" />
      </Menu>
      {making && <NewWorkspace onClose={() => setMaking(false)} />}
    </>
  );
}
