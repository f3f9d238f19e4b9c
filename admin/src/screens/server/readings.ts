import type { Schemas } from "../../api/client";
import { number, shown } from "../../app/time";
import { t } from "../../app/words";
import { sizeInWords } from "../../parts/sizes";

export type Metric = Schemas["ServerState"]["metrics"][number];
/** Numbers that differ in one label alone, as one: their sum, or the longest of their times. */
export interface Reading extends Metric { kinds: string[] }

export const keyOf = ({ name, labels }: Pick<Metric, "name" | "labels">) => `${name}{${labels}}`;
const isTime = (name: string) => /_seconds$/.test(name);

/** "42 s", "3 min", "2 h". */
export function duration(seconds: number): string {
  if (seconds < 90) return t("{{n}} s", { n: number(Math.round(seconds)) });
  if (seconds < 5_400) return t("{{n}} min", { n: number(Math.round(seconds / 60)) });
  return t("{{n}} h", { n: number(Math.round(seconds / 3_600)) });
}

export function inWords(name: string, value: number): string {
  if (/_bytes(_|$)/.test(name)) return sizeInWords(value);
  if (/_time_seconds$/.test(name)) return shown(new Date(value * 1_000).toISOString());
  if (isTime(name)) return duration(value);
  return number(Math.abs(value) < 10 ? Math.round(value * 100) / 100 : Math.round(value));
}

function both(name: string, one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return isTime(name) ? Math.max(one, other) : one + other;
}

/** One number for all kinds of jobs and all consumers of events, and which there are of it now. */
export function withoutKinds(metrics: readonly Metric[]): Reading[] {
  const lines = new Map<string, Reading>();
  for (const metric of metrics) {
    const kind = /(?:^|,)(?:kind|consumer)="([^"]*)",?/.exec(metric.labels);
    const labels = kind ? metric.labels.replace(kind[0], "") : metric.labels;
    const key = keyOf({ name: metric.name, labels });
    const line = lines.get(key);
    const kinds = kind && metric.value > 0 ? [kind[1]!] : [];
    lines.set(key, line
      ? { ...line, value: both(metric.name, line.value, metric.value)!, kinds: [...line.kinds, ...kinds], history: line.history?.map((value, at) => both(metric.name, value, metric.history?.[at] ?? null)) ?? null }
      : { ...metric, labels, kinds });
  }
  return [...lines.values()];
}
