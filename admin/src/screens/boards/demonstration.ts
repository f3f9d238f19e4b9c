// A board to try things on: columns that work passes through, one of them a queue, and cards in it.
import { api, ask, type Schemas } from "../../api/client";
import { t } from "../../app/words";

const cards: { column: number; title: string; label?: number; priority?: "low" | "medium" | "high" | "urgent"; markdown?: string }[] = [
  { column: 0, title: "Write down what the first release needs", label: 2 },
  { column: 0, title: "Ask three customers what they miss", label: 2, priority: "medium" },
  {
    column: 1, title: "Answer the mail about the broken invoice", label: 0, priority: "urgent",
    markdown: "A customer cannot open her invoice of March.\n\n## Acceptance\n\n- [ ] The invoice opens\n- [ ] She has an answer",
  },
  {
    column: 1, title: "Summarize this week's support requests", label: 1, priority: "high",
    markdown: "One paragraph for each topic, the most frequent first.\n\n- [ ] No names of customers\n- [ ] At most 300 words",
  },
  { column: 1, title: "Check the links of the help pages", label: 1, priority: "low" },
  { column: 2, title: "Try the new onboarding with somebody", label: 2, priority: "medium" },
  { column: 4, title: "Choose a name for the product", label: 2 },
];

/** Makes it, and gives it back. */
export async function makeDemonstration(): Promise<Schemas["Board"]> {
  const board = await ask(api.POST("/v1/boards", {
    body: {
      name: t("Demonstration"),
      description: t("A board to try things on. Cards in “For agents” wait to be claimed by programs; what they complete comes to “Review”."),
      icon: { type: "emoji", emoji: "🧭" },
      columns: [
        { name: t("Ideas"), kind: "backlog" }, { name: t("For agents"), kind: "queue" }, { name: t("For people"), kind: "active" },
        { name: t("Review"), kind: "active" }, { name: t("Done"), kind: "done" },
      ],
    },
  }));
  const params = { path: { board_id: board.id } };
  const [columns, ...labels] = await Promise.all([
    ask(api.GET("/v1/boards/{board_id}/columns", { params })),
    ...([["Support", "orange"], ["Routine", "purple"], ["Product", "blue"]] as const).map(([name, color]) =>
      ask(api.POST("/v1/boards/{board_id}/labels", { params, body: { name: t(name), color } }))),
  ]);
  const ids = columns.results.map(({ id }) => id);
  await ask(api.PATCH("/v1/boards/{board_id}/columns/{column_id}", {
    params: { path: { board_id: board.id, column_id: ids[1]! } },
    body: { queue: { enabled: true, lease_ttl_seconds: 300, on_complete_column_id: ids[3]! } },
  }));
  await ask(api.POST("/v1/cards:batch", {
    body: {
      atomic: true,
      operations: cards.map(({ column, title, label, ...more }) => ({
        create: { board_id: board.id, column_id: ids[column]!, title: t(title), labels: label === undefined ? [] : [labels[label]!.id], ...more },
      })),
    },
  }));
  return board;
}
