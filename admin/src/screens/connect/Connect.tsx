import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { worded } from "../../api/refusal";
import { SignedIn, useSession } from "../../app/session";
import { ToLogin } from "../../app/ToLogin";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { Check, Choose, TextField } from "../../parts/Field";
import { Failure } from "../../parts/Failure";
import { Waiting } from "../../parts/Wait";
import { roleOptions } from "../agents/NewToken";
import { Door } from "../sign-in/Door";
import { questionIn, type Question } from "./question";
import { Toolsets } from "./Toolsets";
import "./connect.css";

type Preview = Schemas["AuthorizationPreview"];
type Role = "viewer" | "member" | "admin";
type Seat = Schemas["MembershipResponse"];

const ranks: Role[] = ["viewer", "member", "admin"];
const mostOf = (seat: Seat): Role => (seat.role === "owner" ? "admin" : seat.role);
const rolesOf = (seat: Seat) => roleOptions().filter(({ value }) => ranks.indexOf(value as Role) <= ranks.indexOf(mostOf(seat)));
const least = (a: Role, b: Role) => (ranks.indexOf(a) < ranks.indexOf(b) ? a : b);

/** Who asks, and where the answer goes: what a person has to judge by. */
function Asker({ preview }: { preview: Preview }) {
  const { client_name, client_host, redirect_host, to_this_machine } = preview;
  return (
    <>
      <p className="lead">{t("A program that calls itself {{name}} wants to use Workboard on your behalf.", { name: client_name })}</p>
      <dl className="facts" id="asker">
        <div><dt>{t("It is")}</dt><dd>{client_host ? t("described by {{host}}", { host: client_host }) : t("registered by itself; anybody may take any name")}</dd></div>
        <div>
          <dt>{t("The answer goes to")}</dt>
          <dd><strong>{redirect_host}</strong>{to_this_machine && <> {t("(a program on this computer)")}</>}</dd>
        </div>
        <div><dt>{t("It gets at")}</dt><dd>{preview.for_mcp ? t("the tools for agents (MCP)") : t("the whole interface")}</dd></div>
      </dl>
    </>
  );
}

/** Away from this account, and back here with another. */
async function changeAccount() {
  await ask(api.POST("/v1/auth/logout"));
  location.reload();
}

/** Whom the client acts as: the person, an agent that there is, or a new one. */
function useActor(seat: Seat | undefined, name: string) {
  const mayMakeAgents = seat?.role === "owner" || seat?.role === "admin";
  const [actor, setActor] = useState("me");
  const [agentName, setAgentName] = useState(name);
  const agents = useQuery({
    queryKey: ["agents to connect", seat?.org_id],
    queryFn: () => ask(api.GET("/v1/agents", { params: { query: { status: "active", page_size: 100 } }, headers: { "X-Svc-Org": seat?.org_id } })),
    enabled: mayMakeAgents,
  });
  const known = mayMakeAgents ? agents.data?.results ?? [] : [];
  const chosen = actor === "new" && mayMakeAgents ? "new" : known.some(({ id }) => id === actor) ? actor : "me";
  const body = chosen === "me" ? { kind: "integration" as const } : { kind: "agent" as const, ...(chosen === "new" ? { agent_name: agentName } : { agent_id: chosen }) };
  const field = (
    <>
      <Choose label={t("It acts as")} value={chosen} onChange={(event) => setActor(event.target.value)}
        note={mayMakeAgents ? t("As an agent it has a name, a budget and a kill switch of its own.") : t("An admin of the workspace can have it act as an agent of its own.")}
        options={[
          { value: "me", label: t("you") },
          ...(mayMakeAgents ? [{ value: "new", label: t("a new agent") }] : []),
          ...known.map(({ id, name: label }) => ({ value: id, label: t("the agent {{name}}", { name: label }) })),
        ]} />
      {chosen === "new" && <TextField label={t("Name of the agent")} value={agentName} onChange={(event) => setAgentName(event.target.value)} required maxLength={80} />}
    </>
  );
  return { body, field };
}

function Consent({ question, preview }: { question: Question; preview: Preview }) {
  const { me, seats, seat: here } = useSession();
  const [org, setOrg] = useState(here?.org_id ?? "");
  const seat = seats.find((each) => each.org_id === org);
  const [role, setRole] = useState<Role>("member");
  const [readOnly, setReadOnly] = useState(preview.read_only);
  const [toolsets, setToolsets] = useState<string[]>([]);
  const actor = useActor(seat, preview.client_name);
  const allowed = seat ? least(role, mostOf(seat)) : role;
  const allow = useMutation({
    mutationFn: () => ask(api.POST("/v1/oauth/authorizations", {
      headers: { "X-Svc-Org": org },
      body: { query: question, role: allowed, scope: { read_only: readOnly, toolsets }, ...actor.body },
    })),
    onSuccess: ({ redirect_to }) => location.assign(redirect_to),
  });
  const deny = <button type="button" className="button" disabled={allow.isPending} onClick={() => location.assign(preview.denial_url)}>{t("Deny")}</button>;
  if (allow.data)
    return <Door title={t("Connected")} says={t("{{name}} goes on by itself. You may close this page.", { name: preview.client_name })} />;
  if (!seat)
    return <Door title={t("Connect {{name}}", { name: preview.client_name })} says={t("You are in no workspace that it could be connected to.")}>{deny}</Door>;
  return (
    <Door title={t("Connect {{name}}?", { name: preview.client_name })} says={allow.error ? worded(allow.error) : undefined}>
      <Asker preview={preview} />
      <form id="consent" className="stack" onSubmit={(event) => { event.preventDefault(); allow.mutate(); }}>
        <Choose label={t("Workspace")} value={org} onChange={(event) => setOrg(event.target.value)} options={seats.map(({ org_id, org_name }) => ({ value: org_id, label: org_name }))} />
        {actor.field}
        <Choose label={t("What it may do at most")} value={allowed} onChange={(event) => setRole(event.target.value as Role)} options={rolesOf(seat)} />
        <Check label={t("It only reads")} checked={readOnly} disabled={preview.read_only} onChange={(event) => setReadOnly(event.target.checked)}
          note={preview.read_only ? t("It asks for no more.") : t("Then it can change nothing.")} />
        <Toolsets chosen={toolsets} onChange={setToolsets} />
        <p className="row">
          <Button className="button go" busy={allow.isPending}>{t("Allow")}</Button>
          {deny}
        </p>
      </form>
      <p className="below">
        {t("You are {{email}}.", { email: me.email })} <button type="button" className="link" onClick={() => void changeAccount()}>{t("Use another account")}</button>
        {" "}{t("You can end the connection at any time, under Agents.")}
      </p>
    </Door>
  );
}

function Asked({ question }: { question: Question }) {
  const preview = useQuery({
    queryKey: ["authorization", question],
    queryFn: () => ask(api.POST("/v1/oauth/authorizations:preview", { body: question })),
    staleTime: Infinity,
    retry: false,
  });
  if (preview.isPending) return <Door title={t("Connect a program")}><Waiting /></Door>;
  if (preview.error)
    return <Door title={t("This cannot be connected")} says={<>{worded(preview.error)} {t("Nobody is sent anywhere; go back to the program and begin anew.")}</>} />;
  if (preview.data.refusal)
    return (
      <Door title={t("This cannot be connected")} says={t("The program has asked in a wrong way: {{why}}", { why: preview.data.refusal })}>
        <Asker preview={preview.data} />
        <button type="button" className="button" onClick={() => location.assign(preview.data.denial_url)}>{t("Back to the program")}</button>
      </Door>
    );
  return <Consent question={question} preview={preview.data} />;
}

/** The page to which programs send people who are to connect them. It never goes on by itself. */
export default function Connect() {
  const [question] = useState(() => questionIn(location.search));
  if (!question)
    return <Door title={t("This cannot be connected")} says={t("The address is incomplete, or says something twice. Go back to the program and begin anew.")} />;
  return (
    <SignedIn outside={<ToLogin />} waiting={<Waiting />} failed={(error, retry) => <div style={{ padding: "2rem" }}><Failure error={error} retry={retry} /></div>}>
      <Asked question={question} />
    </SignedIn>
  );
}
