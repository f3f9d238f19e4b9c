import { describe, expect, test } from "vitest";
import { fieldsIn, type Lane } from "../src/screens/board/lanes";
import type { BoardStore, Card } from "../src/screens/board/store";

const labels = ["a", "b", "c"].map((id) => ({ id, name: id, color: "blue" }));
const store = { board: { labels } } as unknown as BoardStore;
const card = (...ids: string[]) => ({ labels: ids.map((id) => labels.find((each) => each.id === id)), assignees: [] }) as unknown as Card;
const lane = (id: string) => ({ id }) as Lane;
const labelsIn = (id: string, ...own: string[]) => fieldsIn(store, "label", lane(id), card(...own)).labels?.map((each) => each.id);

describe("a card that is put into another lane", () => {
  test("has the lane's label instead of the one that it stood under", () => {
    expect(labelsIn("c", "a", "b")).toEqual(["c", "b"]);
    expect(labelsIn("a", "a", "b")).toBeUndefined();
    expect(labelsIn("c")).toEqual(["c"]);
  });

  test("has no label where that is the lane's", () => {
    expect(labelsIn("none", "a", "b")).toEqual([]);
  });
});
