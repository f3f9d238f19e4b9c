import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, membershipsQuery, pagesQuery } from "../../api/queries";
import { useCommands } from "../../app/commands";
import { useSession } from "../../app/session";
import { ago, day } from "../../app/time";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { Failure } from "../../parts/Failure";
import { Icon } from "../../parts/Icon";
import { lazy } from "../../parts/lazy";
import { Page } from "../../parts/Page";
import { toast } from "../../parts/toasts";
import { useAct } from "../../parts/useAct";
import { useKeptFocus } from "../../parts/useKeptFocus";
import { WaitPages } from "../../parts/Wait";
import { Who } from "../../parts/Who";

const Invite = lazy(() => import("./Invite"));
const WorkspaceDialog = lazy(() => import("./WorkspaceDialog"));
type Member = Schemas["MembershipResponse"];
const roles = ["owner", "admin", "member", "viewer"] as const;

function Seats({ org_id }: { org_id: string }) {
  const billing = useQuery({ queryKey: inOrg("billing"), queryFn: () => ask(api.GET("/v1/orgs/{org_id}/billing", { params: { path: { org_id } } })) });
  if (!billing.data) return null;
  const { seat_cap, seat_count, plan } = billing.data;
  return (
    <p className="soft" style={{ margin: 0 }}>
      {t("Plan: {{plan}}.", { plan: t(plan) })} {seat_cap === null ? t("{{count}} seats are taken.", { count: seat_count }) : t("{{taken}} of {{all}} seats are taken.", { taken: seat_count, all: seat_cap })}
    </p>
  );
}

function MemberRow({ member, act, onRemove, onChange }: { member: Member; act: ReturnType<typeof useAct>; onRemove: () => void; onChange: (role: Member["role"]) => Promise<void> }) {
  const { me, isAdmin, seat } = useSession();
  const params = { path: { org_id: member.org_id, user_id: member.user_id } };
  const mayChange = isAdmin && (seat?.role === "owner" || member.role !== "owner");
  const name = member.user.name ?? member.user.email;
  const [chosen, setChosen] = useState<Member["role"]>(); // until the list was read again
  return (
    <tr>
      <td><Who who={{ name, principal_type: "user" }} you={member.user_id === me.id} /><div className="soft small">{member.user.email}</div></td>
      <td>
        {mayChange
          ? (
            <select className="input" style={{ width: "auto" }} aria-label={t("Role of {{name}}", { name })} value={chosen ?? member.role}
              onChange={(event) => {
                const role = event.target.value as Member["role"];
                setChosen(role);
                const end = () => setChosen((now) => (now === role ? undefined : now));
                void onChange(role).then(end, end);
              }}>
              {roles.filter((role) => seat?.role === "owner" || role !== "owner").map((role) => <option key={role} value={role}>{t(role)}</option>)}
            </select>
          ) : t(member.role)}
      </td>
      <td className="soft small" data-label={t("Last seen")}>{member.last_active_at ? ago(member.last_active_at) : t("never")}</td>
      <td className="end">
        {isAdmin && !member.user.email_verified && (
          <button type="button" className="button small" aria-disabled={act.isBusy(member.user_id)} onClick={() => act.mutate(async () => {
            await ask(api.POST("/v1/orgs/{org_id}/members/{user_id}:resend-invite", { params }));
            toast(t("The mail is on its way to {{email}}", { email: member.user.email }));
          }, member.user_id)}>{t("Send the mail again")}</button>
        )}
        {(mayChange || member.user_id === me.id) && (
          <button type="button" className="button small danger" onClick={onRemove}>{member.user_id === me.id ? t("Leave") : t("Remove")}</button>
        )}
      </td>
    </tr>
  );
}

function Invitations({ org_id }: { org_id: string }) {
  const act = useAct(inOrg("invitations"));
  const focus = useKeptFocus<HTMLElement>("tbody button");
  const query = useInfiniteQuery(pagesQuery(inOrg("invitations"), (start_cursor) =>
    ask(api.GET("/v1/orgs/{org_id}/invitations", { params: { path: { org_id }, query: { page_size: 50, start_cursor, status: "pending" } } }))));
  const resend = ({ id, email, role, message }: Schemas["InvitationResponse"]) => act.mutate(async () => {
    await ask(api.POST("/v1/orgs/{org_id}/invitations", { params: { path: { org_id } }, body: { email, role, message } }));
    toast(t("The mail is on its way to {{email}}", { email }));
  }, id);
  return (
    <section className="panel" aria-labelledby="invitations-heading" {...focus}>
      <h2 id="invitations-heading" style={{ padding: "0.8rem 0.9rem 0.2rem" }}>{t("Invitations")}</h2>
      <WaitPages query={query} empty={<p className="soft" style={{ padding: "0 0.9rem 0.9rem", margin: 0 }}>{t("Nobody is invited just now.")}</p>}>
        {(all) => (
          <table className="table cards">
            <thead><tr><th>{t("Address")}</th><th>{t("Role")}</th><th>{t("Expires")}</th><th><span className="unseen">{t("Actions")}</span></th></tr></thead>
            <tbody>
              {all.map((each) => (
                <tr key={each.id}>
                  <td>{each.email}<div className="soft small">{t("sent {{count}} times, last {{when}}", { count: each.send_count, when: ago(each.last_sent_at) })}</div></td>
                  <td>{t(each.role)}</td>
                  <td className="soft small nowrap" data-label={t("Expires")}>{day(each.expires_at)}</td>
                  <td className="end"><span className="row" style={{ justifyContent: "flex-end" }}>
                    <button type="button" className="button small" aria-label={t("Resend to {{email}}", { email: each.email })} aria-disabled={act.isBusy(each.id)} onClick={() => resend(each)}>{t("Resend")}</button>
                    <button type="button" className="button small danger" aria-label={t("Revoke the invitation of {{email}}", { email: each.email })} aria-disabled={act.isBusy(each.id)}
                      onClick={() => act.mutate(() => ask(api.DELETE("/v1/orgs/{org_id}/invitations/{invitation_id}", { params: { path: { org_id, invitation_id: each.id } } })), each.id)}>{t("Revoke")}</button>
                  </span></td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </WaitPages>
      <Failure error={act.error} />
    </section>
  );
}

export default function Members() {
  const { me, seat, isAdmin } = useSession();
  const [, go] = useLocation();
  const org_id = seat!.org_id;
  const [open, setOpen] = useState<"" | "invite" | "workspace">("");
  const [removing, setRemoving] = useState<Member>();
  const [stepping, setStepping] = useState<{ role: Member["role"]; answer: (isWanted: boolean) => void }>();
  const act = useAct(inOrg("members"), inOrg("users"), inOrg("billing"), membershipsQuery.queryKey);
  const members = useInfiniteQuery(pagesQuery(inOrg("members"), (start_cursor) =>
    ask(api.GET("/v1/orgs/{org_id}/members", { params: { path: { org_id }, query: { page_size: 50, start_cursor } } }))));
  useCommands(isAdmin ? [{ id: "invite", label: t("Invite people"), group: t("Members"), keys: ["n"], icon: "plus", run: () => setOpen("invite") }] : [], [isAdmin]);
  /** One's own is asked about: a letter on the list chooses, and only another can give it back. */
  const change = async ({ user_id }: Member, role: Member["role"]) => {
    act.reset();
    if (user_id === me.id && !await new Promise<boolean>((answer) => setStepping({ role, answer }))) throw new Error("not wanted");
    await act.run(() => ask(api.PATCH("/v1/orgs/{org_id}/members/{user_id}", { params: { path: { org_id, user_id } }, body: { role } })));
  };
  const answer = (isWanted: boolean) => {
    stepping?.answer(isWanted);
    setStepping(undefined);
  };
  const remove = (member: Member) => act.mutate(async () => {
    if (member.user_id === me.id) {
      await ask(api.DELETE("/v1/orgs/{org_id}/members/me", { params: { path: { org_id } } }));
      go("/boards");
    } else await ask(api.DELETE("/v1/orgs/{org_id}/members/{user_id}", { params: { path: { org_id, user_id: member.user_id } } }));
    setRemoving(undefined);
  });
  return (
    <Page title={t("Members")} actions={isAdmin && (
      <>
        <button type="button" className="button" onClick={() => setOpen("workspace")}>{t("The workspace…")}</button>
        <button type="button" className="button go" onClick={() => setOpen("invite")}><Icon name="plus" />{t("Invite people")}</button>
      </>
    )}>
      {isAdmin && <Seats org_id={org_id} />}
      {!removing && <Failure error={act.error} />}
      <section className="panel" aria-label={t("Members")}>
        <WaitPages query={members} empty={null}>
          {(all) => (
            <table className="table cards">
              <thead><tr><th>{t("Person")}</th><th>{t("Role")}</th><th>{t("Last seen")}</th><th><span className="unseen">{t("Actions")}</span></th></tr></thead>
              <tbody>{all.map((member) => <MemberRow key={member.id} member={member} act={act} onRemove={() => { act.reset(); setRemoving(member); }} onChange={(role) => change(member, role)} />)}</tbody>
            </table>
          )}
        </WaitPages>
      </section>
      {isAdmin && <Invitations org_id={org_id} />}
      {open === "invite" && <Invite org_id={org_id} onClose={() => setOpen("")} />}
      {open === "workspace" && <WorkspaceDialog org_id={org_id} onClose={() => setOpen("")} />}
      {stepping && (
        <FormDialog title={t("Your role: {{role}}", { role: t(stepping.role) })} send={t("Change it")} danger onClose={() => answer(false)} onSend={() => answer(true)}>
          <p>{t("What you may do changes at once. Only another can give you your role back.")}</p>
        </FormDialog>
      )}
      {removing && (
        <FormDialog title={removing.user_id === me.id ? t("Leave {{name}}", { name: removing.org_name }) : t("Remove {{name}}", { name: removing.user.name ?? removing.user.email })}
          send={removing.user_id === me.id ? t("Leave the workspace") : t("Remove")} danger busy={act.isPending} error={act.error} onClose={() => setRemoving(undefined)} onSend={() => remove(removing)}>
          <p>{removing.user_id === me.id ? t("You see its boards no more. To come back takes an invitation.") : t("They see the workspace's boards no more, and their tokens end. What they did keeps their name.")}</p>
        </FormDialog>
      )}
    </Page>
  );
}
