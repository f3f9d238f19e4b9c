import type { Schemas } from "../../api/client";

/** A person or agent of the workspace as cards name them. */
export const refOf = (user: Schemas["UserObject"]): Schemas["PrincipalRef"] => ({
  object: "user", id: user.id, principal_type: user.type === "bot" ? "agent" : "user", name: user.name,
});
