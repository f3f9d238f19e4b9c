import { dayOf, today } from "../../app/time";
import type { Card } from "./store";

/** Whether its day is over, and it is not done. */
export const isLate = ({ due, completed_at }: Pick<Card, "due" | "completed_at">) => due !== null && completed_at === null && dayOf(due) < today();
