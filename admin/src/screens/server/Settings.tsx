import { useState } from "react";
import type { Schemas } from "../../api/client";
import { t } from "../../app/words";
import { Check, TextField } from "../../parts/Field";

type Setting = Schemas["ServerState"]["settings"][number];
const nameOf = ({ section, name }: Setting) => (section ? `${section}.${name}` : name);

/** What is in force and where each comes from: a line of a file, the environment or a flag. */
export function Settings({ settings }: { settings: readonly Setting[] }) {
  const [words, setWords] = useState("");
  const [isAll, setAll] = useState(false);
  const shown = settings.filter((each) => (isAll || each.source) && nameOf(each).includes(words.trim().toLowerCase()));
  return (
    <section className="panel" aria-labelledby="settings-heading">
      <div className="panel-head stack">
        <h2 id="settings-heading">{t("Settings in force")}</h2>
        <div className="row" style={{ alignItems: "end" }}>
          <TextField label={t("Find a setting")} value={words} onChange={(event) => setWords(event.target.value)} placeholder="mail" />
          <Check label={t("Defaults, too")} checked={isAll} onChange={(event) => setAll(event.target.checked)} />
        </div>
      </div>
      {shown.length === 0 ? <p className="empty">{isAll || words ? t("No setting is called so.") : t("Every setting is at its default.")}</p> : (
        <table className="table cards">
          <thead><tr><th>{t("Setting")}</th><th>{t("Value")}</th><th>{t("Source")}</th></tr></thead>
          <tbody>
            {shown.map((each) => (
              <tr key={nameOf(each)}>
                <td className="mono">{nameOf(each)}</td>
                <td className="mono long setting-value">{each.value}</td>
                <td className={each.source ? "small" : "small soft"}>{each.source ?? t("the default")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
