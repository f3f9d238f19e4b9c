import { t } from "../../app/words";
import { steps, type Point } from "../../parts/steps";
import { inWords, keyOf, type Reading } from "./readings";

const hour = 3_600_000; // milliseconds
const [width, height] = [240, 48];

interface Lag {
  title: string;
  /** What the number is of, and the line. */
  words: string;
  line: [name: string, labels: string];
  /** What is said beside it. */
  besides: [name: string, labels: string, words: string][];
}
const lags: Lag[] = [
  { title: "Database", words: "requests wait for a connection", line: ["workboard_db_waiting", ""], besides: [["workboard_db_busy_connections", "", "in use"]] },
  { title: "Jobs", words: "since the first of them was due", line: ["workboard_jobs_oldest_seconds", ""], besides: [["workboard_jobs", 'state="ready"', "due"], ["workboard_jobs", 'state="failed"', "given up"]] },
  { title: "Events", words: "since the first one that webhooks, notifications, scripts or surveys wait for", line: ["workboard_consumer_oldest_seconds", ""], besides: [["workboard_events_position", "", "number of the last one"]] },
  { title: "Queues", words: "cards are ready to be claimed", line: ["workboard_queue_cards", 'state="ready"'], besides: [["workboard_queue_cards", 'state="leased"', "worked on"], ["workboard_queue_cards", 'state="exhausted"', "given up"]] },
  { title: "Mail outbox", words: "since the oldest mail was written", line: ["workboard_mail_oldest_seconds", ""], besides: [["workboard_mail_outbox", 'status="waiting"', "waiting"], ["workboard_mail_outbox", 'status="failed"', "failed"]] },
  { title: "Webhooks", words: "since the first delivery was due", line: ["workboard_webhook_oldest_due_seconds", ""], besides: [["workboard_webhook_endpoints_due", "", "due"], ["workboard_webhook_deliveries_in_flight", "", "on their way"]] },
];

function Picture({ points, most, limit }: { points: Point[]; most: number; limit: number | null | undefined }) {
  const to = points.at(-1)![0];
  const frame = { from: to - hour, to, most: Math.max(most, 1), width, height };
  return (
    <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {[1, 2, 3].map((quarter) => <line key={quarter} className="grid" x1={(quarter * width) / 4} x2={(quarter * width) / 4} y1="0" y2={height} />)}
      {limit != null && limit < most && <line className="limit" x1="0" x2={width} y1={height - 1 - (limit / most) * (height - 2)} y2={height - 1 - (limit / most) * (height - 2)} />}
      <path d={steps(points, frame)} />
    </svg>
  );
}

function OneLag({ lag, metric, all, times }: { lag: Lag; metric: Reading; all: Map<string, Reading>; times: readonly string[] }) {
  const { name, value, limit } = metric;
  const past = times.flatMap((time, at): Point[] => (metric.history?.[at] == null ? [] : [[Date.parse(time), metric.history[at]]]));
  const points: Point[] = [...past, [Date.now(), value]];
  const most = Math.max(...points.map(([, each]) => each));
  const isLate = limit != null && value > limit;
  return (
    <figure className={isLate ? "lag late" : "lag"}>
      <figcaption>
        <h3>{t(lag.title)}</h3>
        <strong>{isLate && <span className="tag warn">{t("late")}</span>} {inWords(name, value)}</strong>
      </figcaption>
      <Picture points={points} most={most} limit={limit} />
      <p className="small">{t(lag.words)}</p>
      <p className="soft small">
        {past.length === 0 ? t("Counted every minute; the first count is on its way") : t("At most {{most}} within the hour", { most: inWords(name, most) })}
        {limit != null && <>; {t("late above {{limit}}", { limit: inWords(name, limit) })}</>}
      </p>
      <p className="small">
        {lag.besides.map(([other, labels, words]) => [all.get(keyOf({ name: other, labels })), words] as const)
          .flatMap(([found, words]) => (found ? [`${t(words)} ${inWords(found.name, found.value)}`] : [])).join(" · ")}
      </p>
    </figure>
  );
}

/** How far behind the server is, in each of the things that it does later: over the last hour. */
export function Lags({ numbers, times }: { numbers: readonly Reading[]; times: readonly string[] }) {
  const all = new Map(numbers.map((each) => [keyOf(each), each]));
  return (
    <section aria-labelledby="lags-heading" className="stack">
      <h2 id="lags-heading">{t("What waits, over the last hour")}</h2>
      <div className="lags">
        {lags.map((lag) => {
          const metric = all.get(keyOf({ name: lag.line[0], labels: lag.line[1] }));
          return metric && <OneLag key={lag.title} lag={lag} metric={metric} all={all} times={times} />;
        })}
      </div>
    </section>
  );
}
