import type { ReactNode } from "react";
import { useTitle } from "../app/title";

/** A page of the console: its name, what can be done on it, and what it shows. */
export function Page({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  useTitle(title);
  return (
    <>
      <header className="page-head"><h1>{title}</h1>{actions}</header>
      <div className="page-body">{children}</div>
    </>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return <div className="empty"><h2>{title}</h2>{children}</div>;
}
