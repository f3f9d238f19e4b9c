import { useRef, useState } from "react";
import { t } from "../app/words";
import { copied } from "./clipboard";
import { Icon } from "./Icon";

/** Text to be taken along: a token, a command, an address. */
export function CopyField({ text, label, onCopied }: { text: string; label: string; onCopied?: () => void }) {
  const sample = useRef<HTMLPreElement>(null);
  const [said, setSaid] = useState<"" | "copied" | "selected">("");
  const copy = async () => {
    const isDone = await copied(text, sample.current!);
    setSaid(isDone ? "copied" : "selected");
    if (isDone) onCopied?.();
    setTimeout(() => setSaid(""), isDone ? 2_000 : 10_000);
  };
  const words = { "": t("Copy"), copied: t("Copied"), selected: t("Press Ctrl C") }[said];
  return (
    <div className="copy">
      <pre className="sample" ref={sample} tabIndex={0} role="region" aria-label={label}>{text}</pre>
      <button type="button" className="button" onClick={() => void copy()}>
        <Icon name={said === "copied" ? "check" : "copy"} />
        {words}
      </button>
      <span className="unseen" role="status">{said && words}</span>
    </div>
  );
}
