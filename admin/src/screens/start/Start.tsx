import { useQuery } from "@tanstack/react-query";
import { Link, Redirect } from "wouter";
import { hasSession } from "../../api/client";
import { meQuery, optionsQuery } from "../../api/queries";
import { serves } from "../../app/serves";
import { useTitle } from "../../app/title";
import { t } from "../../app/words";
import { CopyField } from "../../parts/CopyField";
import { Waiting } from "../../parts/Wait";
import { home } from "../sign-in/arrival";
import "../sign-in/door.css";
import "./start.css";

const signUp = () => `curl ${location.origin}/v1/auth/signup \\
  -H 'X-Board-Version: 2026-06-19' \\
  --json '{"email": "you@example.com", "password": "a long password"}'`;

const mcp = () => JSON.stringify({
  mcpServers: { workboard: { type: "http", url: `${location.origin}/v1/mcp/http`, headers: { Authorization: "Bearer svc_…" } } },
}, null, 2);

function Places() {
  const all: [string, string, boolean][] = [
    ["/docs", t("Every operation, with its fields and its answers, to read and to try."), serves("/docs")],
    ["/openapi.json", t("The interface as an OpenAPI 3.1 document, for generators and clients."), true],
    ["/v1/mcp/manifest", t("The tools that an agent finds at /v1/mcp/http."), serves("/v1/mcp/manifest")],
    ["/healthz", t("Whether the server is up; /readyz asks its database too."), true],
  ];
  return (
    <section aria-labelledby="doors">
      <h2 id="doors">{t("Where to go")}</h2>
      <ul className="doors">
        {all.filter(([, , there]) => there).map(([path, words]) => (
          <li key={path} className="panel"><a href={path}><code>{path}</code></a><p>{words}</p></li>
        ))}
      </ul>
    </section>
  );
}

/** What a stranger sees; people who are signed in go on to the boards. */
export default function Start() {
  useTitle(undefined);
  const me = useQuery({ ...meQuery, enabled: hasSession() });
  const options = useQuery({ ...optionsQuery, enabled: serves("log_in") });
  if (hasSession() && me.isPending) return <Waiting />;
  if (me.data) return <Redirect to={home()} replace />;
  const policy = options.data?.sign_up;
  return (
    <div className="door start">
      <header className="row apart">
        <p className="brand"><img src="/favicon.svg" alt="" width="28" height="28" />Workboard</p>
        <p className="row" style={{ margin: 0 }}>
          {serves("log_in") && <Link href="/login" className="button go">{t("Sign in")}</Link>}
          {serves("sign_up") && policy && policy !== "off" && <Link href="/signup" className="button">{t("Sign up")}</Link>}
        </p>
      </header>
      <main>
        <h1>{t("A board that people and programs work on together.")}</h1>
        <p className="lead">
          {t("This server is up. It keeps workspaces, boards, columns and cards; a column can be a work queue whose cards are leased, renewed, completed or failed. Whatever can be done here can be done by REST and, with the same rights and the same record of who did it, by an agent over MCP.")}
        </p>
        <Places />
        {serves("sign_up") && policy === "open" && (
          <section aria-labelledby="account">
            <h2 id="account">{t("Your first account")}</h2>
            <p>{t("In a browser, sign up and open the link in the mail. Unless its config names a mail server, this one writes every mail to a file in its data folder, var/mail/. By program it begins with:")}</p>
            <CopyField text={signUp()} label={t("A call that signs up")} />
          </section>
        )}
        {serves("/v1/mcp/manifest") && (
          <section aria-labelledby="agent">
            <h2 id="agent">{t("Bring an agent")}</h2>
            <p>{t("Most MCP clients take an entry like this one, with the agent's own token in it:")}</p>
            <CopyField text={mcp()} label={t("An entry for MCP clients")} />
          </section>
        )}
      </main>
    </div>
  );
}
