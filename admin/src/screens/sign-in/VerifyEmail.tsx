import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, ask } from "../../api/client";
import { mailedToken } from "../../app/mailedToken";
import { t } from "../../app/words";
import { home, useEnter } from "./arrival";
import { Door, DoorForm, NewPassword } from "./Door";
import { refused } from "./refusals";

/** For an account that has no password: only the browser that signed up brings one along. */
function FirstPassword({ email }: { email: string }) {
  const enter = useEnter();
  const [failure, setFailure] = useState<string>();
  const set = useMutation({
    mutationFn: (new_password: string) => ask(api.POST("/v1/me/password/set", { body: { new_password } })),
    onSuccess: () => enter(),
    onError: (error) => setFailure(refused("first", error)),
  });
  return (
    <Door title={t("Choose a password")}>
      <p className="lead">{t("{{email}} is confirmed, and signed in, in this browser.", { email })} {t("The account has no password yet. Choose one now, to be able to sign in again.")}</p>
      <DoorForm id="first" send={t("Set the password")} busy={set.isPending} says={failure} onSend={({ new_password = "" }) => set.mutate(new_password)}>
        <input name="username" type="email" autoComplete="username" hidden readOnly value={email} />
        <NewPassword name="new_password" label={t("Password")} autoFocus />
      </DoorForm>
      <p className="below"><Link href={home()}>{t("Go on without a password")}</Link></p>
    </Door>
  );
}

export default function VerifyEmail() {
  const token = mailedToken();
  const enter = useEnter();
  const [failure, setFailure] = useState<string>();
  const verify = useMutation({
    mutationFn: () => ask(api.POST("/v1/auth/verify-email", { body: { token: token! } })),
    onSuccess: ({ user }) => { if (user.has_password) enter(); },
    onError: (error) => setFailure(refused("verify", error)),
  });
  if (verify.data && !verify.data.user.has_password) return <FirstPassword email={verify.data.user.email ?? ""} />;
  // Mail scanners open links but press no buttons, so the token is spent by a press.
  return (
    <Door title={t("Confirm your address")} says={token ? undefined : t("The link is incomplete: copy all of it from the mail.")}>
      {token && (
        <>
          <p className="lead">{t("Confirm that this address is yours. It signs you in, in this browser.")}</p>
          <DoorForm id="verify" send={t("Confirm and sign in")} busy={verify.isPending} says={failure} onSend={() => verify.mutate()}><span hidden /></DoorForm>
        </>
      )}
    </Door>
  );
}
