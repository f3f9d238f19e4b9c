// How cards stand in a queue, as a column counts them.
import type { Schemas } from "../api/client";

export const queueStates = ["ready", "leased", "backoff", "blocked", "held", "exhausted"] as const;
export type QueueCounts = Pick<Schemas["QueueState"], (typeof queueStates)[number]>;

const forPeople = ["held", "exhausted"] as const;
/** Without somebody it stays so. */
export const needsAttention = (state: string) => (forPeople as readonly string[]).includes(state);
export const needingAttention = (counts: QueueCounts) => forPeople.reduce((sum, state) => sum + counts[state], 0);
