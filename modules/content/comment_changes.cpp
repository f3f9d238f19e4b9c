// Changing, deleting and settling comments.

#include "modules/boards/api/content_counts.hpp"
#include "modules/content/comments.hpp"
#include "modules/content/operations.hpp"

namespace svc::content {

namespace {

constexpr std::string_view that_comment = R"(
    SELECT m.id, m.card_id, m.block_id, m.discussion_id, m.rich_text, m.attachments, m.resolved_by,
        m.in_trash, m.created_time, m.created_by, m.last_edited_time, m.version
    FROM comments m
    WHERE m.org_id = $1 AND m.id = $5 AND)";
constexpr std::string_view for_update =
    "(SELECT c.board_id FROM cards c WHERE c.org_id = $1 AND c.id = m.card_id)) FOR UPDATE OF m";
constexpr Sql lock_comment{
    "content.lock_comment", SqlText<that_comment, boards::if_seen, for_update>::view};

constexpr Sql reword_comment{"content.reword_comment", R"(
    UPDATE comments
    SET rich_text = $3, plain = $4, last_edited_time = now(), version = version + 1
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql trash_comment{"content.trash_comment", R"(
    UPDATE comments SET in_trash = true, trashed_at = now(), version = version + 1
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql resolve_discussion{"content.resolve_discussion", R"(
    UPDATE comments SET resolved_by = $3, version = version + 1
    WHERE org_id = $1 AND discussion_id = $2 AND (resolved_by IS NULL) = ($3::jsonb IS NOT NULL))"};

/// A comment, locked, and the card that it is on.
class CommentEdit {
public:
    enum class Deleted { counts, is_gone };

    CommentEdit(Call& call, const Uuid& id)
        : call_(call),
          seen_(lock_card(call, CardKey(id, IdOf::comment), BoardRole::viewer)),
          row_(boards::BoardCaller::of(call).later<StoredComment>(call.tx(), lock_comment, id)) {}

    /// Strangers get 404, and so does everybody for a comment that is deleted, unless it counts.
    const StoredComment& begin(Deleted deleted) {
        const auto row = row_.one();
        if (!row) not_found("comment");
        before = *row;
        const auto seen = seen_.one();
        if (!seen || !seen->role || seen->board_in_trash) not_found("comment");
        if (before.in_trash && deleted == Deleted::is_gone) not_found("comment");
        card = require_changeable(seen, BoardRole::viewer);
        return before;
    }

    bool is_authors() const { return before.created_by.parsed().id == call_.caller().id; }

    /// Asks about and emits the change that `write` queues.
    template <class Write>
    Comment finish(const EventKind& kind, StoredComment after, const Write& write) {
        ++after.version;
        const Comment was = shown(before), is = shown(after);
        const Event event = placed(changed(kind, was, is), card);
        call_.check(event);
        write(call_.tx());
        call_.emit(event);
        return linked(call_, after);
    }

    StoredComment before;
    CardAccess card;

private:
    Call& call_;
    DeferredRows<CardAccess> seen_;  // the card is locked first, as everywhere
    DeferredRows<StoredComment> row_;
};

[[noreturn]] void not_yours(std::string_view message) {
    throw Failure(Fault::restricted, std::string(message));
}

struct UpdateCommentRequest {
    Uuid comment_id;
    std::optional<RichTexts> rich_text;
    std::optional<std::string> markdown;
};
SVC_RECORD(
    UpdateCommentRequest,
    (comment_id, "A comment of yours."),
    (rich_text, "The text.", length(1, most_items)),
    (markdown, "The same as Markdown, instead of `rich_text`.", length(1, 50'000))
);

Comment update(Call& call, const UpdateCommentRequest& in) {
    const bool says = in.rich_text || in.markdown;
    RichTexts texts = says ? said_in(call, in.rich_text, in.markdown) : RichTexts{};
    CommentEdit edit(call, in.comment_id);
    NameLookup names(call, {naming_part(in.rich_text ? "rich_text" : "markdown", texts)});
    StoredComment after = edit.begin(CommentEdit::Deleted::is_gone);
    if (!edit.is_authors()) not_yours("Only whoever wrote a comment may change it.");
    call.require_version(after.version);
    ReferenceNames kept;
    keep_names(after.rich_text.text, kept);
    resolve(texts, names.names(std::move(kept)));
    after.rich_text = AsJson(texts);
    if (!says || after.rich_text == edit.before.rich_text) return linked(call, edit.before);
    after.last_edited_time = edit.card.now;
    return edit.finish(comment_updated, after, [&](Tx& tx) {
        tx.queue(reword_comment, call.org(), after.id, after.rich_text.text, plain_text_of(texts));
        call_to(call, after.card_id, texts);
    });
}

struct CommentId {
    Uuid comment_id;
};
SVC_RECORD(CommentId, (comment_id, "A comment."));

Comment remove(Call& call, const CommentId& in) {
    CommentEdit edit(call, in.comment_id);
    StoredComment after = edit.begin(CommentEdit::Deleted::counts);
    if (!edit.is_authors() && edit.card.role < BoardRole::admin)
        not_yours("Only whoever wrote a comment, and the board's admins, may delete it.");
    if (after.in_trash) return linked(call, after);
    call.require_version(after.version);
    after.in_trash = true;
    return edit.finish(comment_deleted, after, [&](Tx& tx) {
        tx.queue(trash_comment, call.org(), after.id);
        if (!after.attachments.parsed().empty()) attach(call, after.card_id, after.id, {});
        boards::count_comments(tx, call.org(), after.card_id, -1);
    });
}

struct ResolveCommentRequest {
    Uuid comment_id;
    bool resolved = true;
};
SVC_RECORD(
    ResolveCommentRequest,
    (comment_id, "Any comment of the discussion."),
    (resolved, "false takes the discussion up again.", defaulted)
);

Comment resolve(Call& call, const ResolveCommentRequest& in) {
    CommentEdit edit(call, in.comment_id);
    StoredComment after = edit.begin(CommentEdit::Deleted::is_gone);
    call.require_version(after.version);
    if (after.resolved_by.has_value() == in.resolved) return linked(call, after);
    after.resolved_by.reset();
    if (in.resolved) after.resolved_by = AsJson(ref_of(call.caller()));
    return edit.finish(comment_updated, after, [&](Tx& tx) {
        tx.queue(
            resolve_discussion,
            call.org(),
            after.discussion_id,
            after.resolved_by ? std::optional(after.resolved_by->text) : std::nullopt
        );
    });
}

}  // namespace

const Operation update_comment{
    .name = "update_comment",
    .route = "PATCH /v1/comments/{comment_id}",
    .summary = "Edit a comment of yours.",
    .access = Access::board_viewer,
    .destructive = true,
    .idempotent = true,
    .versioned = true,
    .under_lease = true,
    .handler = update,
};

const Operation delete_comment{
    .name = "delete_comment",
    .route = "DELETE /v1/comments/{comment_id}",
    .summary = "Delete a comment.",
    .description = "Whoever wrote it may, and the board's admins. Answers the comment.",
    .access = Access::board_viewer,
    .destructive = true,
    .idempotent = true,
    .versioned = true,
    .under_lease = true,
    .handler = remove,
};

const Operation resolve_comment{
    .name = "resolve_comment",
    .route = "POST /v1/comments/{comment_id}:resolve",
    .summary = "Resolve or reopen a discussion.",
    .description = "All comments of the discussion then say `resolved`.",
    .access = Access::board_viewer,
    .idempotent = true,
    .versioned = true,
    .under_lease = true,
    .handler = resolve,
};

}  // namespace svc::content
