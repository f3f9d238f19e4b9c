import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ClipboardEvent, type DragEvent, type FormEvent } from "react";
import { useSearch } from "wouter";
import { api, ask, type Schemas } from "../../api/client";
import { pagesQuery } from "../../api/queries";
import { ago } from "../../app/time";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { Failure } from "../../parts/Failure";
import { Choose, TextArea, TextField } from "../../parts/Field";
import { Page } from "../../parts/Page";
import { toast } from "../../parts/toasts";
import { isPicture, nameOf, pictureTypes, sendBytes, type Progress } from "../../parts/upload";
import { WaitPages } from "../../parts/Wait";

type Report = Schemas["FeedbackResponse"];
const types = () => [
  { value: "bug", label: t("Something is broken") }, { value: "idea", label: t("An idea") }, { value: "question", label: t("A question") },
  { value: "praise", label: t("Something is good") }, { value: "other", label: t("Something else") },
];
const tone: Record<string, string> = { new: "warn", acknowledged: "", in_progress: "agent", resolved: "good", declined: "bad" };

/** Sends a picture to where the server says, and gives its id. */
async function upload(file: File, onProgress: Progress): Promise<string> {
  const form = await ask(api.POST("/v1/feedback/screenshots:presign", { body: { filename: nameOf(file), content_type: file.type, size_bytes: file.size } }));
  await sendBytes(form, file, onProgress);
  await ask(api.POST("/v1/feedback/screenshots/{file_id}:commit", { params: { path: { file_id: form.id } } }));
  return form.id;
}

/** What is about to be sent, to be looked at. */
function Preview({ file, onRemove }: { file: File; onRemove: () => void }) {
  const [address, setAddress] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return (
    <figure className="row" style={{ margin: 0 }}>
      {address && <img src={address} alt={t("The picture that goes along")} style={{ maxWidth: "14rem", maxHeight: "9rem", borderRadius: "var(--radius)" }} />}
      <figcaption className="soft small">{file.name}</figcaption>
      <button type="button" className="button small" onClick={onRemove}>{t("Remove the picture")}</button>
    </figure>
  );
}

function NewReport() {
  const from = new URLSearchParams(useSearch()).get("from") ?? "";
  const client = useQueryClient();
  const [type, setType] = useState<Report["type"]>("bug");
  const [title, setTitle] = useState("");
  const [message, setMessage] = useState("");
  const [picture, setPicture] = useState<File>();
  const [part, setPart] = useState<number>();
  const kept = useRef<{ file: File; id: string }>(undefined); // sent already, should the rest fail
  const send = useMutation({
    mutationFn: async () => {
      if (picture && kept.current?.file !== picture) {
        setPart(0);
        kept.current = { file: picture, id: await upload(picture, setPart) };
      }
      const screenshot_file_id = picture && kept.current?.id;
      return ask(api.POST("/v1/feedback", {
        body: { type, message, page_url: new URL(/^\/(?!\/)/.test(from) ? from : location.pathname, location.origin).href, metadata: { browser: navigator.userAgent.slice(0, 500) }, ...(title && { title }), ...(screenshot_file_id && { screenshot_file_id }) },
      }));
    },
    onSettled: () => setPart(undefined),
    // What was written stays until it is taken.
    onSuccess: () => {
      setTitle("");
      setMessage("");
      setPicture(undefined);
      toast(t("Thank you; the operator of this server has it now"));
      void client.invalidateQueries({ queryKey: ["feedback"] });
    },
  });
  const take = (files: FileList | undefined, event: ClipboardEvent | DragEvent) => {
    const found = [...(files ?? [])].find((file) => isPicture(file));
    if (!found) return;
    event.preventDefault();
    setPicture(found);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!send.isPending) send.mutate();
  };
  return (
    <form className="panel padded stack" onSubmit={submit} aria-label={t("New feedback")} onPaste={(event) => take(event.clipboardData.files, event)}
      onDragOver={(event) => event.preventDefault()} onDrop={(event) => take(event.dataTransfer.files, event)}>
      <Choose label={t("What is it?")} value={type} onChange={(event) => setType(event.target.value as Report["type"])} options={types()} />
      <TextField label={t("In a few words")} value={title} onChange={(event) => setTitle(event.target.value)} maxLength={200} />
      <TextArea label={t("Tell more")} value={message} onChange={(event) => setMessage(event.target.value)} required maxLength={5000} rows={6} note={t("{{count}} of 5000 characters.", { count: message.length })} />
      <TextField label={t("Picture")} type="file" accept={pictureTypes.join(",")}
        onChange={(event) => {
          setPicture(event.target.files?.[0]);
          event.target.value = ""; // it shows below, and may be chosen again
        }} note={t("May be pasted or dropped here, too; at most 5 MiB.")} />
      {picture && <Preview file={picture} onRemove={() => setPicture(undefined)} />}
      {part !== undefined && <progress aria-label={t("Sending the picture")} value={part || undefined} max={1} style={{ width: "100%", accentColor: "var(--accent)" }} />}
      <Failure error={send.error} />
      <div><Button className="button go" busy={send.isPending}>{send.isPending ? t("Sending…") : t("Send")}</Button></div>
    </form>
  );
}

/** What people tell those who run this server, and what became of it. */
export default function Feedback() {
  const query = useInfiniteQuery(pagesQuery(["feedback"], (start_cursor) => ask(api.GET("/v1/feedback", { params: { query: { page_size: 25, start_cursor } } }))));
  return (
    <Page title={t("Feedback")}>
      <NewReport />
      <section className="panel" aria-labelledby="sent-heading">
        <h2 id="sent-heading" style={{ padding: "0.8rem 0.9rem 0.4rem" }}>{t("Your reports")}</h2>
        <WaitPages query={query} empty={<p className="soft" style={{ padding: "0 0.9rem 0.9rem", margin: 0 }}>{t("Nothing yet.")}</p>}>
          {(all) => (
            <table className="table cards">
              <thead><tr><th>{t("When")}</th><th>{t("What")}</th><th>{t("Status")}</th></tr></thead>
              <tbody>
                {all.map((report) => (
                  <tr key={report.id}>
                    <td className="soft small">{ago(report.created_time)}</td>
                    <td className="long"><strong>{report.title ?? report.message.slice(0, 80)}</strong>{report.reply && <div><span className="soft">{t("Reply:")}</span> {report.reply}</div>}</td>
                    <td><span className={`tag ${tone[report.status]}`}>{t(report.status.replace("_", " "))}</span></td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </WaitPages>
      </section>
    </Page>
  );
}
