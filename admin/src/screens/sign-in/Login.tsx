import { useMutation, useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Link, Redirect } from "wouter";
import { api, ask, hasSession } from "../../api/client";
import { meQuery, optionsQuery } from "../../api/queries";
import { Refusal } from "../../api/refusal";
import { serves } from "../../app/serves";
import { t } from "../../app/words";
import { home, returnPath, useEnter } from "./arrival";
import { Door, DoorForm, Email } from "./Door";
import { MailAgain } from "./MailAgain";
import { Outside, useProviderRefusal } from "./Outside";
import { refused } from "./refusals";

export default function Login() {
  const enter = useEnter();
  const id = useId();
  const me = useQuery({ ...meQuery, enabled: hasSession() });
  const options = useQuery(optionsQuery);
  const [failure, setFailure] = useState(useProviderRefusal());
  const [unconfirmed, setUnconfirmed] = useState<string>(); // the address of an account that waits for its mail
  const login = useMutation({
    mutationFn: (body: { email: string; password: string }) => ask(api.POST("/v1/auth/login", { body })),
    onMutate: () => setUnconfirmed(undefined),
    onSuccess: () => enter(),
    onError: (error, { email }) => {
      setFailure(refused("login", error));
      setUnconfirmed(error instanceof Refusal && error.code === "email_not_verified" ? email : undefined);
    },
  });
  if (me.data && !failure && !login.isPending) return <Redirect to={returnPath() ?? home()} replace />;
  return (
    <Door title={t("Sign in")}>
      <DoorForm id="login" send={t("Sign in")} busy={login.isPending} says={failure}
        onSend={({ email = "", password = "" }) => login.mutate({ email, password })}>
        <Email />
        <div className="field">
          <label htmlFor={id}>{t("Password")}</label>
          <input className="input" id={id} name="password" type="password" autoComplete="current-password" required maxLength={128} />
        </div>
      </DoorForm>
      {unconfirmed && <MailAgain key={unconfirmed} email={unconfirmed} />}
      <Outside onFail={setFailure} />
      <p className="below">
        <Link href="/reset-password">{t("Forgot the password?")}</Link>
      </p>
      {serves("sign_up") && options.data?.sign_up !== "off" && options.data && (
        <p className="below">{t("No account yet?")} <Link href="/signup">{t("Sign up")}</Link></p>
      )}
    </Door>
  );
}
