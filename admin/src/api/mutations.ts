// Writes of this page have ids, by which it knows the events that they cause.
import { newId } from "../app/newId";

const mine = new Set<string>();

export function newMutation(): string {
  const id = newId();
  mine.add(id);
  if (mine.size > 500) mine.delete(mine.values().next().value!);
  return id;
}

export const isMine = (id: string | null) => id !== null && mine.has(id);
