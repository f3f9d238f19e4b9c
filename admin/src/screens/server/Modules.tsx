import type { Schemas } from "../../api/client";
import { ago } from "../../app/time";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";

type Server = Schemas["ServerState"];
type Module = Server["modules"][number];
const looks = { ok: ["good", "check"], warning: ["warn", "flag"], fault: ["bad", "block"] } as const;

export function HealthTag({ health }: { health: Module["health"] }) {
  const [tone, icon] = looks[health];
  return <span className={`tag ${tone}`}><Icon name={icon} size={12} />{health === "ok" ? t("well") : t(health)}</span>;
}

/** The settings of the kernel are in sections of several names. */
const sectionsOf = (module: Module, { modules, settings }: Server) =>
  settings.filter(({ section }) => (module.kind === "kernel" ? !modules.some(({ name }) => name === section) : section === module.name));

function Sources({ module, server }: { module: Module; server: Server }) {
  const all = sectionsOf(module, server);
  if (all.length === 0) return <span className="soft">{t("no settings")}</span>;
  const set = all.filter(({ source }) => source);
  if (set.length === 0) return <span className="soft">{t("defaults")}</span>;
  return <ul className="sources">{set.map(({ section, name, source }) => <li key={`${section}.${name}`}><span className="mono">{name}</span> <span className="soft small">{source}</span></li>)}</ul>;
}

/** What is on, how it does, and what has set it up. */
export function Modules({ server }: { server: Server }) {
  return (
    <section className="panel" aria-labelledby="modules-heading">
      <header className="row apart panel-head">
        <h2 id="modules-heading">{t("Modules and plugins")}</h2>
        <span className="soft small" role="status">{server.checked_time ? t("Checked {{when}}", { when: ago(server.checked_time) }) : t("Being checked…")}</span>
      </header>
      <table className="table cards modules">
        <thead><tr><th>{t("Name")}</th><th>{t("Health")}</th><th>{t("Version")}</th><th>{t("Set by")}</th><th>{t("Builds on")}</th></tr></thead>
        <tbody>
          {server.modules.map((each) => (
            <tr key={each.name}>
              <td><strong>{each.name}</strong> <span className="soft small">{t(each.kind)}</span></td>
              <td className="long">
                <HealthTag health={each.health} />
                {each.findings.length > 0 && <ul className="findings small">{each.findings.map(({ name, health, text }) => <li key={name} className={health === "ok" ? "soft" : health}><strong>{name}</strong> {health !== "ok" && <>({t(health)}) </>}{text}</li>)}</ul>}
              </td>
              <td data-label={t("Version")}>{each.version}</td>
              <td className="long" data-label={t("Set by")}><Sources module={each} server={server} /></td>
              <td className="soft small" data-label={each.needs.length ? t("Builds on") : undefined}>{each.needs.join(", ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
