const sorted = (_: string, value: unknown) =>
  value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;

/** What a value says, in whichever order its fields come. */
export const said = (value: unknown) => JSON.stringify(value, sorted);
