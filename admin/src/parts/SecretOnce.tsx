import { useState, type ReactNode } from "react";
import { t } from "../app/words";
import { CopyField } from "./CopyField";
import { Dialog } from "./Dialog";
import { Check } from "./Field";

/** What has to be ticked before something goes that is shown this once. */
export const Stored = ({ stored, onChange }: { stored: boolean; onChange: (stored: boolean) => void }) => (
  <Check label={t("I have stored it")} checked={stored} onChange={(event) => onChange(event.target.checked)} />
);

/** A secret that is shown this once: it closes when it was stored. */
export function SecretOnce({ title, words, label, secret, onClose, children }: { title: string; words: string; label: string; secret: string; onClose: () => void; children?: ReactNode }) {
  const [stored, setStored] = useState(false);
  return (
    <Dialog title={title} onClose={onClose} stays={!stored} wide>
      <p>{words}</p>
      <CopyField text={secret} label={label} />
      {children}
      <Stored stored={stored} onChange={setStored} />
      <div><button type="button" className="button go" disabled={!stored} onClick={onClose}>{t("Done")}</button></div>
    </Dialog>
  );
}
