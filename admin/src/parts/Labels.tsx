import type { Schemas } from "../api/client";
import { t } from "../app/words";

export type LabelLike = Pick<Schemas["LabelRef"], "id" | "name" | "color">;

export const LabelTag = ({ label }: { label: LabelLike }) => <span className={`tag label tint-${label.color}`}>{label.name}</span>;

export function Labels({ labels, most = 50 }: { labels: LabelLike[]; most?: number }) {
  if (labels.length === 0) return null;
  return (
    <span className="row" style={{ gap: "0.25rem" }}>
      {labels.slice(0, most).map((label) => <LabelTag key={label.id} label={label} />)}
      {labels.length > most && <span className="tag">{t("+{{count}}", { count: labels.length - most })}</span>}
    </span>
  );
}
