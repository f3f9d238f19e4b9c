import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useImperativeHandle, useRef, useState, type Ref } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { everything, linksLast } from "../../api/queries";
import { worded } from "../../api/refusal";
import { inWorkspace, tabOrg } from "../../api/workspace";
import { ago, shown } from "../../app/time";
import { t } from "../../app/words";
import { Failure } from "../../parts/Failure";
import { Icon } from "../../parts/Icon";
import { toast, toastError } from "../../parts/toasts";
import { sizeInWords } from "../../parts/sizes";
import { isPicture, uploadFile } from "../../parts/upload";

type Kept = Schemas["File"];
interface Sending {
  id: number;
  file: File;
  part: number;
  error?: unknown;
}
export interface AttachmentsHandle {
  /** Files that were pasted or dropped somewhere on the card. */
  take(files: File[]): void;
}

/** Files that belong to the card: pictures show, all can be downloaded. */
export function Attachments({ card, canEdit, handle }: { card: string; canEdit: boolean; handle: Ref<AttachmentsHandle> }) {
  const client = useQueryClient();
  const key = ["card", card, "attachments"];
  const params = { path: { card_id: card } };
  const query = useQuery({
    queryKey: key,
    queryFn: () => everything((start_cursor) => ask(api.GET("/v1/cards/{card_id}/attachments", { params: { ...params, query: { page_size: 100, start_cursor } } }))),
    refetchInterval: linksLast,
  });
  const [sending, setSending] = useState<Sending[]>([]);
  const count = useRef(0);
  const input = useRef<HTMLInputElement>(null);
  const refresh = () => client.invalidateQueries({ queryKey: key });
  const change = (id: number, more: Partial<Sending>) => setSending((all) => all.map((each) => (each.id === id ? { ...each, ...more } : each)));
  const forget = (id: number) => setSending((all) => all.filter((each) => each.id !== id));

  const [org] = useState(tabOrg); // a tab may go to another workspace while a file is on its way
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => { isShown.current = false; };
  }, []);
  const attach = (file_id: string) => ask(api.POST("/v1/cards/{card_id}/attachments", { params, headers: inWorkspace(org), body: { file_id } }));
  const send = async ({ id, file }: Sending) => {
    change(id, { part: 0, error: undefined });
    try {
      await attach((await uploadFile(file, (part) => change(id, { part }), org)).id);
      await refresh();
      forget(id);
    } catch (error) {
      if (isShown.current) change(id, { error }); // it stays, to be tried again
      else toastError(new Error(t("{{name}} was not attached: {{why}}", { name: file.name, why: worded(error) })));
    }
  };
  const take = (files: File[]) => {
    const made = files.map((file): Sending => ({ id: ++count.current, file, part: 0 }));
    setSending((all) => [...all, ...made]);
    void made.reduce((before, each) => before.then(() => send(each)), Promise.resolve());
  };
  useImperativeHandle(handle, () => ({ take }));
  const detach = async (file: Kept) => {
    try {
      await ask(api.DELETE("/v1/cards/{card_id}/attachments/{file_id}", { params: { path: { card_id: card, file_id: file.id } } }));
      await refresh();
      toast({ text: t("{{name}} is not attached any more", { name: file.filename }), undo: () => void attach(file.id).then(refresh).catch(toastError) });
    } catch (error) {
      toastError(error);
    }
  };
  const files = query.data ?? [];
  if (!canEdit && files.length === 0 && !query.error) return null;
  return (
    <section className="attachments" aria-labelledby={`attachments-${card}`}>
      <div className="row">
        <h2 id={`attachments-${card}`}>{t("Attachments")}</h2>
        {files.length > 0 && <span className="tag">{files.length}</span>}
        {canEdit && (
          <>
            <button type="button" className="button quiet small" onClick={() => input.current?.click()}><Icon name="plus" />{t("Attach a file")}</button>
            <input ref={input} type="file" multiple hidden aria-label={t("Files to attach")} onChange={(event) => {
              take([...(event.target.files ?? [])]);
              event.target.value = "";
            }} />
          </>
        )}
      </div>
      <Failure error={query.error} retry={() => void query.refetch()} />
      {files.length + sending.length > 0 && (
        <ul>
          {files.map((file) => <Attached key={file.id} file={file} onRemove={canEdit ? () => void detach(file) : undefined} />)}
          {sending.map((each) => (
            <li key={each.id} className="row">
              <span className="clip grow" title={each.file.name}>{each.file.name}</span>
              {each.error
                ? (
                  <>
                    <span className="late small" role="alert">{worded(each.error)}</span>
                    <button type="button" className="button small" onClick={() => void send(each)}>{t("Try again")}</button>
                    <button type="button" className="button quiet small icon" aria-label={t("Forget {{name}}", { name: each.file.name })} onClick={() => forget(each.id)}><Icon name="close" /></button>
                  </>
                ) : <progress aria-label={t("Sending {{name}}", { name: each.file.name })} value={each.part || undefined} max={1} />}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Attached({ file, onRemove }: { file: Kept; onRemove?: () => void }) {
  const { filename, url, content_type, size_bytes, committed_at } = file;
  return (
    <li className="row">
      {url && isPicture({ type: content_type }) ? <img src={url} alt="" loading="lazy" /> : <span className="file-mark" aria-hidden="true"><Icon name="record" /></span>}
      <span className="grow">
        {url ? <a href={url} target="_blank" rel="noopener noreferrer" className="clip" title={filename}>{filename}</a> : <span className="clip" title={filename}>{filename}</span>}
        <span className="soft small">{size_bytes !== null && sizeInWords(size_bytes)}{committed_at && <> · <time dateTime={committed_at} title={shown(committed_at)}>{ago(committed_at)}</time></>}</span>
      </span>
      {onRemove && <button type="button" className="button quiet small icon" aria-label={t("Remove {{name}}", { name: filename })} onClick={onRemove}><Icon name="close" /></button>}
    </li>
  );
}
