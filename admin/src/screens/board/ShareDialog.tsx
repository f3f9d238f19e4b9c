import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { api, ask } from "../../api/client";
import { inOrg } from "../../api/queries";
import { ago, shown } from "../../app/time";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { CopyField } from "../../parts/CopyField";
import { Dialog } from "../../parts/Dialog";
import { Failure } from "../../parts/Failure";
import { TextField } from "../../parts/Field";
import { Stored } from "../../parts/SecretOnce";
import { Wait } from "../../parts/Wait";
import { useBoard } from "./context";

/** Links that show the board without an account. */
export default function ShareDialog({ onClose }: { onClose: () => void }) {
  const { store } = useBoard();
  const client = useQueryClient();
  const params = { path: { board_id: store.board.id } };
  const key = inOrg("share-links", store.board.id);
  const links = useQuery({ queryKey: key, queryFn: () => ask(api.GET("/v1/boards/{board_id}/share-links", { params: { ...params, query: { page_size: 100 } } })) });
  const [password, setPassword] = useState("");
  const [stored, setStored] = useState(true); // the address that was made last
  const refresh = () => client.invalidateQueries({ queryKey: key });
  const make = useMutation({
    mutationFn: () => ask(api.POST("/v1/boards/{board_id}/share-links", { params, body: password ? { password } : {} })),
    onSuccess: () => { setPassword(""); setStored(false); void refresh(); },
  });
  const revoke = useMutation({
    mutationFn: (share_link_id: string) => ask(api.DELETE("/v1/share-links/{share_link_id}", { params: { path: { share_link_id } } })),
    onSuccess: refresh,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (stored) make.mutate();
  };
  return (
    <Dialog title={t("Share by a link")} onClose={onClose} stays={make.isPending || !stored}>
      <form className="stack" onSubmit={submit}>
        <TextField label={t("Password")} value={password} onChange={(event) => setPassword(event.target.value)} minLength={8} maxLength={128} autoComplete="off"
          note={t("May stay empty: then everybody who has the link sees the board.")} />
        <div><Button className="button go" busy={make.isPending} off={!stored}>{t("Make a link")}</Button></div>
        <Failure error={make.error ?? revoke.error} />
      </form>
      {make.data?.url && (
        <>
          <p role="status">{t("This address is shown once; copy it now.")}</p>
          <CopyField text={make.data.url} label={t("The link")} onCopied={() => setStored(true)} />
          <Stored stored={stored} onChange={setStored} />
        </>
      )}
      <Wait query={links}>
        {({ results }) => {
          const open = results.filter(({ revoked_at }) => !revoked_at);
          return open.length === 0 ? <p className="soft">{t("There are no links.")}</p> : (
            <ul className="stack" style={{ listStyle: "none" }}>
              {open.map((link) => (
                <li key={link.id} className="row">
                  <span className="grow">
                    {t("Made {{when}}", { when: ago(link.created_time) })}{link.has_password && <> · {t("with a password")}</>}
                    {link.expires_at && <> · {t("until {{when}}", { when: shown(link.expires_at) })}</>}
                    <span className="soft"> · {t("seen {{count}} times", { count: link.view_count })}</span>
                  </span>
                  <Button type="button" className="button small danger" busy={revoke.isPending && revoke.variables === link.id} onClick={() => revoke.mutate(link.id)}>{t("Revoke")}</Button>
                </li>
              ))}
            </ul>
          );
        }}
      </Wait>
    </Dialog>
  );
}
