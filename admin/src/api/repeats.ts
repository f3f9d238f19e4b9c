// What is created once more because the answer was lost is there once: the repeat of the same request has
// the same Idempotency-Key. Moves and the like have none: what happened between counts for them.
import type { Middleware } from "openapi-fetch";
import { keep, keptOf } from "../app/drafts";
import { newId } from "../app/newId";

interface Attempt {
  asked: string;
  key: string;
}
/** After this, who asks for the same means another one. */
const longest = 10 * 60_000; // milliseconds

type Failed = Attempt & { at: number };

const sent = new Map<string, Attempt>();
const failed = new Map<string, Failed>();
/** A comment's box alone is full again when the page has been reloaded, so the tab keeps its attempts with it. */
const left = "attempts";
const isKept = ({ asked }: Attempt) => asked.includes("/v1/comments ");

for (const each of keptOf<Failed[]>(left) ?? []) failed.set(each.asked, each);
addEventListener("pagehide", () => {
  const open = [...failed.values(), ...[...sent.values()].map((each) => ({ ...each, at: Date.now() }))].filter(isKept);
  keep(left, open.length ? open : undefined);
});

const creates = ({ method }: Request, path: string) => method === "POST" && !path.includes(":") && !/^\/v1\/(auth|me|oauth|search)\b/.test(path);

/** The key of the attempt that failed, once. */
function keyOf(asked: string): string {
  for (const [each, { at }] of failed) if (Date.now() - at > longest) failed.delete(each);
  const key = failed.get(asked)?.key ?? newId();
  failed.delete(asked);
  return key;
}

function end(id: string, isDone: boolean) {
  const attempt = sent.get(id);
  sent.delete(id);
  if (attempt && !isDone) failed.set(attempt.asked, { ...attempt, at: Date.now() });
}

export const repeats: Middleware = {
  async onRequest({ request, schemaPath, id }) {
    if (!creates(request, schemaPath)) return;
    const asked = `${request.headers.get("X-Svc-Org")} ${request.url} ${await request.clone().text()}`;
    const key = keyOf(asked);
    sent.set(id, { asked, key });
    request.headers.set("Idempotency-Key", key);
    return request;
  },
  onResponse: ({ response, id }) => end(id, response.ok),
  onError: ({ id }) => end(id, false),
};
