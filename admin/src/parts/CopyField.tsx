import { useState } from "react";
import { t } from "../app/words";
import { Icon } from "./Icon";

/** Text to be taken along: a token, a command, an address. */
export function CopyField({ text, label, onCopied }: { text: string; label: string; onCopied?: () => void }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text).catch(() => undefined);
    setCopied(true);
    onCopied?.();
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <div className="copy">
      <pre className="sample" tabIndex={0} role="region" aria-label={label}>{text}</pre>
      <button type="button" className="button" onClick={() => void copy()}>
        <Icon name={copied ? "check" : "copy"} />
        {copied ? t("Copied") : t("Copy")}
      </button>
      <span className="unseen" role="status">{copied ? t("Copied") : ""}</span>
    </div>
  );
}
