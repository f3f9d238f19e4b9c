import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, pagesQuery } from "../../api/queries";
import { ago, day } from "../../app/time";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { Failure } from "../../parts/Failure";
import { useAct } from "../../parts/useAct";
import { useKeptFocus } from "../../parts/useKeptFocus";
import { WaitPages } from "../../parts/Wait";
import { TokenOnce } from "./TokenOnce";

type Token = Schemas["TokenResponse"];

/** Those of the agent, of connected clients alone, or all. */
export const tokensQuery = ({ agent_id, connected }: { agent_id?: string; connected?: boolean } = {}) =>
  pagesQuery(inOrg("tokens", agent_id, connected), (start_cursor) => ask(api.GET("/v1/tokens", { params: { query: { page_size: 50, start_cursor, agent_id, connected } } })));

/** Tokens by what is known of them; what opens doors is shown where it is made, and never again. */
export function TokenTable({ query, none }: { query: UseInfiniteQueryResult<{ pages: { results: Token[] }[] }>; none: string }) {
  const act = useAct(inOrg("tokens"), inOrg("agents"));
  const [rotated, setRotated] = useState<Token>();
  const [rotating, setRotating] = useState<Token>();
  const [revoking, setRevoking] = useState<Token>();
  const focus = useKeptFocus<HTMLDivElement>("tbody button");
  return (
    <div {...focus}>
      <WaitPages query={query} empty={<p className="soft" style={{ padding: "0.4rem 0.9rem 0.9rem", margin: 0 }}>{none}</p>}>
        {(all) => (
          <table className="table cards">
            <thead><tr><th>{t("Name")}</th><th>{t("Acts as")}</th><th>{t("May")}</th><th>{t("Last used")}</th><th>{t("Expires")}</th><th><span className="unseen">{t("Actions")}</span></th></tr></thead>
            <tbody>
              {all.map((token) => (
                <tr key={token.id}>
                  <td><strong>{token.name}</strong> <span className="mono soft small">{token.hint}</span>
                    {token.client && <> <span className="tag">{t("connected client")}</span> <span className="soft small">{token.client.host}</span></>}</td>
                  <td>{token.kind === "agent" ? <span className="tag agent">{t("an agent")}</span> : t("a person")}</td>
                  <td>{t(token.effective_role)}{token.effective_role !== token.role && <div className="soft small">{t("made as {{role}}; its owner may no more", { role: t(token.role) })}</div>}</td>
                  <td className="small soft" data-label={t("Last used")}>{token.last_used_at ? ago(token.last_used_at) : t("never")}</td>
                  <td className="small soft" data-label={t("Expires")}>{token.expires_at ? day(token.expires_at) : t("never")}</td>
                  <td className="end">
                    {token.status === "active"
                      ? (
                        <span className="row" style={{ justifyContent: "flex-end" }}>
                          {!token.client && <button type="button" className="button small" aria-label={t("Rotate {{name}}", { name: token.name })} onClick={() => { act.reset(); setRotating(token); }}>{t("Rotate")}</button>}
                          <button type="button" className="button small danger" aria-label={t("Revoke {{name}}", { name: token.name })} onClick={() => { act.reset(); setRevoking(token); }}>{t("Revoke")}</button>
                        </span>
                      ) : <span className="tag">{t(token.status)}</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </WaitPages>
      {rotating && (
        <FormDialog title={t("Rotate {{name}}", { name: rotating.name })} send={t("Rotate")} busy={act.isPending} once error={act.error} onClose={() => setRotating(undefined)}
          onSend={() => act.mutate(async () => {
            setRotated(await ask(api.POST("/v1/tokens/{token_id}:rotate", { params: { path: { token_id: rotating.id } } })));
            setRotating(undefined);
          })}>
          <p>{t("It gets a new secret. The old one is refused from the next request on.")}</p>
        </FormDialog>
      )}
      {revoking && (
        <FormDialog title={t("Revoke {{name}}", { name: revoking.name })} send={t("Revoke")} danger busy={act.isPending} error={act.error} onClose={() => setRevoking(undefined)}
          onSend={() => act.mutate(async () => {
            await ask(api.DELETE("/v1/tokens/{token_id}", { params: { path: { token_id: revoking.id } } }));
            setRevoking(undefined);
          })}>
          <p>{t("Whatever uses it is refused from the next request on. This cannot be undone.")}</p>
        </FormDialog>
      )}
      {rotated?.token && <TokenOnce token={rotated.token} title={t("The new secret of {{name}}", { name: rotated.name })} onClose={() => setRotated(undefined)} />}
      {!rotating && !revoking && <Failure error={act.error} />}
    </div>
  );
}
