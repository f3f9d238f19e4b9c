import { useQuery } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { asCurl, asTool, getCalls, onCalls, type Call } from "../api/calls";
import { boardVersion } from "../api/client";
import { CopyField } from "../parts/CopyField";
import { Dialog } from "../parts/Dialog";
import { Check } from "../parts/Field";
import { serves } from "./serves";
import { ago } from "./time";
import { t } from "./words";

interface Operation {
  operationId?: string;
  security?: unknown[];
}
type Document = Record<string, Record<string, Operation>>;

/** What the document calls each call; it is read when somebody asks. */
const namesQuery = {
  queryKey: ["operation-names"],
  queryFn: async () => ((await (await fetch("/openapi.json")).json()) as { paths: Document }).paths,
  staleTime: Infinity,
};
/** Not every operation is a tool: what a person does for themselves is none. */
const toolsQuery = {
  queryKey: ["tool-names"],
  queryFn: async () => new Set(((await (await fetch("/v1/mcp/manifest")).json()) as { tools: { name: string }[] }).tools.map(({ name }) => name)),
  staleTime: Infinity,
  enabled: serves("/v1/mcp/manifest"),
};

function OneCall({ call, operation, isTool }: { call: Call; operation: Operation | undefined; isTool: boolean }) {
  const name = operation?.operationId;
  const [body, setBody] = useState<Record<string, unknown>>();
  const [way, setWay] = useState<"curl" | "mcp">("curl");
  useEffect(() => void call.body.then(setBody), [call]);
  return (
    <details className="call">
      <summary className="row">
        <span className="tag">{call.method}</span>
        <span className="grow clip"><strong>{name ?? call.template}</strong> <span className="soft mono small">{call.address}</span></span>
        {call.status !== undefined && <span className={`tag ${call.status < 400 ? "good" : "bad"}`}>{call.status}</span>}
        <span className="soft small wide-only">{ago(new Date(call.at).toISOString())}</span>
      </summary>
      <div className="stack" style={{ padding: "0.5rem 0" }}>
        {isTool && (
          <div className="row" role="group" aria-label={t("Shown as")}>
            <button type="button" className="button small" aria-pressed={way === "curl"} onClick={() => setWay("curl")}>{t("As curl")}</button>
            <button type="button" className="button small" aria-pressed={way === "mcp"} onClick={() => setWay("mcp")}>{t("As MCP call")}</button>
          </div>
        )}
        {!isTool && serves("/v1/mcp/manifest") && <p className="soft small" style={{ margin: 0 }}>{t("It is none of the tools that agents have.")}</p>}
        <CopyField label={t("The call")} text={way === "mcp" && name ? asTool(name, call, body) : asCurl(call, body, location.origin, boardVersion, operation?.security?.length === 0)} />
      </div>
    </details>
  );
}

/** What this page has called, newest first: every action of the console as a program would do it. */
export default function Calls({ onClose }: { onClose: () => void }) {
  const [reads, setReads] = useState(false);
  const all = useSyncExternalStore(onCalls, getCalls);
  const paths = useQuery(namesQuery).data;
  const tools = useQuery(toolsQuery).data;
  const operationOf = ({ template, method }: Call) => paths?.[template]?.[method.toLowerCase()];
  const shown = all.filter(({ method }) => reads || method !== "GET");
  return (
    <Dialog title={t("What this page has called")} onClose={onClose} wide>
      <p className="soft">{t("Whatever the console does is a call of the API. Do something, and find it here for a script or an agent of yours.")}</p>
      <Check label={t("What was only read, too")} checked={reads} onChange={(event) => setReads(event.target.checked)} />
      {shown.length === 0 && <p className="soft" role="status">{t("Nothing was changed since this page was loaded.")}</p>}
      <div>{shown.map((call) => <OneCall key={call.id} call={call} operation={operationOf(call)} isTool={tools?.has(operationOf(call)?.operationId ?? "") ?? false} />)}</div>
    </Dialog>
  );
}
