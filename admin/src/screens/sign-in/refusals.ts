import { Refusal, worded } from "../../api/refusal";
import { t } from "../../app/words";

const tooOften = "That was too often; wait some minutes.";
const words: Record<string, Record<number, string>> = {
  signup: { 422: "Something is missing: an address, and a password of at least 8 characters.", 429: tooOften },
  verify: { 422: "This link has been used or has run out. If the address is not confirmed yet, sign up once more." },
  first: { 401: "The session is over; ask for a new password by mail.", 422: "The password is too short or too long." },
  ask: { 422: "That is not an address.", 429: tooOften },
  resend: { 429: tooOften },
  reset: { 422: "This link has been used or has run out, or the password is too short or too long." },
  login: {
    401: "That address and password do not go together.",
    403: "The address is not confirmed yet: open the link in the mail first.",
    422: "That is not an address and a password.",
    429: tooOften,
  },
};

/** What a form says when it was refused. What the operator has closed the server words best itself. */
export function refused(form: string, error: unknown): string {
  if (!(error instanceof Refusal) || error.code === "sign_up_closed" || error.code === "account_disabled") return worded(error);
  const own = words[form]?.[error.status];
  return own ? t(own) : error.message;
}
