/** From the most pressing to none. */
export const priorities = ["urgent", "high", "medium", "low", "none"] as const;
