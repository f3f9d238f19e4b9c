import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg, membershipsQuery } from "../../api/queries";
import { useSession } from "../../app/session";
import { t } from "../../app/words";
import { changed } from "../../parts/changed";
import { Dialog, FormDialog } from "../../parts/Dialog";
import { TextField } from "../../parts/Field";
import { useAct } from "../../parts/useAct";
import { Wait } from "../../parts/Wait";

/** The workspace's name and address, and its end. */
export default function WorkspaceDialog({ org_id, onClose }: { org_id: string; onClose: () => void }) {
  const org = useQuery({ queryKey: inOrg("workspace"), queryFn: () => ask(api.GET("/v1/orgs/{org_id}", { params: { path: { org_id } } })), gcTime: 0 });
  if (!org.data) return <Dialog title={t("The workspace")} onClose={onClose}><Wait query={org}>{() => null}</Wait></Dialog>;
  return <Loaded org={org.data} onClose={onClose} />;
}

function Loaded({ org, onClose }: { org: Schemas["OrganizationResponse"]; onClose: () => void }) {
  const { seat } = useSession();
  const client = useQueryClient();
  const [, go] = useLocation();
  const [name, setName] = useState(org.name);
  const [slug, setSlug] = useState(org.slug);
  const [opened] = useState({ name, slug });
  const [ending, setEnding] = useState(false);
  const [confirm, setConfirm] = useState("");
  const act = useAct(inOrg("workspace"), membershipsQuery.queryKey);
  const params = { path: { org_id: org.id } };
  if (ending)
    return (
      <FormDialog title={t("Delete {{name}}", { name: org.name })} send={t("Delete the workspace")} danger onClose={onClose} busy={act.isPending} off={confirm !== org.slug} error={act.error}
        onSend={() => act.mutate(async () => {
          await ask(api.DELETE("/v1/orgs/{org_id}", { params: { ...params, query: { confirm } } }));
          client.clear();
          go("/boards");
          onClose();
        })}>
        <p>{t("All its boards, cards, agents and records go with it, for everybody and for good.")}</p>
        <TextField label={t("To confirm, write {{slug}}", { slug: org.slug })} value={confirm} onChange={(event) => setConfirm(event.target.value)} autoComplete="off" autoFocus />
      </FormDialog>
    );
  return (
    <FormDialog title={t("The workspace")} send={t("Save")} onClose={onClose} busy={act.isPending} error={act.error}
      onSend={() => act.mutate(async () => {
        await ask(api.PATCH("/v1/orgs/{org_id}", { params, body: changed({ name, slug }, opened) }));
        onClose();
      })}>
      <TextField label={t("Name")} value={name} onChange={(event) => setName(event.target.value)} required maxLength={100} autoFocus />
      <TextField label={t("Short name")} value={slug} onChange={(event) => setSlug(event.target.value)} required maxLength={60} note={t("Small letters, digits and hyphens.")} />
      {seat?.role === "owner" && <div><button type="button" className="button danger small" onClick={() => setEnding(true)}>{t("Delete the workspace…")}</button></div>}
    </FormDialog>
  );
}
