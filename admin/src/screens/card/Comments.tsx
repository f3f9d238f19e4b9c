import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { linksLast, pagesQuery } from "../../api/queries";
import { useSession } from "../../app/session";
import { ago, shown } from "../../app/time";
import { t } from "../../app/words";
import { FormDialog } from "../../parts/Dialog";
import { Menu } from "../../parts/Menu";
import { Rich } from "../../parts/Rich";
import { toastError } from "../../parts/toasts";
import { WaitPages } from "../../parts/Wait";
import { Face, KindTag, nameOf } from "../../parts/Who";
import { useBoard } from "../board/context";
import { CommentBox } from "./CommentBox";

type Comment = Schemas["Comment"];

export function Comments({ card }: { card: string }) {
  const client = useQueryClient();
  const key = ["card", card, "comments"];
  const query = useInfiniteQuery({
    ...pagesQuery(key, (start_cursor) => ask(api.GET("/v1/comments", { params: { query: { card_id: card, page_size: 50, start_cursor } } }))),
    refetchInterval: ({ state }) => (state.data?.pages.some(({ results }) => results.some(({ attachments }) => attachments.length > 0)) ? linksLast : false),
  });
  const refresh = () => void client.invalidateQueries({ queryKey: key });
  return (
    <div className="comments">
      <WaitPages query={query} empty={<p className="soft">{t("Nobody has said anything yet.")}</p>}>
        {(all) => (
          <ol>
            {[...new Set(all.map(({ discussion_id }) => discussion_id))].map((id) => (
              <Discussion key={id} comments={all.filter(({ discussion_id }) => discussion_id === id)} refresh={refresh} />
            ))}
          </ol>
        )}
      </WaitPages>
      <CommentBox key={card} draft={card} label={t("Write a comment")} send={(markdown) => ask(api.POST("/v1/comments", { body: { parent: { card_id: card }, markdown } }))} onSent={refresh} />
    </div>
  );
}

function Discussion({ comments, refresh }: { comments: Comment[]; refresh: () => void }) {
  const [answering, setAnswering] = useState(false);
  const [first] = comments;
  const { discussion_id, resolved, resolved_by } = first!;
  const resolve = () =>
    void ask(api.POST("/v1/comments/{comment_id}:resolve", { params: { path: { comment_id: first!.id } }, body: { resolved: !resolved } })).then(refresh).catch(toastError);
  return (
    <li className={resolved ? "resolved" : undefined}>
      {comments.map((comment) => <OneComment key={comment.id} comment={comment} refresh={refresh} />)}
      <div className="row comment-after">
        <button type="button" className="button quiet small" onClick={() => setAnswering(!answering)} aria-expanded={answering}>{t("Reply")}</button>
        <button type="button" className="button quiet small" onClick={resolve}>{resolved ? t("Reopen") : t("Resolve")}</button>
        {resolved && <span className="tag good">{resolved_by ? t("resolved by {{name}}", { name: nameOf(resolved_by) }) : t("resolved")}</span>}
      </div>
      {answering && <CommentBox draft={`reply ${discussion_id}`} label={t("Write a reply")} autoFocus send={(markdown) => ask(api.POST("/v1/comments", { body: { discussion_id, markdown } }))} onSent={refresh} onClose={() => setAnswering(false)} />}
    </li>
  );
}

const sorts: Record<string, string> = { video: "Video", audio: "Sound", pdf: "PDF" };

/** A file that came with a comment. */
function Attachment({ file: { category, file: { url } } }: { file: Comment["attachments"][number] }) {
  const name = t(category === "image" ? "Picture" : sorts[category] ?? "File");
  if (!url) return <span className="soft">{t("{{what}}, which is gone", { what: name })}</span>;
  return <a href={url} target="_blank" rel="noopener noreferrer">{category === "image" ? <img src={url} alt={name} loading="lazy" /> : name}</a>;
}

function OneComment({ comment, refresh }: { comment: Comment; refresh: () => void }) {
  const { me } = useSession();
  const { store } = useBoard();
  const [open, setOpen] = useState<"" | "edit" | "delete">("");
  const close = () => setOpen("");
  const params = { path: { comment_id: comment.id } };
  const removal = useMutation({ mutationFn: () => ask(api.DELETE("/v1/comments/{comment_id}", { params })), onSuccess: () => { close(); refresh(); } });
  const isMine = comment.created_by.id === me.id;
  return (
    <article className="comment" id={`comment-${comment.id}`}>
      <Face who={comment.created_by} decorative />
      <div className="grow">
        <div className="row" style={{ gap: "0.4rem" }}>
          <strong>{nameOf(comment.created_by)}</strong>
          <KindTag who={comment.created_by} />
          <time className="soft small" dateTime={comment.created_time} title={shown(comment.created_time)}>{ago(comment.created_time)}</time>
          {comment.last_edited_time !== comment.created_time && <span className="soft small">{t("changed")}</span>}
          <span className="grow" />
          {(isMine || store.board.role === "admin") && (
            <Menu label={t("About this comment")} className="button quiet small icon" choices={[
              ...(isMine ? [{ id: "edit", label: t("Change"), run: () => setOpen("edit") }] : []),
              { id: "delete", label: t("Delete…"), danger: true, run: () => { removal.reset(); setOpen("delete"); } },
            ]} />
          )}
        </div>
        {open === "edit"
          ? <CommentBox draft={comment.id} label={t("Edit the comment")} autoFocus initial={comment.rich_text} send={(markdown) => ask(api.PATCH("/v1/comments/{comment_id}", { params, body: { markdown } }))} onSent={refresh} onClose={close} />
          : <p className="comment-text" dir="auto"><Rich text={comment.rich_text} /></p>}
        {comment.attachments.length > 0 && <ul className="row comment-files">{comment.attachments.map((each) => <li key={each.file_id}><Attachment file={each} /></li>)}</ul>}
        {open === "delete" && (
          <FormDialog title={t("Delete the comment")} send={t("Delete")} danger busy={removal.isPending} error={removal.error} onClose={close} onSend={() => removal.mutate()}>
            <p>{t("It cannot be brought back.")}</p>
          </FormDialog>
        )}
      </div>
    </article>
  );
}
