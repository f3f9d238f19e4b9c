import { useQuery } from "@tanstack/react-query";
import { api, ask } from "../../api/client";
import { inOrg } from "../../api/queries";
import { number } from "../../app/time";
import { t } from "../../app/words";
import { queueQuery } from "../board/QueueStrip";
import { needingAttention, type QueueCounts } from "../../parts/queueStates";
import { steps, type Point } from "../../parts/steps";

const day = 86_400_000; // milliseconds
const [width, height] = [480, 56];

const series: { name: string; className: string; of: (counts: QueueCounts) => number }[] = [
  { name: "waiting", className: "waiting-line", of: ({ ready, blocked, backoff }) => ready + blocked + backoff },
  { name: "worked on", className: "leased-line", of: ({ leased }) => leased },
  { name: "needing attention", className: "stuck-line", of: needingAttention },
];

/** How many cards the queue held over the last day: what waits rises when its workers do not keep up. */
export function DayChart({ board_id, column_id }: { board_id: string; column_id: string }) {
  const past = useQuery({
    queryKey: inOrg("queue-depths", column_id),
    queryFn: () => ask(api.GET("/v1/boards/{board_id}/columns/{column_id}/queue/depths", { params: { path: { board_id, column_id } } })),
    refetchInterval: 300_000,
  });
  const now = useQuery(queueQuery(board_id, column_id)).data;
  if (!past.data || !now) return null;
  if (past.data.samples.length === 0) return null; // nothing was counted yet
  const end = Date.now();
  const lines = series.map((each) => {
    const points: Point[] = [...past.data.samples.map((sample): Point => [Date.parse(sample.at), each.of(sample)]), [end, each.of(now)]];
    return { ...each, points, now: each.of(now), most: Math.max(...points.map(([, value]) => value)) };
  });
  const most = Math.max(...lines.map((line) => line.most));
  if (most === 0) return null;
  const shown = lines.filter((line) => line.most > 0);
  return (
    <figure className="day-chart">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {[1, 2, 3].map((quarter) => <line key={quarter} className="grid" x1={(quarter * width) / 4} x2={(quarter * width) / 4} y1="0" y2={height} />)}
        {shown.map(({ name, className, points }) => <path key={name} className={className} d={steps(points, { from: end - day, to: end, most, width, height })} />)}
      </svg>
      <figcaption className="row small soft">
        <span>{t("Over the last day:")}</span>
        {shown.map((line) => <span key={line.name} className={`legend ${line.className}`}><span aria-hidden="true" />{t(line.name)} {t("{{now}}, at most {{most}}", { now: number(line.now), most: number(line.most) })}</span>)}
      </figcaption>
    </figure>
  );
}
