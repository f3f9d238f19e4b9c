import { t } from "../app/words";

interface Named {
  name?: string | null;
  principal_type?: string;
}

const initials = (name: string) =>
  name.split(/[\s._@-]+/).filter(Boolean).slice(0, 2).map((word) => [...word][0]!.toUpperCase()).join("") || "?";

export const isAgent = ({ principal_type }: Named) => principal_type === "agent" || principal_type === "automation" || principal_type === "bot";
const kindOf = ({ principal_type }: Named) => (principal_type === "automation" ? t("automation") : t("agent"));
export const nameOf = ({ name, principal_type }: Named) =>
  name || (principal_type === "system" ? t("the system") : t("somebody"));

/** People are round, agents and automations square. */
export function Face({ who, large, decorative }: { who: Named; large?: boolean; decorative?: boolean }) {
  const agent = isAgent(who);
  const name = nameOf(who);
  return (
    <span className={`who${agent ? " agent" : ""}${large ? " large" : ""}`} title={agent ? `${name} (${kindOf(who)})` : name}>
      <span aria-hidden="true">{initials(name)}</span>
      {!decorative && <span className="unseen">{agent ? `${name} (${kindOf(who)})` : name}</span>}
    </span>
  );
}

/** A word for who is no person. */
export const KindTag = ({ who }: { who: Named }) => (isAgent(who) ? <span className="tag agent" style={{ flex: "none" }}>{kindOf(who)}</span> : null);

/** A face and a name; that it is an agent or an automation is said in a word, too. */
export function Who({ who, you }: { who: Named; you?: boolean }) {
  return (
    <span className="row" style={{ gap: "0.4rem", flexWrap: "nowrap", display: "inline-flex", maxWidth: "100%", verticalAlign: "middle" }}>
      <Face who={who} decorative />
      <span className="clip" title={nameOf(who)}>{nameOf(who)}</span>
      <KindTag who={who} />
      {you && <span className="tag" style={{ flex: "none" }}>{t("you")}</span>}
    </span>
  );
}
