// Reading comments, and making them.

#include "modules/content/comments.hpp"
#include "modules/boards/api/content_counts.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/api/stored_bytes.hpp"
#include "modules/boards/api/watchers.hpp"

#include "modules/content/file_urls.hpp"
#include "modules/content/operations.hpp"
#include "modules/content/refused_markdown.hpp"

namespace svc::content {

Comment shown(const StoredComment& row, const Addresses& addresses) {
    Comment comment;
    comment.id = row.id;
    comment.card_id = row.card_id;
    comment.parent = row.block_id ? BlockParent{ParentType::block_id, std::nullopt, row.block_id}
                                  : BlockParent{ParentType::card_id, row.card_id, std::nullopt};
    comment.discussion_id = row.discussion_id;
    comment.rich_text = row.rich_text;
    const PrincipalRef by = row.created_by.parsed();
    comment.display_name = {
        by.principal_type == PrincipalType::user ? CommenterType::user : CommenterType::integration,
        by.name};
    comment.resolved = row.resolved_by.has_value();
    comment.resolved_by = row.resolved_by;
    comment.created_time = row.created_time;
    comment.created_by = row.created_by;
    comment.last_edited_time = row.last_edited_time;
    comment.in_trash = row.in_trash;
    comment.attachments = shown(row.attachments.parsed(), addresses);
    comment.version = row.version;
    return comment;
}

Comment linked(Call& call, const StoredComment& row) {
    return linked(call, std::vector{row}).front();
}

std::vector<Comment> linked(Call& call, const std::vector<StoredComment>& rows) {
    std::vector<Uuid> files;
    for (const StoredComment& row : rows)
        if (!row.in_trash)
            for (const files::FileRef& each : row.attachments.parsed()) files.push_back(each.id);
    const Addresses addresses = addresses_of(call, files);
    std::vector<Comment> comments;
    for (const StoredComment& row : rows)
        comments.push_back(shown(row, row.in_trash ? Addresses{} : addresses));
    return comments;
}

RichTexts said_in(
    const Call& call,
    const std::optional<RichTexts>& rich_text,
    const std::optional<std::string>& markdown,
    std::string_view markdown_field
) {
    const std::string at_markdown = '"' + std::string(markdown_field) + '"';
    if (rich_text.has_value() == markdown.has_value())
        throw wrong_at(call, "\"rich_text\"", "give either rich_text or markdown");
    RichTexts texts =
        rich_text ? *rich_text : read_markdown(call, at_markdown, *markdown, text_of_markdown);
    if (texts.size() > most_items)
        throw wrong_at(call, at_markdown, "it makes more than 100 items of rich text");
    if (texts.empty())
        throw wrong_at(call, rich_text ? "\"rich_text\"" : at_markdown, "it says nothing");
    Reader reader;
    auto root = reader.at(root_of(call));
    auto step = reader.at(rich_text ? "rich_text" : markdown_field);
    normalize(reader, texts);
    if (!reader.clean()) throw Failure::invalid_input(reader.issues());
    return texts;
}

void call_to(Call& call, const Uuid& card, const RichTexts& texts) {
    References references;
    collect_references(texts, references);
    if (references.users.empty()) return;
    call.kernel().use<boards::Watchers>().add(call.tx(), call.org(), card, references.users);
}

namespace {

// ------------------------------------------------------------------------------------ reading

// What $5 leads to: all comments of a card, those of a block, or those of a discussion. What comes
// behind $9 bytes stays where it is, but for one more, which shows that there is more, and for the
// second.
constexpr Sql list_some{"content.list_comments", R"(
    WITH seen AS (
        SELECT c.id AS card_id,
            )" SVC_BOARD_ROLE("o.visibility", "o.created_by") R"( AS role
        FROM cards c
        JOIN boards o ON o.org_id = $1 AND o.id = c.board_id
        )" SVC_BOARD_GRANT("c.board_id") R"(
        WHERE c.org_id = $1 AND c.id = (SELECT coalesce(
            (SELECT k.card_id FROM blocks k WHERE k.org_id = $1 AND k.id = $5),
            (SELECT m.card_id FROM comments m
             WHERE m.org_id = $1 AND m.discussion_id = $5 LIMIT 1), $5))
    )
    SELECT s.role, m.id IS NOT NULL AS there, coalesce(m.id, s.card_id) AS id, s.card_id,
        m.block_id, coalesce(m.discussion_id, s.card_id) AS discussion_id, m.rich_text,
        coalesce(m.attachments, '[]') AS attachments, m.resolved_by, coalesce(m.in_trash, false) AS in_trash,
        coalesce(m.created_time, now()) AS created_time, m.created_by,
        coalesce(m.last_edited_time, now()) AS last_edited_time, coalesce(m.version, 1) AS version
    FROM seen s
    LEFT JOIN LATERAL (
        SELECT n.*
        FROM (
            SELECT k.*, row_number() OVER up_to_it AS place,
                sum(octet_length(k.rich_text::text)) OVER up_to_it
                    - octet_length(k.rich_text::text) AS bytes_before
            FROM (
                SELECT * FROM comments l
                WHERE l.org_id = $1 AND l.card_id = s.card_id AND NOT l.in_trash
                    AND s.role IS NOT NULL
                    AND (l.card_id = $5 OR l.block_id = $5 OR l.discussion_id = $5)
                    AND ($6::boolean IS NULL OR (l.resolved_by IS NOT NULL) = $6)
                    AND ($7::uuid IS NULL OR l.id > $7)
                ORDER BY l.id
                LIMIT $8
            ) k
            WINDOW up_to_it AS (ORDER BY k.id ROWS UNBOUNDED PRECEDING)
        ) n
        WHERE n.bytes_before <= $9 OR n.place <= 2
    ) m ON true
    ORDER BY m.id)"};

struct Listed {
    std::optional<BoardRole> role;
    bool there = false;
    StoredComment comment;
};
SVC_RECORD(Listed, (role), (there), (comment, "", flatten));

struct ListCommentsQuery {
    std::optional<boards::CardRef> card_id;
    std::optional<boards::CardRef> block_id;
    std::optional<Uuid> discussion_id;
    std::optional<bool> resolved;
    Paging paging;
};
SVC_RECORD(
    ListCommentsQuery,
    (card_id,
     "All comments of this card, those about its blocks among them: its id, or its key such as "
     "ENG-42."),
    (block_id, "Only those about this block; a card's id or key is taken, too."),
    (discussion_id, "Only those of this discussion."),
    (resolved, "Only those of discussions that are resolved, or only those that are not."),
    (paging, "", flatten)
);

Uuid only_one_of(Call& call, const ListCommentsQuery& in) {
    const int given =
        in.card_id.has_value() + in.block_id.has_value() + in.discussion_id.has_value();
    if (given != 1)
        throw wrong_field(
            call, "block_id", "give one of card_id, block_id and discussion_id", FieldPlace::query
        );
    if (in.discussion_id) return *in.discussion_id;
    return boards::id_of(call, in.card_id ? *in.card_id : *in.block_id);
}

Page<Comment> list(Call& call, const ListCommentsQuery& in) {
    const Uuid about = only_one_of(call, in);
    const auto after = call.after(in.paging);
    auto rows = BoardCaller::of(call)
                    .later<Listed>(
                        call.tx(),
                        list_some,
                        about,
                        in.resolved,
                        after ? Uuid::parse(after->front()) : std::nullopt,
                        in.paging.page_size + 1,
                        static_cast<std::int64_t>(page_bytes)
                    )
                    .all();
    if (rows.empty()) not_found("card, block or discussion");
    boards::require(rows.front().role, BoardRole::viewer, "card, block or discussion");
    if (!rows.front().there) return {};
    std::vector<StoredComment> comments;
    for (Listed& each : rows) comments.push_back(std::move(each.comment));
    auto page = call.page(std::move(comments), in.paging, [](const StoredComment& last) {
        return std::vector{last.id.str()};
    });
    return {linked(call, page.results), page.next_cursor};
}

constexpr Sql see_comment{"content.get_comment", R"(
    SELECT m.*,
        )" SVC_BOARD_ROLE("o.visibility", "o.created_by") R"( AS role
    FROM comments m
    JOIN cards c ON c.org_id = $1 AND c.id = m.card_id
    JOIN boards o ON o.org_id = $1 AND o.id = c.board_id
    )" SVC_BOARD_GRANT("c.board_id") R"(
    WHERE m.org_id = $1 AND m.id = $5 AND NOT m.in_trash)"};

struct CommentAccess {
    StoredComment comment;
    std::optional<BoardRole> role;
};
SVC_RECORD(CommentAccess, (comment, "", flatten), (role));

struct CommentId {
    Uuid comment_id;
};
SVC_RECORD(CommentId, (comment_id, "A comment."));

Comment get(Call& call, const CommentId& in) {
    const auto seen =
        BoardCaller::of(call).later<CommentAccess>(call.tx(), see_comment, in.comment_id).one();
    if (!seen) not_found("comment");
    boards::require(seen->role, BoardRole::viewer, "comment");
    return linked(call, seen->comment);
}

// ------------------------------------------------------------------------------------- making

enum class AboutType { card_id, page_id, block_id };
BOOST_DESCRIBE_ENUM(AboutType, card_id, page_id, block_id)

struct CommentParent {
    std::optional<AboutType> type;
    std::optional<boards::CardRef> card_id;
    std::optional<boards::CardRef> page_id;
    std::optional<boards::CardRef> block_id;
};
SVC_RECORD(
    CommentParent,
    (type, "Which of the following it is; may be left out."),
    (card_id, "A card: its id, or its key such as ENG-42."),
    (page_id, "The same, as client libraries of others call it."),
    (block_id, "A block; a card's id or key is taken, too.")
);

struct CreateCommentRequest {
    std::optional<CommentParent> parent;
    std::optional<Uuid> discussion_id;
    std::optional<RichTexts> rich_text;
    std::optional<std::string> markdown;
    std::vector<AttachmentInput> attachments;
    std::optional<JsonText> display_name;
};
SVC_RECORD(
    CreateCommentRequest,
    (parent, "What a new discussion is about: a card or a block."),
    (discussion_id, "The discussion to answer in, instead of `parent`."),
    (rich_text, "The text.", length(1, most_items)),
    (markdown,
     "The text as Markdown, instead of `rich_text`.",
     length(1, boards::CardComments::most_characters)),
    (attachments, "Files that come with it.", length(0, most_attachments), defaulted),
    (display_name, "As answers show it; ignored.", read_only)
);

/// The card, block or discussion that it is about.
CardKey about(Call& call, const CreateCommentRequest& in) {
    if (in.parent.has_value() == in.discussion_id.has_value())
        throw wrong_at(call, "\"parent\"", "give either parent or discussion_id");
    if (in.discussion_id) return {*in.discussion_id, IdOf::discussion};
    const CommentParent& parent = *in.parent;
    const int given =
        parent.card_id.has_value() + parent.page_id.has_value() + parent.block_id.has_value();
    if (given != 1) throw wrong_at(call, "\"parent\"", "give one of card_id, page_id and block_id");
    if (parent.block_id) return {boards::id_of(call, *parent.block_id), IdOf::card_or_block};
    return {boards::id_of(call, parent.card_id ? *parent.card_id : *parent.page_id), IdOf::card};
}

// What of a new comment depends on what it is about.
constexpr Sql find_place{"content.place_of_comment", R"(
    SELECT
        CASE WHEN $3 THEN
            (SELECT m.block_id FROM comments m
             WHERE m.org_id = $1 AND m.discussion_id = $2 LIMIT 1)
        ELSE (SELECT b.id FROM blocks b WHERE b.org_id = $1 AND b.id = $2 AND b.trashed_by IS NULL)
        END AS block_id,
        EXISTS (SELECT FROM cards c WHERE c.org_id = $1 AND c.id = $2) AS is_card,
        EXISTS (
            SELECT FROM comments m
            WHERE m.org_id = $1 AND m.discussion_id = $2 AND NOT m.in_trash) AS is_discussion)"};

struct CommentPlace {
    std::optional<Uuid> block_id;
    bool is_card = false;
    bool is_discussion = false;
};
SVC_RECORD(CommentPlace, (block_id), (is_card), (is_discussion));

// An answer takes a settled discussion up again.
constexpr Sql reopen{"content.reopen_discussion", R"(
    UPDATE comments SET resolved_by = NULL, version = version + 1
    WHERE org_id = $1 AND discussion_id = $2 AND resolved_by IS NOT NULL)"};

Comment create(Call& call, const CreateCommentRequest& in) {
    const CardKey target = about(call, in);
    RichTexts texts = said_in(call, in.rich_text, in.markdown);
    auto seen = lock_card(call, target, BoardRole::viewer);
    auto place = call.tx().later<CommentPlace>(
        find_place, call.org(), target.id, in.discussion_id.has_value()
    );
    NameLookup names(call, {naming_part(in.rich_text ? "rich_text" : "markdown", texts)});
    FilesResolver files(call, in.attachments);

    const CardAccess card = require_changeable(seen.one(), BoardRole::viewer);
    const CommentPlace found = place.one_or_retry();
    if (in.discussion_id ? !found.is_discussion : !found.is_card && !found.block_id)
        not_found(in.discussion_id ? "discussion" : "card or block");
    resolve(texts, names.names());

    StoredComment row;
    row.id = new_uuid();
    row.card_id = card.card_id;
    row.block_id = found.block_id;
    row.discussion_id = in.discussion_id.value_or(row.id);
    row.rich_text = AsJson(texts);
    const FileRefs attached = files.refs();
    row.attachments = AsJson(attached);
    row.created_time = row.last_edited_time = card.now;
    row.created_by = AsJson(ref_of(call.caller()));
    const Comment comment = shown(row);
    const Event made = placed(created(comment_created, comment), card);
    call.check(made);
    Tx& tx = call.tx();
    if (in.discussion_id) tx.queue(reopen, call.org(), row.discussion_id);
    queue_comment(tx, call.org(), row, texts);
    boards::store_bytes(call, static_cast<std::int64_t>(row.rich_text.text.size()));
    if (!attached.empty()) attach(call, row.card_id, row.id, attached);
    boards::count_comments(tx, call.org(), row.card_id, 1);
    call_to(call, row.card_id, texts);
    call.emit(made);
    return linked(call, row);
}

}  // namespace

const Operation list_comments{
    .name = "list_comments",
    .route = "GET /v1/comments",
    .summary = "List the comments on a card or a block, oldest first.",
    .access = Access::board_viewer,
    .handler = list,
};

const Operation get_comment{
    .name = "get_comment",
    .route = "GET /v1/comments/{comment_id}",
    .summary = "Read a comment.",
    .access = Access::board_viewer,
    .handler = get,
};

const Operation create_comment{
    .name = "create_comment",
    .route = "POST /v1/comments",
    .summary = "Add a comment to a card or a block, or reply in a discussion.",
    .description =
        "With `parent` it opens a discussion, with `discussion_id` it answers in one, which takes "
        "it up again when it was resolved. Name people and agents by mentions in `rich_text`, or "
        "in Markdown as `[@Ada](user:<id>)`.",
    .access = Access::board_viewer,
    .status = 201,
    .worker = true,
    .under_lease = true,
    .handler = create,
};

}  // namespace svc::content
