import { useMutation } from "@tanstack/react-query";
import { api, ask } from "../../api/client";
import { t } from "../../app/words";
import { DoorForm } from "./Door";
import { refused } from "./refusals";

/** The mail by which an address is confirmed, sent once more. */
export function MailAgain({ email }: { email: string }) {
  const resend = useMutation({ mutationFn: () => ask(api.POST("/v1/auth/resend-verification", { body: { email } })) });
  if (resend.isSuccess) return <p className="outcome" role="status">{t("Another mail is on its way to {{email}}.", { email })}</p>;
  return <DoorForm id="resend" send={t("Send the mail again")} busy={resend.isPending} says={resend.error && refused("resend", resend.error)} onSend={() => resend.mutate()} />;
}
