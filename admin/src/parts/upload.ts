// Sends files: the server names a form, the bytes go by it straight to the store, and then the server
// looks at what came in (docs/files.md).
import { api, ask, type Schemas } from "../api/client";
import { inWorkspace, tabOrg } from "../api/workspace";
import { Refusal } from "../api/refusal";
import { t } from "../app/words";

type Form = Pick<Schemas["FileUpload"], "upload_url" | "upload_url_fields">;
/** How much of it is sent, from 0 to 1. */
export type Progress = (part: number) => void;

export const pictureTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];
export const isPicture = ({ type }: { type: string }) => pictureTypes.includes(type);
export const typeOf = (file: File) => file.type || "application/octet-stream";
/** As the server takes it: no path, nothing that is not seen, and not endless. */
export const nameOf = (file: File) => [...file.name.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}/\\]/gu, "_")].slice(-255).join("").trim() || "file";

export function sendBytes({ upload_url, upload_url_fields }: Form, file: File, onProgress?: Progress): Promise<void> {
  const body = new FormData();
  for (const [name, value] of Object.entries(upload_url_fields)) body.append(name, value);
  body.append("file", file);
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("POST", upload_url);
    // To listen elsewhere, the browser would have to ask the store first, which not every store answers.
    if (onProgress && new URL(upload_url, location.href).origin === location.origin)
      request.upload.onprogress = ({ loaded, total }) => onProgress(total ? loaded / total : 0);
    request.onload = () => (request.status >= 200 && request.status < 300 ? done() : failed(new Refusal(request.status, "", t("The store did not take {{name}}.", { name: file.name }))));
    request.onerror = () => failed(new Refusal(0, "unreachable", t("The store does not answer; try again.")));
    request.send(body);
  });
}

let underWay = 0;
addEventListener("beforeunload", (event) => {
  if (underWay) event.preventDefault(); // the browser asks whether to leave
});

/** A file that can be attached to a card, or shown in its text. */
export async function uploadFile(file: File, onProgress?: Progress, org = tabOrg()): Promise<Schemas["File"]> {
  underWay += 1;
  try {
    return await upload(file, onProgress, inWorkspace(org));
  } finally {
    underWay -= 1;
  }
}

async function upload(file: File, onProgress: Progress | undefined, headers: Record<string, string>): Promise<Schemas["File"]> {
  const form = await ask(api.POST("/v1/files:presign", { headers, body: { filename: nameOf(file), content_type: typeOf(file), size_bytes: Math.max(1, file.size) } }));
  await sendBytes(form, file, onProgress);
  return ask(api.POST("/v1/files/{file_id}:commit", { headers, params: { path: { file_id: form.id } } }));
}
