import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, useLocation, useParams } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { meQuery, optionsQuery } from "../../api/queries";
import { Refusal, worded } from "../../api/refusal";
import { setTabOrg } from "../../api/workspace";
import { day } from "../../app/time";
import { mailedToken } from "../../app/mailedToken";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { Failure } from "../../parts/Failure";
import { Waiting } from "../../parts/Wait";
import { home } from "../sign-in/arrival";
import { Door, DoorForm, Email, Name, NewPassword } from "../sign-in/Door";
import { signUp } from "../sign-in/signUp";

type Preview = Pick<Schemas["InvitationPreview"], "org_name" | "invited_by_name" | "email" | "role" | "status" | "message" | "expires_at">;

const endings: Record<string, string> = {
  accepted: "This invitation has been accepted already.",
  declined: "This invitation was declined. Ask for another one if that was a mistake.",
  revoked: "This invitation was revoked. Ask the person who sent it.",
  expired: "This invitation has run out. Ask for another one.",
};
const same = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();

/** The token of the mail, also on the way by the sign-in page and back. */
function useToken(id: string) {
  const fresh = mailedToken();
  const kept = `invitation ${id}`;
  if (fresh) sessionStorage.setItem(kept, fresh);
  return fresh ?? sessionStorage.getItem(kept) ?? undefined;
}

/** The invitation, by the token, or as that of the person who is signed in. */
async function find(id: string, token: string | undefined, signedIn: boolean): Promise<Preview | null> {
  if (token) {
    try {
      return await ask(api.GET("/v1/invitations/{invitation_id}", {
        params: { path: { invitation_id: id }, header: { "x-svc-invitation-token": token } },
      }));
    } catch (error) {
      if (!(error instanceof Refusal) || error.passes) throw error;
    }
  }
  if (!signedIn) return null;
  const { results } = await ask(api.GET("/v1/me/invitations", { params: { query: { page_size: 100 } } }));
  const mine = results.find((each) => each.id === id);
  return mine ? { ...mine, invited_by_name: mine.invited_by.name } : null;
}

function useAnswer(id: string) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const params = { path: { invitation_id: id } };
  const accept = async () => {
    const seat = await ask(api.POST("/v1/invitations/{invitation_id}:accept", { params }));
    sessionStorage.removeItem(`invitation ${id}`);
    setTabOrg(seat.org_id);
    client.clear();
    go(home(), { replace: true });
  };
  const decline = async () => {
    await ask(api.POST("/v1/invitations/{invitation_id}:decline", { params }));
    sessionStorage.removeItem(`invitation ${id}`);
  };
  return { accept, decline };
}

const refusedWords = (error: unknown) =>
  error instanceof Refusal && error.status === 402
    ? t("The workspace has no free seat. Ask its owner to make room, then come here again.")
    : error instanceof Refusal && error.status === 404
      ? t("It was answered or withdrawn, or it is for another address.")
      : worded(error);

/** Signs up, which the token confirms at once, signs in and accepts. */
function Join({ id, token, invitation, below }: { id: string; token: string; invitation: Preview; below: ReactNode }) {
  const { accept } = useAnswer(id);
  const { email } = invitation;
  const join = useMutation({
    mutationFn: async ({ name, password = "" }: Record<string, string>) => {
      const made = await signUp({ email, password, invitation_token: token, ...(name && { name }) });
      if (!made.email_verified) return "mailed";
      await ask(api.POST("/v1/auth/login", { body: { email, password } }));
      await accept();
      return "in";
    },
  });
  if (join.data === "mailed")
    return <Door title={t("Read your mail")} says={t("We have sent a mail to {{email}} that says how to go on.", { email })} />;
  return (
    <Offer invitation={invitation}>
      <DoorForm id="join" send={t("Sign up and join")} busy={join.isPending} says={join.error && refusedWords(join.error)} onSend={(fields) => join.mutate(fields)}>
        <Email readOnly value={email} />
        <Name />
        <NewPassword name="password" label={t("Password")} />
      </DoorForm>
      {below}
    </Offer>
  );
}

function Offer({ invitation, says, children }: { invitation: Preview; says?: ReactNode; children?: ReactNode }) {
  const { org_name, invited_by_name, email, role, message, expires_at } = invitation;
  return (
    <Door title={t("Join {{name}}", { name: org_name })} says={says}>
      <p className="lead">
        {t("{{who}} invites {{email}} to the workspace {{name}}, as {{role}}. This can be accepted until {{day}}.", {
          who: invited_by_name || t("Somebody"), email, name: org_name, role: t(role), day: day(expires_at),
        })}
      </p>
      {message && <blockquote id="words">{message}</blockquote>}
      {children}
    </Door>
  );
}

function AcceptOrDecline({ id, invitation }: { id: string; invitation: Preview }) {
  const answer = useAnswer(id);
  const accept = useMutation({ mutationFn: answer.accept });
  const decline = useMutation({ mutationFn: answer.decline });
  if (decline.isSuccess)
    return <Door title={t("Declined")} says={<>{t("You are not in the workspace, and nobody will be asked again but by a new invitation.")} <Link href={home()}>{t("Your boards")}</Link></>} />;
  const error = accept.error ?? decline.error;
  const busy = accept.isPending || decline.isPending;
  return (
    <Offer invitation={invitation} says={error ? refusedWords(error) : undefined}>
      <p className="row">
        <Button type="button" className="button go" busy={accept.isPending} onClick={() => { if (!busy) accept.mutate(); }}>{t("Accept")}</Button>
        <Button type="button" busy={decline.isPending} onClick={() => { if (!busy) decline.mutate(); }}>{t("Decline")}</Button>
      </p>
    </Offer>
  );
}

function OtherAddress({ invitation, email }: { invitation: Preview; email: string }) {
  const leave = async () => {
    await ask(api.POST("/v1/auth/logout"));
    location.reload();
  };
  return (
    <Offer invitation={invitation}>
      <p className="outcome" role="status">{t("You are signed in as {{email}}, which is another address.", { email })}</p>
      <p className="below"><button type="button" className="button" onClick={() => void leave()}>{t("Sign out")}</button></p>
    </Offer>
  );
}

export default function Invitation() {
  const { id = "" } = useParams();
  const token = useToken(id);
  const [path] = useLocation();
  const me = useQuery(meQuery);
  const options = useQuery(optionsQuery);
  const found = useQuery({
    queryKey: ["invitation", id, token, me.data?.id],
    queryFn: () => find(id, token, Boolean(me.data)),
    enabled: me.data !== undefined,
  });
  const [back] = useState(`/login?return_to=${encodeURIComponent(path)}`);
  const signIn = <Link href={back}>{t("Sign in")}</Link>;

  if (me.error ?? found.error)
    return <Door title={t("Invitation")}><Failure error={me.error ?? found.error} retry={() => void (me.error ? me : found).refetch()} /></Door>;
  if (found.isPending || options.isPending) return <Door title={t("Invitation")}><Waiting /></Door>;
  const invitation = found.data;
  if (!invitation && !me.data && !token)
    return <Door title={t("Invitation")} says={<>{t("Open the link in the mail, or sign in with the invited address.")} {signIn}</>} />;
  if (!invitation)
    return <Door title={t("No such invitation")} says={t("The link is incomplete, or a newer mail has taken its place.")} />;
  if (invitation.status !== "pending")
    return (
      <Door title={t("Invitation to {{name}}", { name: invitation.org_name })}
        says={<>{t(endings[invitation.status] ?? "")} {me.data && <Link href={home()}>{t("Your boards")}</Link>}</>} />
    );
  const email = me.data?.email;
  if (email) return same(email, invitation.email) ? <AcceptOrDecline id={id} invitation={invitation} /> : <OtherAddress invitation={invitation} email={email} />;
  const below = <p id="sign-in" className="below">{t("An account already?")} {signIn}</p>;
  if (options.data?.sign_up === "off" || !token)
    return (
      <Offer invitation={invitation} says={t("This server takes no new accounts from outside: ask its operator for one, or sign in.")}>{below}</Offer>
    );
  return <Join id={id} token={token} invitation={invitation} below={below} />;
}
