import { useLayoutEffect, useRef, type FocusEvent } from "react";

/** For lists whose rows go away by what is done to them: what stands in the place of the one that had the focus has it
    then, or else the list. `selector` is what in each row has it. */
export function useKeptFocus<T extends HTMLElement>(selector: string) {
  const ref = useRef<T>(null);
  const at = useRef(-1);
  const all = () => [...ref.current!.querySelectorAll<HTMLElement>(selector)];
  useLayoutEffect(() => {
    if (at.current < 0 || document.activeElement !== document.body) return;
    const rows = all();
    (rows[Math.min(at.current, rows.length - 1)] ?? ref.current!).focus();
  });
  return {
    ref,
    tabIndex: -1,
    onFocus: (event: FocusEvent) => { at.current = all().indexOf(event.target as HTMLElement); },
    onBlur: () => { at.current = -1; },
  };
}
