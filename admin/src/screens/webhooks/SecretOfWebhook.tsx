import { t } from "../../app/words";
import { SecretOnce } from "../../parts/SecretOnce";

export const SecretOfWebhook = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <SecretOnce title={t("The webhook's secret")} words={t("Your address checks signatures with it. It is shown this once.")} label={t("The secret")} secret={secret} onClose={onClose} />
);
