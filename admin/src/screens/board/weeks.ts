import { isoDay } from "../../app/time";

/** The weeks of a month, as days; they begin on the day that one is used to. */
export function weeksOf(year: number, month: number, weekStart: number): string[][] {
  const offset = (new Date(year, month, 1).getDay() - weekStart + 7) % 7;
  const length = new Date(year, month + 1, 0).getDate();
  const weeks: string[][] = [];
  for (let from = 1 - offset; from <= length; from += 7)
    weeks.push(Array.from({ length: 7 }, (_, at) => isoDay(new Date(year, month, from + at))));
  return weeks;
}
