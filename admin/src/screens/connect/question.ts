// What a client asks, as it stands in the address of the consent page.
import type { Schemas } from "../../api/client";

export type Question = Schemas["AuthorizationQuery"];

const names = ["client_id", "redirect_uri", "response_type", "state", "scope", "code_challenge", "code_challenge_method", "resource"] as const;

/** Nothing when the address lacks what is needed, or says something twice (RFC 6749, section 3.1). */
export function questionIn(search: string): Question | undefined {
  const query = new URLSearchParams(search);
  const question: Partial<Record<(typeof names)[number], string>> = {};
  for (const name of names) {
    const [value, ...more] = query.getAll(name);
    if (more.length > 0) return undefined;
    if (value !== undefined) question[name] = value;
  }
  const { client_id, redirect_uri } = question;
  return client_id && redirect_uri ? { ...question, client_id, redirect_uri } : undefined;
}
