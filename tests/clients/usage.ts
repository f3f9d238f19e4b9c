// Compiled, never run: what a TypeScript client of the interface would write, against the types
// that openapi-typescript has just made of the server's document.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/schema.js";

const client = createClient<paths>({
  baseUrl: "http://127.0.0.1:8080",
  headers: { Authorization: "Bearer svc_", "X-Board-Version": "2026-06-19" },
});

export async function workOnce(board_id: string, column_id: string): Promise<string> {
  const { data, error } = await client.POST("/v1/boards/{board_id}/columns/{column_id}:claim-next", {
    params: { path: { board_id, column_id } },
    body: { lease_ttl_seconds: 60 },
  });
  if (error) return `${error.code}: ${error.message}`;
  if (!data.claimed || !data.lease || !data.lease_token) return "nothing to do";

  const completed = await client.POST("/v1/leases/{lease_id}:complete", {
    params: { path: { lease_id: data.lease.id } },
    body: { lease_token: data.lease_token },
  });
  const card: components["schemas"]["Card"] | null | undefined = completed.data?.card;
  return card?.title ?? "gone";
}

export async function* everyBoard(): AsyncGenerator<string> {
  let start_cursor: string | undefined;
  do {
    const { data } = await client.GET("/v1/boards", { params: { query: { page_size: 50, start_cursor } } });
    for (const board of data?.results ?? []) yield board.name;
    start_cursor = data?.next_cursor ?? undefined;
  } while (start_cursor);
}

// What has a default need not be named.
export async function quickly(board_id: string, column_id: string): Promise<void> {
  await client.POST("/v1/boards/{board_id}/cards", {
    params: { path: { board_id } },
    body: { column_id, title: "Pack" },
  });
  await client.POST("/v1/boards/{board_id}/columns/{column_id}:claim-next", {
    params: { path: { board_id, column_id } },
    body: {},
  });
}

// @ts-expect-error a card needs a title
client.POST("/v1/boards/{board_id}/cards", { params: { path: { board_id: "" } }, body: { column_id: "" } });
// @ts-expect-error there is no such path
client.GET("/v1/nothing");
