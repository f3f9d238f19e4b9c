import { api, ask, type Schemas } from "../../api/client";
import { Refusal } from "../../api/refusal";

/** Signs up with the language and the time zone of the browser, but for one that the server does not know. */
export async function signUp(body: Schemas["SignupRequest"]) {
  const here = { locale: navigator.language, timezone: new Intl.DateTimeFormat().resolvedOptions().timeZone };
  try {
    return await ask(api.POST("/v1/auth/signup", { body: { ...body, ...here } }));
  } catch (error) {
    const places = error instanceof Refusal ? error.faults.flatMap(({ loc }) => loc) : [];
    const known = Object.fromEntries(Object.entries(here).filter(([name]) => !places.includes(name)));
    if (Object.keys(known).length === Object.keys(here).length) throw error;
    return ask(api.POST("/v1/auth/signup", { body: { ...body, ...known } }));
  }
}
