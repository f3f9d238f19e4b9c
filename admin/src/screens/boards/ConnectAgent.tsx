import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useSession } from "../../app/session";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { Connect } from "../../parts/Connect";
import { Dialog } from "../../parts/Dialog";
import { Failure } from "../../parts/Failure";
import { Stored } from "../../parts/SecretOnce";

/** The three lines by which an agent begins to work on a board's queue. */
export default function ConnectAgent({ board, onClose }: { board: Pick<Schemas["Board"], "id" | "name">; onClose: () => void }) {
  const { isAdmin } = useSession();
  const make = useMutation({
    mutationFn: () => ask(api.POST("/v1/tokens", {
      body: isAdmin
        ? { kind: "agent", name: t("First token"), role: "member", agent: { name: t("Agent of {{board}}", { board: board.name }).slice(0, 80) } }
        : { kind: "integration", name: t("Token for {{board}}", { board: board.name }).slice(0, 80), role: "member" },
    })),
  });
  const [stored, setStored] = useState(false);
  return (
    <Dialog title={t("Connect an agent")} onClose={onClose} stays={make.isPending || (make.isSuccess && !stored)} wide>
      <p>{t("These lines claim the next card of the queue and complete it. Watch the board while they run.")}</p>
      <Connect token={make.data?.token ?? "svc_…"} board={board.id} onCopied={() => setStored(make.isSuccess)} />
      {make.data
        ? (
          <>
            <p role="status">{t("The token is in the lines above. It is shown this once; keep it as you keep a password.")}</p>
            <Stored stored={stored} onChange={setStored} />
          </>
        )
        : (
          <div className="row">
            <Button type="button" className="button go" busy={make.isPending} onClick={() => make.mutate()}>
              {isAdmin ? t("Create an agent and its token") : t("Create a token of yours")}
            </Button>
          </div>
        )}
      <Failure error={make.error} />
    </Dialog>
  );
}
