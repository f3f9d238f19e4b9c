import { t } from "../app/words";
import { Refusal, worded } from "../api/refusal";

/** An error where it happened, with the way to try again and the id that the server's log has. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  if (!error) return null;
  const id = error instanceof Refusal ? error.requestId : undefined;
  return (
    <div className="failure" role="alert">
      <p>{worded(error)}</p>
      {id && <p className="small">{t("Request {{id}}", { id })}</p>}
      {retry && <button type="button" className="button small" onClick={retry}>{t("Try again")}</button>}
    </div>
  );
}
