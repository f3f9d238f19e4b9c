import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { meQuery, membershipsQuery } from "../../api/queries";
import { serves } from "../../app/serves";
import { leave, useSession } from "../../app/session";
import { ago } from "../../app/time";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { changed } from "../../parts/changed";
import { FormDialog } from "../../parts/Dialog";
import { Failure } from "../../parts/Failure";
import { TextArea, TextField } from "../../parts/Field";
import { Page } from "../../parts/Page";
import { toast } from "../../parts/toasts";
import { useAct } from "../../parts/useAct";
import { useKeptFocus } from "../../parts/useKeptFocus";
import { Wait } from "../../parts/Wait";
import { Password } from "./Password";
import { Preferences } from "./Preferences";

const profileKey = ["profile"];

const fieldsOf = ({ name, job_title, pronouns, location, bio }: Schemas["UserProfileResponse"]) =>
  ({ name: name ?? "", job_title: job_title ?? "", pronouns: pronouns ?? "", location: location ?? "", bio: bio ?? "" });

function ProfileForm({ profile }: { profile: Schemas["UserProfileResponse"] }) {
  const client = useQueryClient();
  const [opened, setOpened] = useState(() => fieldsOf(profile));
  const [fields, setFields] = useState(opened);
  const [version, setVersion] = useState(profile.version);
  if (version !== profile.version) { // saved here or elsewhere: what is being written stays
    setVersion(profile.version);
    setOpened(fieldsOf(profile));
    setFields({ ...fieldsOf(profile), ...changed(fields, opened) });
  }
  const set = (name: keyof typeof fields) => (event: { target: { value: string } }) => setFields({ ...fields, [name]: event.target.value });
  const save = useMutation({
    mutationFn: () => {
      const { name, ...rest } = changed(fields, opened);
      return ask(api.PATCH("/v1/me/profile", { body: { ...(name && { name }), ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, value || null])) } }));
    },
    onSuccess: (next) => {
      client.setQueryData(profileKey, next);
      void client.invalidateQueries({ queryKey: meQuery.queryKey });
      void client.invalidateQueries({ queryKey: membershipsQuery.queryKey });
      toast(t("Your profile is saved"));
    },
  });
  return (
    <form className="stack" onSubmit={(event) => { event.preventDefault(); save.mutate(); }}>
      <TextField label={t("Name")} value={fields.name} onChange={set("name")} required maxLength={120} autoComplete="name" />
      <TextField label={t("What you do")} value={fields.job_title} onChange={set("job_title")} maxLength={120} autoComplete="organization-title" />
      <TextField label={t("Pronouns")} value={fields.pronouns} onChange={set("pronouns")} maxLength={40} />
      <TextField label={t("Where you are")} value={fields.location} onChange={set("location")} maxLength={120} />
      <TextArea label={t("About you")} value={fields.bio} onChange={set("bio")} maxLength={1000} />
      <Failure error={save.error} />
      <div><Button className="button go" busy={save.isPending}>{t("Save")}</Button></div>
    </form>
  );
}

function Sessions() {
  const query = useQuery({ queryKey: ["sessions"], queryFn: () => ask(api.GET("/v1/me/sessions", { params: { query: { page_size: 100 } } })) });
  const act = useAct(["sessions"]);
  const [asking, setAsking] = useState(false);
  const everywhere = useMutation({ mutationFn: () => ask(api.DELETE("/v1/me/sessions")), onSuccess: leave });
  const focus = useKeptFocus<HTMLElement>("li button");
  return (
    <section className="panel padded stack" aria-labelledby="sessions-heading" {...focus}>
      <div className="row apart">
        <h2 id="sessions-heading">{t("Sessions")}</h2>
        <button type="button" className="button small danger" onClick={() => { everywhere.reset(); setAsking(true); }}>{t("Sign out everywhere…")}</button>
      </div>
      <Failure error={act.error} />
      <Wait query={query}>
        {({ results }) => (
          <ul className="stack" style={{ listStyle: "none" }}>
            {results.map((session) => (
              <li key={session.id} className="row">
                <span className="grow">
                  {session.is_current && <span className="tag good">{t("this browser")}</span>} {session.ip_address}
                  <div className="soft small clip" title={session.user_agent ?? undefined}>{session.user_agent}</div>
                  <div className="soft small">{t("last seen {{when}}", { when: ago(session.last_seen_at) })}</div>
                </span>
                {!session.is_current && (
                  <button type="button" className="button small" aria-disabled={act.isBusy(session.id)} aria-label={t("Sign out the session from {{place}}", { place: session.ip_address ?? "" })}
                    onClick={() => act.mutate(() => ask(api.DELETE("/v1/me/sessions/{session_id}", { params: { path: { session_id: session.id } } })), session.id)}>{t("Sign out")}</button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Wait>
      {asking && (
        <FormDialog title={t("Sign out everywhere")} send={t("Sign out")} danger busy={everywhere.isPending} error={everywhere.error} onClose={() => setAsking(false)} onSend={() => everywhere.mutate()}>
          <p>{t("Every browser that is signed in as you is signed out, this one too, and what you have begun to write here is forgotten. Tokens stay.")}</p>
        </FormDialog>
      )}
    </section>
  );
}

export default function Account() {
  const { me } = useSession();
  const profile = useQuery({ queryKey: profileKey, queryFn: () => ask(api.GET("/v1/me/profile")) });
  return (
    <Page title={t("Your account")}>
      <section className="panel padded stack" aria-labelledby="profile-heading">
        <h2 id="profile-heading">{t("Profile")}</h2>
        <p className="soft" style={{ margin: 0 }}>{me.email}</p>
        <Wait query={profile}>{(data) => <ProfileForm profile={data} />}</Wait>
      </section>
      <Preferences />
      <Password hasOne={me.has_password} />
      <Sessions />
      {serves("get_server_status") && <p className="soft small">{t("If you run this server:")} <Link href="/server">{t("its state")}</Link></p>}
    </Page>
  );
}
