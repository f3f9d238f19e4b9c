import { useQuery } from "@tanstack/react-query";
import { api, ask } from "../../api/client";
import { inOrg } from "../../api/queries";
import { number, shown } from "../../app/time";
import { t } from "../../app/words";
import { Wait } from "../../parts/Wait";

const outcomes = ["completed", "failed", "expired", "released", "revoked"] as const;

/** How the agent's latest attempts at cards ended, and what it says that they cost. */
export function Work({ id }: { id: string }) {
  const query = useQuery({ queryKey: inOrg("agents", id, "work"), queryFn: () => ask(api.GET("/v1/agents/{agent_id}/work", { params: { path: { agent_id: id } } })) });
  return (
    <section className="panel padded" aria-labelledby="work-heading">
      <h2 id="work-heading">{t("Work and cost")}</h2>
      <Wait query={query} lines={2}>
        {(work) => (work.since === null ? <p className="soft" style={{ margin: "0.4rem 0 0" }}>{t("It has ended no attempt lately.")}</p> : (
          <>
            <p className="soft small" style={{ margin: "0.2rem 0 0.6rem" }}>{t("Attempts at cards since {{when}}; what they cost is what the agent said.", { when: shown(work.since) })}</p>
            <dl className="numbers">
              {outcomes.filter((each) => each === "completed" || work[each] > 0).map((each) => <div key={each}><dt>{t(each)}</dt><dd>{number(work[each])}</dd></div>)}
              {work.costs.map(({ currency, amount }) => <div key={currency}><dt>{t("cost")}</dt><dd>{number(amount)} <span className="small">{currency}</span></dd></div>)}
              {work.input_tokens + work.output_tokens > 0 && <div><dt>{t("tokens in, out")}</dt><dd>{number(work.input_tokens)}, {number(work.output_tokens)}</dd></div>}
            </dl>
          </>
        ))}
      </Wait>
    </section>
  );
}
