import type { ButtonHTMLAttributes } from "react";

/** A button that shows when what it began goes on: it keeps the focus, and does nothing until that has ended,
    nor while there is nothing for it to do (`off`). */
export function Button({ busy, off, className = "button", onClick, ...button }: { busy: boolean; off?: boolean } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button {...button} className={className} aria-disabled={busy || off} aria-busy={busy}
      onClick={(event) => {
        if (busy || off) event.preventDefault();
        else onClick?.(event);
      }} />
  );
}
