import { Fragment, type ReactNode } from "react";
import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { safeLink } from "./markdownLines";

/** Written content, as the server has it. */
export function Rich({ text }: { text: Schemas["RichText"][] }) {
  return <>{text.map((run, at) => <Fragment key={at}>{piece(run)}</Fragment>)}</>;
}

function piece(run: Schemas["RichText"]): ReactNode {
  const { bold, italic, strikethrough, underline, code } = run.annotations;
  if (run.type === "mention") {
    const { page } = (run.mention ?? {}) as { page?: { id: string } };
    return page ? <Link href={`/cards/${page.id}`} className="mention">{run.plain_text}</Link> : <span className="mention">{run.plain_text}</span>;
  }
  let out: ReactNode = run.plain_text;
  if (code) out = <code>{out}</code>;
  if (bold) out = <strong>{out}</strong>;
  if (italic) out = <em>{out}</em>;
  if (strikethrough) out = <s>{out}</s>;
  if (underline) out = <u>{out}</u>;
  const url = run.href && safeLink(run.href);
  return url ? <a href={url} rel="noopener noreferrer nofollow">{out}</a> : out;
}
