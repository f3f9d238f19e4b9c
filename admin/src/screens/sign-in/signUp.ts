import { api, ask, type Schemas } from "../../api/client";
import { Refusal } from "../../api/refusal";

/** Signs up with the language and the time zone of the browser, unless the server knows of no such. */
export async function signUp(body: Schemas["SignupRequest"]) {
  const { timeZone: timezone } = new Intl.DateTimeFormat().resolvedOptions();
  try {
    return await ask(api.POST("/v1/auth/signup", { body: { ...body, locale: navigator.language, timezone } }));
  } catch (error) {
    const isOfHere = error instanceof Refusal && error.faults.some(({ loc }) => loc.includes("timezone") || loc.includes("locale"));
    if (!isOfHere) throw error;
    return ask(api.POST("/v1/auth/signup", { body }));
  }
}
