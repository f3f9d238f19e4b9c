/** What of a form is not as it was when it opened: the rest is not sent, lest it undo what others have changed since. */
export const changed = <T extends object>(now: T, was: T): Partial<T> =>
  Object.fromEntries(Object.entries(now).filter(([name, value]) => value !== was[name as keyof T])) as Partial<T>;
