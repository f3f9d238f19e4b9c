import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { api, ask } from "../../api/client";
import { meQuery } from "../../api/queries";
import { useSession } from "../../app/session";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { Failure } from "../../parts/Failure";
import { TextField } from "../../parts/Field";
import { toast } from "../../parts/toasts";

/** Sets the first password, or another in place of the one there is. */
export function Password({ hasOne }: { hasOne: boolean }) {
  const client = useQueryClient();
  const { me } = useSession();
  const form = useRef<HTMLFormElement>(null);
  const save = useMutation({
    mutationFn: async () => {
      const { current_password = "", new_password = "" } = Object.fromEntries(new FormData(form.current!)) as Record<string, string>;
      if (hasOne) await ask(api.POST("/v1/me/password", { body: { current_password, new_password } }));
      else await ask(api.POST("/v1/me/password/set", { body: { new_password } }));
    },
    onSuccess: () => {
      form.current?.reset();
      void client.invalidateQueries({ queryKey: meQuery.queryKey });
      void client.invalidateQueries({ queryKey: ["sessions"] });
      toast(hasOne ? t("The password is changed; other sessions have ended") : t("The password is set"));
    },
  });
  return (
    <section className="panel padded stack" aria-labelledby="password-heading">
      <h2 id="password-heading">{hasOne ? t("Change the password") : t("Set a password")}</h2>
      <form ref={form} className="stack" onSubmit={(event) => { event.preventDefault(); save.mutate(); }}>
        <input name="username" type="email" autoComplete="username" hidden readOnly value={me.email ?? ""} />
        {hasOne && <TextField label={t("The password you have")} name="current_password" type="password" autoComplete="current-password" required maxLength={128} />}
        <TextField label={t("New password")} name="new_password" type="password" autoComplete="new-password" required minLength={8} maxLength={128} note={t("At least 8 characters.")} />
        <Failure error={save.error} />
        <div><Button busy={save.isPending}>{hasOne ? t("Change it") : t("Set it")}</Button></div>
      </form>
    </section>
  );
}
