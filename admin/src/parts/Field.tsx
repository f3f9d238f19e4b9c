import { useId, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes } from "react";

interface About {
  label: string;
  note?: ReactNode;
}

/** A line to write in, with its name above and what to know about it below. */
export function TextField({ label, note, ...input }: About & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input className="input" {...input} id={id} aria-describedby={note ? `${id}-note` : undefined} />
      {note && <p className="note" id={`${id}-note`}>{note}</p>}
    </div>
  );
}

export function TextArea({ label, note, ...input }: About & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea className="input" {...input} id={id} aria-describedby={note ? `${id}-note` : undefined} />
      {note && <p className="note" id={`${id}-note`}>{note}</p>}
    </div>
  );
}

/** The browser's own list: it is at home on phones and with every keyboard. */
export function Choose({ label, note, options, ...select }: About & {
  options: { value: string; label: string }[];
} & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select className="input" {...select} id={id} aria-describedby={note ? `${id}-note` : undefined}>
        {options.map(({ value, label: name }) => <option key={value} value={value}>{name}</option>)}
      </select>
      {note && <p className="note" id={`${id}-note`}>{note}</p>}
    </div>
  );
}

export function Check({ label, note, ...input }: About & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className="check">
      <input type="checkbox" {...input} id={id} aria-describedby={note ? `${id}-note` : undefined} />
      <div>
        <label htmlFor={id}>{label}</label>
        {note && <p className="note soft small" id={`${id}-note`} style={{ margin: 0 }}>{note}</p>}
      </div>
    </div>
  );
}
