import type { ReactNode } from "react";
import { shown } from "../app/time";
import { t } from "../app/words";

/** The value of a board's property in words; nothing when it is empty. */
export function valueInWords(value: unknown): string | undefined {
  if (value === null || value === undefined || value === "") return undefined;
  if (Array.isArray(value)) {
    const texts = value.every((each) => typeof each === "object" && each && "plain_text" in each);
    const words = value.map((each) => (texts ? (each as { plain_text: string }).plain_text : valueInWords(each))).filter(Boolean);
    return words.join(texts ? "" : ", ") || undefined;
  }
  if (typeof value === "boolean") return value ? t("yes") : t("no");
  if (typeof value === "object") {
    const { start, end, name, id } = value as Record<string, string | null | undefined>;
    if (start) return end ? `${shown(start)} – ${shown(end)}` : shown(start);
    return name ?? id ?? undefined;
  }
  return String(value);
}

/** What is known of something, a name and a value in a row each; those without a value are left out. */
export function Facts({ rows, properties }: { rows: [string, ReactNode][]; properties?: Record<string, unknown> }) {
  const all: [string, ReactNode][] = [
    ...rows,
    ...Object.entries(properties ?? {}).map(([name, given]): [string, ReactNode] => {
      const value = given as Record<string, unknown> & { type?: string };
      return [name, valueInWords(value?.type ? value[value.type] : value)];
    }),
  ];
  const known = all.filter(([, value]) => value !== undefined && value !== null && value !== "");
  if (known.length === 0) return null;
  return <dl className="facts">{known.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}
