// Uploaded files in the text. Their addresses end after some minutes, and every reading gives others, so
// they are no part of what is compared and sent: they are kept beside it.
import type { Schemas } from "../api/client";
import { newId } from "../app/newId";
import type { Block } from "./model";

interface KeptFile {
  file_id: string;
  url?: string | null;
}
const addresses = new Map<string, string>();

/** A block's payload without the address of its file, which is remembered. */
export function linkless(payload: Record<string, unknown>): Record<string, unknown> {
  const { file } = payload as { file?: KeptFile };
  if (!file?.file_id) return payload;
  if (file.url) addresses.set(file.file_id, file.url);
  return { ...payload, file: { file_id: file.file_id } };
}

export const addressOf = (props: Record<string, unknown>): string | undefined =>
  addresses.get((props as { file?: KeptFile }).file?.file_id ?? "");
export const captionOf = (props: Record<string, unknown>): string =>
  ((props.caption ?? []) as { plain_text?: string }[]).map(({ plain_text }) => plain_text ?? "").join("");

/** As the server gives it, so that reading it again is no difference. */
export function pictureBlock({ id, url }: Pick<Schemas["File"], "id" | "url">): Block {
  if (url) addresses.set(id, url);
  return { id: newId(), type: "image", props: { type: "file", file: { file_id: id }, caption: [] }, content: [], children: [] };
}
