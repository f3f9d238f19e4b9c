// Times and days as people read them, by their preferences once those are known.
let locale: string | undefined;
let timeZone: string | undefined;
let hour12: boolean | undefined;
let days = daysIn(undefined);

function daysIn(zone: string | undefined) {
  return new Intl.DateTimeFormat("en-US-u-ca-gregory", { year: "numeric", month: "2-digit", day: "2-digit", timeZone: zone });
}

export function readTimesAs(preferences: { locale: string; timezone: string; time_format: "h24" | "h12" }) {
  try {
    new Intl.DateTimeFormat(preferences.locale, { timeZone: preferences.timezone });
    ({ locale, timezone: timeZone } = preferences);
  } catch {
    locale = timeZone = undefined; // one that this browser does not know
  }
  hour12 = preferences.time_format === "h12";
  days = daysIn(timeZone);
}

/** A day (2026-06-19) is that day everywhere; an instant is a day and an hour here. */
export function shown(time: string): string {
  if (time.length === 10) return day(time);
  return new Date(time).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short", timeZone, hour12 });
}

export function day(time: string): string {
  if (time.length !== 10) return new Date(time).toLocaleDateString(locale, { dateStyle: "medium", timeZone });
  return new Date(time + "T00:00Z").toLocaleDateString(locale, { dateStyle: "medium", timeZone: "UTC" });
}

/** The day and the month alone, for tiles. */
export function briefly(time: string): string {
  const at = time.length === 10 ? new Date(time + "T00:00Z") : new Date(time);
  const other = dayOf(time).slice(0, 4) !== today().slice(0, 4);
  return at.toLocaleDateString(locale, {
    day: "numeric", month: "short", ...(other && { year: "numeric" }), timeZone: time.length === 10 ? "UTC" : timeZone,
  });
}

/** The day of an instant where the person is, as 2026-06-19. */
export function dayOf(time: string): string {
  if (time.length === 10) return time;
  const parts = Object.fromEntries(days.formatToParts(new Date(time)).map(({ type, value }) => [type, value]));
  return `${parts.year!.padStart(4, "0")}-${parts.month}-${parts.day}`;
}
export const today = () => dayOf(new Date().toISOString());

/** The same hour of another day where the person is; a day stays a day. */
export function onDay(time: string | null, date: string): string {
  if (!time || time.length === 10) return date;
  const hour = (at: Date) => at.toLocaleTimeString("en-GB", { timeZone });
  const was = new Date(time);
  const moved = new Date(was.getTime() + Date.parse(date) - Date.parse(dayOf(time)));
  // Between summer and winter an hour is more or less.
  const same = [0, -1, 1].map((by) => new Date(moved.getTime() + by * 3_600_000)).find((at) => hour(at) === hour(was));
  return (same ?? moved).toISOString();
}
export const isoDay = (at: Date) =>
  `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, "0")}-${String(at.getDate()).padStart(2, "0")}`;

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3_600], ["minute", 60],
];

/** "5 minutes ago", "in 2 hours". */
export function ago(time: string, now = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1000;
  const words = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "long" });
  for (const [unit, size] of units) if (Math.abs(seconds) >= size) return words.format(Math.trunc(seconds / size), unit);
  return words.format(0, "minute");
}

/** The same of what is to come: what is overdue comes this minute. */
export const ahead = (time: string) => ago(time, Math.min(Date.now(), new Date(time).getTime()));

/** What is left of a time in milliseconds, as a clock shows it: 4:05, 1:02:30. */
export function countdown(left: number): string {
  const seconds = Math.max(0, Math.ceil(left / 1_000));
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

export const monthName = (year: number, month: number) =>
  new Date(Date.UTC(year, month, 1)).toLocaleDateString(locale, { month: "long", year: "numeric", timeZone: "UTC" });
export const weekdayName = (weekday: number) =>
  new Date(Date.UTC(2023, 0, 1 + weekday)).toLocaleDateString(locale, { weekday: "short", timeZone: "UTC" });
export const number = (value: number) => value.toLocaleString(locale);
