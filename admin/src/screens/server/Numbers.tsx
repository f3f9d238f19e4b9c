import { t } from "../../app/words";
import { inWords, keyOf, type Reading } from "./readings";

const most = 3; // kinds of one number that are named

/** Every number of /metrics, module by module. */
export function Numbers({ numbers }: { numbers: readonly Reading[] }) {
  const modules = [...new Set(numbers.map(({ module }) => module))];
  return (
    <details className="panel padded all-numbers">
      <summary><h2>{t("All numbers")}</h2></summary>
      <div className="server-numbers">
        {modules.map((module) => (
          <section key={module} aria-labelledby={`numbers-${module}`}>
            <h3 id={`numbers-${module}`}>{module}</h3>
            <dl>
              {numbers.filter((each) => each.module === module).map((each) => (
                <div key={keyOf(each)} title={keyOf(each)}>
                  <dt>
                    {each.help.replace(/\.$/, "")}
                    {each.labels && <span className="mono soft small"> {each.labels.replace(/"/g, "")}</span>}
                    {each.kinds.length > 0 && <span className="soft small">: {each.kinds.slice(0, most).join(", ")}{each.kinds.length > most && ` +${each.kinds.length - most}`}</span>}
                  </dt>
                  <dd>{inWords(each.name, each.value)}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </details>
  );
}
