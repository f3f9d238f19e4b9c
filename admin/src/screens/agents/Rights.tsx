import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { boardsQuery, everything, inOrg } from "../../api/queries";
import { useSession } from "../../app/session";
import { t } from "../../app/words";
import { roleOptions } from "./NewToken";

type Role = Schemas["AgentResponse"]["role"];
const ranks = ["viewer", "member", "admin", "owner"];
const words = (role: Role) => roleOptions().find(({ value }) => value === role)?.label ?? t(role);

/** What the agent may do in the end, and what keeps it from more: its own role, its owner's, and grants of boards. */
export function Rights({ agent }: { agent: Schemas["AgentResponse"] }) {
  const { seat } = useSession();
  const org_id = seat!.org_id;
  const boards = useQuery(boardsQuery());
  const members = useQuery({
    queryKey: inOrg("members", "all"),
    queryFn: () => everything((start_cursor) => ask(api.GET("/v1/orgs/{org_id}/members", { params: { path: { org_id }, query: { page_size: 100, start_cursor } } }))),
  });
  const owner = members.data?.find(({ user }) => user.id === agent.owner_user_id);
  const isLess = owner !== undefined && ranks.indexOf(owner.role) < ranks.indexOf(agent.role);
  const effective = isLess ? (owner.role as Role) : agent.role;
  const boardName = (id: string) => boards.data?.find((each) => each.id === id)?.name ?? id.slice(0, 8);
  return (
    <dl className="facts rights">
      <div><dt>{t("May")}</dt><dd><strong>{words(effective)}</strong></dd></div>
      <div><dt>{t("Its own role")}</dt><dd>{t(agent.role)}</dd></div>
      {owner && <div><dt>{t("Its owner")}</dt><dd>{t("{{name}}, {{role}}", { name: owner.user.name ?? owner.user.email, role: t(owner.role) })}{isLess && <span className="late"> · {t("which is less, and counts")}</span>}</dd></div>}
      <div>
        <dt>{t("Boards")}</dt>
        <dd>
          {agent.board_grants.length
            ? agent.board_grants.map((grant, at) => <span key={grant.board_id}>{at > 0 && ", "}<Link href={`/boards/${grant.board_id}`}>{boardName(grant.board_id)}</Link> ({t(grant.role)})</span>)
            : t("all that the workspace sees")}
        </dd>
      </div>
      <div><dt>{t("Each token")}</dt><dd>{t("may do what it was made for, and no more than this")}</dd></div>
    </dl>
  );
}
