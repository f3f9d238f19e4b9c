import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { api, ask } from "../../api/client";
import { inOrg, principalsQuery } from "../../api/queries";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { Dialog } from "../../parts/Dialog";
import { Failure } from "../../parts/Failure";
import { Choose } from "../../parts/Field";
import { Wait } from "../../parts/Wait";
import { Who } from "../../parts/Who";
import { useBoard } from "./context";

type Role = "viewer" | "editor";
const roles = () => [{ value: "editor", label: t("edits cards") }, { value: "viewer", label: t("reads") }];

/** Who was given this board by name; an agent with any board of its own has those boards alone. */
export default function AccessDialog({ onClose }: { onClose: () => void }) {
  const { store } = useBoard();
  const client = useQueryClient();
  const board_id = store.board.id;
  const key = inOrg("grants", board_id);
  const grants = useQuery({ queryKey: key, queryFn: () => ask(api.GET("/v1/boards/{board_id}/access-grants", { params: { path: { board_id }, query: { page_size: 100 } } })) });
  const people = useQuery(principalsQuery());
  const [who, setWho] = useState("");
  const [role, setRole] = useState<Role>("editor");
  const refresh = () => client.invalidateQueries({ queryKey: key });
  const work = useMutation({
    mutationFn: ({ id: principal_id, role }: { id: string; role: Role | undefined }) => {
      const params = { path: { board_id, principal_id } };
      return role
        ? ask(api.PUT("/v1/boards/{board_id}/access-grants/{principal_id}", { params, body: { role } }))
        : ask(api.DELETE("/v1/boards/{board_id}/access-grants/{principal_id}", { params }));
    },
    onSuccess: refresh,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (who) work.mutate({ id: who, role }, { onSuccess: () => setWho("") });
  };
  return (
    <Dialog title={t("Access")} onClose={onClose}>
      <p className="soft">
        {store.board.visibility === "org"
          ? t("Everybody in the workspace sees this board; members change it. A grant confines an agent to the boards that it was granted.")
          : t("This board is private: it is for its maker, the workspace's admins, and those below.")}
      </p>
      <Wait query={grants}>
        {({ results }) => (
          <ul className="stack" style={{ listStyle: "none" }}>
            {results.map((grant) => (
              <li key={grant.id} className="row">
                <span className="grow" style={{ flexBasis: "12rem" }}><Who who={grant.principal} /></span>
                <span className="row" style={{ flexWrap: "nowrap" }}><select className="input" style={{ width: "auto" }} aria-label={t("Role of {{name}}", { name: grant.principal.name })} value={grant.role}
                  onChange={(event) => work.mutate({ id: grant.principal.id, role: event.target.value as Role })}>
                  {roles().map(({ value, label }) => <option key={value} value={value}>{label}</option>)}
                </select>
                <button type="button" className="button small danger" onClick={() => work.mutate({ id: grant.principal.id, role: undefined })}>{t("Revoke")}</button></span>
              </li>
            ))}
            {results.length === 0 && <li className="soft">{t("Nobody has a grant.")}</li>}
          </ul>
        )}
      </Wait>
      <form className="row" style={{ alignItems: "end" }} onSubmit={submit}>
        <div className="grow">
          <Choose label={t("Grant access to")} value={who} onChange={(event) => setWho(event.target.value)} required
            options={[{ value: "", label: t("Choose…") }, ...(people.data ?? []).filter(({ id }) => !grants.data?.results.some(({ principal }) => principal.id === id)).map((each) => ({
              value: each.id, label: `${each.name ?? each.person?.email ?? ""}${each.type === "bot" ? ` (${t("agent")})` : ""}`,
            }))]} />
        </div>
        <Choose label={t("Role")} value={role} onChange={(event) => setRole(event.target.value as Role)} options={roles()} />
        <Button className="button go" busy={work.isPending}>{t("Grant")}</Button>
      </form>
      <Failure error={work.error} />
    </Dialog>
  );
}
