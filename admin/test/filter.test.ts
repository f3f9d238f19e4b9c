import { describe, expect, test } from "vitest";
import { noFilter, predicate } from "../src/screens/board/filter";
import type { Card } from "../src/screens/board/store";

const card = (due: string | null, completed_at: string | null = null) => ({ key: "A-1", title: "", labels: [], assignees: [], due, completed_at }) as unknown as Card;

describe("what is overdue", () => {
  const isOverdue = predicate({ ...noFilter, due: "overdue" })!;

  test("was due before today and is not done", () => {
    expect(isOverdue(card("2020-01-01"))).toBe(true);
    expect(isOverdue(card("2020-01-01", "2020-02-01T00:00:00Z"))).toBe(false);
    expect(isOverdue(card("2999-01-01"))).toBe(false);
    expect(isOverdue(card(null))).toBe(false);
  });
});
