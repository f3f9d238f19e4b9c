// Values that are written where they stand. What is being written is the field's own until it is left or
// confirmed by Enter: neither an answer of the server nor what others change shows in it before.
import { useRef, useState, type KeyboardEvent } from "react";
import { t } from "../../app/words";

interface Written {
  labelledBy: string;
  value: string;
  onSave: (text: string) => void;
}

/** Enter confirms, Escape gives up. */
const leaveBy = (giveUp: () => void) => (event: KeyboardEvent<HTMLInputElement>) => {
  if (event.key === "Escape") giveUp();
  else if (event.key === "Enter") event.currentTarget.blur();
};

export function TextValue({ labelledBy, type, min, value, onSave }: Written & { type: string; min?: number }) {
  const [written, setWritten] = useState<string>();
  const giveUp = () => setWritten(undefined);
  return (
    <input className="input plain" type={type} min={min} step="any" placeholder={t("Empty")} aria-labelledby={labelledBy} dir="auto" value={written ?? value}
      onChange={(event) => setWritten(event.target.value)} onKeyDown={leaveBy(giveUp)}
      onBlur={(event) => {
        giveUp();
        if (written !== undefined && written !== value && !event.target.validity.badInput) onSave(written);
      }} />
  );
}

/** A day. Browsers name another one for each digit that is typed, so it is saved when it is complete; one that was picked is so at once. */
export function DayValue({ labelledBy, value, onSave }: Written) {
  const field = useRef<HTMLInputElement>(null);
  const isTyped = useRef(false);
  const [written, setWritten] = useState<string>();
  const giveUp = () => {
    setWritten(undefined);
    field.current!.value = value; // a day of which a part was written is empty to React
  };
  const save = () => {
    const { value: next, validity } = field.current!;
    isTyped.current = false;
    if (!validity.valid) return giveUp();
    setWritten(undefined);
    if (next !== value) onSave(next);
  };
  return (
    <input ref={field} className="input plain" type="date" min="1000-01-01" max="9999-12-31" aria-labelledby={labelledBy} value={written ?? value}
      onPointerDown={() => { isTyped.current = false; }}
      onKeyDown={(event) => {
        isTyped.current = true;
        leaveBy(giveUp)(event);
      }}
      onChange={(event) => (isTyped.current ? setWritten(event.target.value) : save())}
      onBlur={save} />
  );
}
