import { useState } from "react";
import { t } from "../../app/words";
import { Connect } from "../../parts/Connect";
import { CopyField } from "../../parts/CopyField";
import { Dialog } from "../../parts/Dialog";
import { Check } from "../../parts/Field";

/** A secret that is shown this once: it closes when it was kept. */
export function TokenOnce({ token, title, onClose }: { token: string; title: string; onClose: () => void }) {
  const [kept, setKept] = useState(false);
  return (
    <Dialog title={title} onClose={() => { if (kept) onClose(); }} wide>
      <p>{t("This is the only time that it is shown. Keep it as you keep a password.")}</p>
      <CopyField text={token} label={t("The token")} />
      <Connect token={token} />
      <Check label={t("I have stored it")} checked={kept} onChange={(event) => setKept(event.target.checked)} />
      <div><button type="button" className="button go" disabled={!kept} onClick={onClose}>{t("Done")}</button></div>
    </Dialog>
  );
}
