import { useState } from "react";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { TextArea, TextField } from "../../parts/Field";

/** Whether `t=…,v1=…` is the signature of a body by this secret: HMAC-SHA-256 of `<t>.<body>`, in hex. */
export async function isSigned(secret: string, header: string, body: string): Promise<boolean> {
  const parts = header.trim().split(",").map((each) => each.trim().split("=") as [string, string]);
  const time = parts.find(([name]) => name === "t")?.[1];
  if (!time) return false;
  const bytes = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", bytes.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const digest = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(`${time}.${body}`)));
  const hex = [...digest].map((each) => each.toString(16).padStart(2, "0")).join("");
  return parts.some(([name, value]) => name === "v1" && value === hex);
}

/** A place to see whether a signature is right; the secret stays in this browser. */
export default function Verifier({ onClose }: { onClose: () => void }) {
  const [secret, setSecret] = useState("");
  const [header, setHeader] = useState("");
  const [body, setBody] = useState("");
  const [outcome, setOutcome] = useState<boolean>();
  // Browsers work digests out on pages of https, or of one's own machine.
  const isAble = "subtle" in crypto;
  return (
    <FormDialog title={t("Check a signature")} send={t("Check")} onClose={onClose} off={!isAble} onSend={() => void isSigned(secret, header, body).then(setOutcome)}>
      <p className="soft">{isAble ? t("It is worked out in this browser; nothing is sent.") : t("This browser does it only where this server is reached by https.")}</p>
      <TextField label={t("Secret")} value={secret} onChange={(event) => setSecret(event.target.value)} required autoComplete="off" />
      <TextField label="X-Svc-Signature" value={header} onChange={(event) => setHeader(event.target.value)} required placeholder="t=…,v1=…" autoComplete="off" />
      <TextArea label={t("Body, byte for byte")} value={body} onChange={(event) => setBody(event.target.value)} required spellCheck={false} />
      {outcome !== undefined && <p role="status" className={outcome ? "" : "late"}>{outcome ? t("The signature is right.") : t("The signature is not that of this body by this secret.")}</p>}
    </FormDialog>
  );
}
