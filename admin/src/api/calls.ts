// The last calls that this page has made, to be made by a program, too.
import type { Middleware } from "openapi-fetch";

export interface Call {
  id: string;
  method: string;
  /** As the OpenAPI document has it: /v1/cards/{card_id}. */
  template: string;
  /** As it was sent: /v1/cards/ENG-1?page_size=1. */
  address: string;
  values: Record<string, unknown>;
  /** The names of headers that are the operation's own. */
  headers: string[];
  body: Promise<Record<string, unknown> | undefined>;
  at: number;
  status?: number;
}

const most = 40;
let all: readonly Call[] = [];
const listeners = new Set<() => void>();
function become(next: readonly Call[]) {
  all = next;
  for (const each of listeners) each();
}
export const getCalls = () => all;
export const onCalls = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Passwords and the like are not remembered: what they are called stands in their place. */
const withoutSecrets = (body: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [name, /(^|_)(password|token|secret)$/.test(name) ? `<${name}>` : value]));

async function bodyOf(request: Request) {
  try {
    return withoutSecrets((await request.clone().json()) as Record<string, unknown>);
  } catch {
    return undefined; // there is none
  }
}

export const remember: Middleware = {
  onRequest({ request, schemaPath, params, id }) {
    const { pathname, search } = new URL(request.url);
    become([
      { id, method: request.method, template: schemaPath, address: decodeURI(pathname) + search, values: { ...params.path, ...params.query }, headers: Object.keys(params.header ?? {}), body: request.method === "GET" ? Promise.resolve(undefined) : bodyOf(request), at: Date.now() },
      ...all.slice(0, most - 1),
    ]);
  },
  onResponse({ response, id }) {
    if (all.some((each) => each.id === id)) become(all.map((each) => (each.id === id ? { ...each, status: response.status } : each)));
  },
};

const quoted = (text: string) => `'${text.replace(/'/g, "'\\''")}'`;

/** `isOpen`: to anybody, without a token. */
export function asCurl({ method, address, headers }: Call, body: unknown, origin: string, version: string, isOpen = false): string {
  const words = [
    "curl -sS", method === "GET" || (method === "POST" && body) ? "" : `-X ${method}`, quoted(origin + address),
    isOpen ? "" : "-H \"Authorization: Bearer $TOKEN\"", `-H "X-Board-Version: ${version}"`, ...headers.map((name) => `-H "${name}: <${name}>"`),
  ];
  if (body !== undefined) words.push(`--json ${quoted(JSON.stringify(body))}`);
  return words.filter(Boolean).join(" \\\n  ");
}

/** Tools take every field side by side, wherever REST has it. */
export const asTool = (name: string, { values }: Call, body: Record<string, unknown> | undefined) =>
  JSON.stringify({ method: "tools/call", params: { name, arguments: Object.fromEntries(Object.entries({ ...values, ...body }).filter(([, value]) => value !== undefined)) } }, null, 2);
