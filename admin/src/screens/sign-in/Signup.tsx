import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { optionsQuery } from "../../api/queries";
import { t } from "../../app/words";
import { Waiting } from "../../parts/Wait";
import { Door, DoorForm, Email, Name, NewPassword } from "./Door";
import { MailAgain } from "./MailAgain";
import { Outside } from "./Outside";
import { refused } from "./refusals";
import { signUp } from "./signUp";

/** After the form: the mail is on its way, and can be sent once more. */
function ReadYourMail({ email }: { email: string }) {
  return (
    <Door title={t("Read your mail")}>
      <p className="outcome" role="status">{t("We have sent a mail to {{email}}. Open the link in it, in this browser, to confirm the address and to sign in.", { email })}</p>
      <MailAgain email={email} />
    </Door>
  );
}

export default function Signup() {
  const options = useQuery(optionsQuery);
  const [failure, setFailure] = useState<string>();
  const signup = useMutation({
    mutationFn: signUp,
    onError: (error) => setFailure(refused("signup", error)),
  });
  if (signup.isSuccess) return <ReadYourMail email={signup.variables.email} />;
  if (options.isPending) return <Door title={t("Sign up")}><Waiting /></Door>;
  const policy = options.data?.sign_up;
  return (
    <Door title={t("Sign up")}>
      {policy === "invited" && (
        <p className="lead">
          {t("This server takes new accounts by invitation. If you have one, follow the link in its mail, or sign up here with the address that it was mailed to.")}
        </p>
      )}
      {policy === "off"
        ? <p className="lead">{t("This server takes no new accounts from outside. Ask its operator for one.")}</p>
        : (
          <>
            <DoorForm id="signup" send={t("Sign up")} busy={signup.isPending} says={failure}
              onSend={({ email = "", password = "", name }) => signup.mutate({ email, password, ...(name && { name }) })}>
              <Email />
              <Name />
              <NewPassword name="password" label={t("Password")} />
            </DoorForm>
            <Outside onFail={setFailure} />
          </>
        )}
      <p className="below">{t("An account already?")} <Link href="/login">{t("Sign in")}</Link></p>
    </Door>
  );
}
