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
  const refresh = () => client.invalidateQueries({ queryKey: key });
  const put = useMutation({
    mutationFn: ({ principal_id, role }: { principal_id: string; role: "viewer" | "editor" }) =>
      ask(api.PUT("/v1/boards/{board_id}/access-grants/{principal_id}", { params: { path: { board_id, principal_id } }, body: { role } })),
    onSuccess: refresh,
  });
  const remove = useMutation({
    mutationFn: (principal_id: string) => ask(api.DELETE("/v1/boards/{board_id}/access-grants/{principal_id}", { params: { path: { board_id, principal_id } } })),
    onSuccess: refresh,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (who) put.mutate({ principal_id: who, role: "editor" });
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
                  onChange={(event) => put.mutate({ principal_id: grant.principal.id, role: event.target.value as "viewer" })}>
                  {roles().map(({ value, label }) => <option key={value} value={value}>{label}</option>)}
                </select>
                <button type="button" className="button small danger" onClick={() => remove.mutate(grant.principal.id)}>{t("Revoke")}</button></span>
              </li>
            ))}
            {results.length === 0 && <li className="soft">{t("Nobody has a grant.")}</li>}
          </ul>
        )}
      </Wait>
      <form className="row" style={{ alignItems: "end" }} onSubmit={submit}>
        <div className="grow">
          <Choose label={t("Grant access to")} value={who} onChange={(event) => setWho(event.target.value)} required
            options={[{ value: "", label: t("Choose…") }, ...(people.data ?? []).map((each) => ({
              value: each.id, label: `${each.name ?? each.person?.email ?? ""}${each.type === "bot" ? ` (${t("agent")})` : ""}`,
            }))]} />
        </div>
        <Button className="button go" busy={put.isPending}>{t("Grant")}</Button>
      </form>
      <Failure error={put.error ?? remove.error} />
    </Dialog>
  );
}
