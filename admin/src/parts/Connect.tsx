import { useState } from "react";
import { boardVersion } from "../api/client";
import { serves } from "../app/serves";
import { t } from "../app/words";
import { CopyField } from "./CopyField";

const header = `-H "Authorization: Bearer $TOKEN" -H "X-Board-Version: ${boardVersion}"`;

/** Three lines for a shell: the token, a claim of the next card, its completion. */
export const claimLines = (token: string, board: string) => [
  `export TOKEN=${token}`,
  `claim=$(curl -s ${location.origin}/v1/boards/${board}:claim-next ${header} --json '{"wait_seconds": 20}')`,
  `curl -s ${location.origin}/v1/leases/$(jq -r .lease.id <<<"$claim"):complete ${header} --json "{\\"lease_token\\": $(jq .lease_token <<<"$claim"), \\"comment\\": \\"Done by an agent.\\"}"`,
].join("\n");

export const mcpEntry = (token: string) => JSON.stringify({
  mcpServers: { workboard: { type: "http", url: `${location.origin}/v1/mcp/http`, headers: { Authorization: `Bearer ${token}` } } },
}, null, 2);

const whoLine = (token: string) => [
  `export TOKEN=${token}`,
  `curl -s ${location.origin}/v1/me ${header}`,
  `curl -s ${location.origin}/v1/queues ${header}`,
].join("\n");

/** How a program comes to work with a token: as commands, or as an entry for MCP clients. */
export function Connect({ token, board, onCopied }: { token: string; board?: string; onCopied?: () => void }) {
  const [way, setWay] = useState<"curl" | "mcp">("curl");
  const hasMcp = serves("/v1/mcp/manifest");
  return (
    <div className="stack">
      {hasMcp && (
        <div className="row" role="group" aria-label={t("Way to connect")}>
          <button type="button" className="button small" aria-pressed={way === "curl"} onClick={() => setWay("curl")}>{t("Shell")}</button>
          <button type="button" className="button small" aria-pressed={way === "mcp"} onClick={() => setWay("mcp")}>{t("MCP")}</button>
        </div>
      )}
      {way === "curl"
        ? <CopyField text={board ? claimLines(token, board) : whoLine(token)} label={t("Commands that connect an agent")} {...(onCopied && { onCopied })} />
        : <CopyField text={mcpEntry(token)} label={t("Entry for MCP clients")} {...(onCopied && { onCopied })} />}
    </div>
  );
}
