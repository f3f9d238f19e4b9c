import { t } from "../../app/words";
import { Connect } from "../../parts/Connect";
import { SecretOnce } from "../../parts/SecretOnce";

/** A token that is shown this once, and how programs use it. */
export const TokenOnce = ({ token, title, onClose }: { token: string; title: string; onClose: () => void }) => (
  <SecretOnce title={title} words={t("This is the only time that it is shown. Keep it as you keep a password.")} label={t("The token")} secret={token} onClose={onClose}>
    <Connect token={token} />
  </SecretOnce>
);
