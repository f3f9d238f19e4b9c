// Calls of the server's interface. Paths, bodies and answers have the types of its own OpenAPI
// document, which the build asks the server for.
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "#schema";
import { remember } from "./calls";
import { Refusal, unreachable } from "./refusal";
import { repeats } from "./repeats";
import { tabOrg } from "./workspace";

export type Schemas = components["schemas"];
export const boardVersion = "2026-06-19";

export function cookie(name: string): string | undefined {
  const pair = document.cookie.split("; ").find((each) => each.startsWith(name + "="));
  return pair && decodeURIComponent(pair.slice(name.length + 1));
}

/** Whether this browser has a session; whether that is still good the server says. */
export const hasSession = () => cookie("svc_csrf") !== undefined;

const headers: Middleware = {
  onRequest({ request }) {
    request.headers.set("X-Board-Version", boardVersion);
    const org = tabOrg();
    // What is about the person, and not a workspace, is so in every one.
    const isPersonal = /^\/v1\/(me|auth|invitations)\b/.test(new URL(request.url).pathname);
    if (org && !isPersonal && !request.headers.has("X-Svc-Org")) request.headers.set("X-Svc-Org", org);
    const csrf = cookie("svc_csrf");
    if (csrf && request.method !== "GET") request.headers.set("X-CSRF-Token", csrf);
    return request;
  },
};

export const api = createClient<paths>({ baseUrl: location.origin });
api.use(headers, repeats, remember);

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The answer's data, or a Refusal is thrown. */
export async function ask<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw unreachable();
  }
  if (answer.response.ok) return answer.data as T;
  throw Refusal.of(answer.response, answer.error);
}
