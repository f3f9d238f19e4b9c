import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, ask } from "../../api/client";
import { mailedToken } from "../../app/mailedToken";
import { t } from "../../app/words";
import { Door, DoorForm, Email, NewPassword } from "./Door";
import { refused } from "./refusals";

/** Without a link: asks for one. */
function AskForMail() {
  const [failure, setFailure] = useState<string>();
  const request = useMutation({
    mutationFn: (email: string) => ask(api.POST("/v1/auth/password-reset/request", { body: { email } })),
    onError: (error) => setFailure(refused("ask", error)),
  });
  if (request.isSuccess)
    return <Door title={t("Read your mail")} says={t("If the address has an account, the link is on its way to it.")} />;
  return (
    <Door title={t("Choose a new password")}>
      <p className="lead">{t("We mail a link to the account's address; it leads back here to choose another password.")}</p>
      <DoorForm id="ask" send={t("Send the mail")} busy={request.isPending} says={failure} onSend={({ email = "" }) => request.mutate(email)}><Email /></DoorForm>
      <p className="below"><Link href="/login">{t("Sign in")}</Link></p>
    </Door>
  );
}

/** By the mailed link: takes the new password. */
function Choose({ token }: { token: string }) {
  const [failure, setFailure] = useState<string>();
  const reset = useMutation({
    mutationFn: (new_password: string) => ask(api.POST("/v1/auth/password-reset/confirm", { body: { token, new_password } })),
    onError: (error) => setFailure(refused("reset", error)),
  });
  if (reset.isSuccess)
    return <Door title={t("The password is changed")} says={<>{t("Use it from now on.")} <Link href="/login">{t("Sign in with it")}</Link></>} />;
  return (
    <Door title={t("Choose a new password")}>
      <p className="lead">{t("It replaces the old password and ends every session of the account.")}</p>
      <DoorForm id="reset" send={t("Set the password")} busy={reset.isPending} says={failure} onSend={({ new_password = "" }) => reset.mutate(new_password)}>
        <NewPassword name="new_password" label={t("New password")} autoFocus />
      </DoorForm>
    </Door>
  );
}

export default function ResetPassword() {
  const token = mailedToken();
  return token ? <Choose token={token} /> : <AskForMail />;
}
