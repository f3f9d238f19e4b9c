// What is created once more because the answer was lost is there once: the repeat of the same request has
// the same Idempotency-Key. Moves and the like have none: what happened between counts for them.
import type { Middleware } from "openapi-fetch";

interface Attempt {
  asked: string;
  key: string;
}
/** After this, who asks for the same means another one. */
const longest = 10 * 60_000; // milliseconds

const sent = new Map<string, Attempt>();
const failed = new Map<string, Attempt & { at: number }>();

const creates = ({ method }: Request, path: string) => method === "POST" && !path.includes(":") && !/^\/v1\/(auth|me|oauth|search)\b/.test(path);

/** The key of the attempt that failed, once. */
function keyOf(asked: string): string {
  for (const [each, { at }] of failed) if (Date.now() - at > longest) failed.delete(each);
  const key = failed.get(asked)?.key ?? crypto.randomUUID();
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
