#pragma once

#include "modules/boards/api/bodies.hpp"
#include "modules/content/attachments.hpp"
#include "modules/content/statements.hpp"

/// Comments, as several files of this module read and write them.
namespace svc::content {

/// A comment as the database has it.
struct StoredComment {
    Uuid id;
    Uuid card_id;
    std::optional<Uuid> block_id;
    Uuid discussion_id;
    AsJson<RichTexts> rich_text;
    AsJson<FileRefs> attachments;
    std::optional<AsJson<PrincipalRef>> resolved_by;
    bool in_trash = false;
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    Timestamp last_edited_time;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    StoredComment,
    (id),
    (card_id),
    (block_id),
    (discussion_id),
    (rich_text),
    (attachments),
    (resolved_by),
    (in_trash),
    (created_time),
    (created_by),
    (last_edited_time),
    (version)
);

/// As events show it: addresses of files end too soon.
Comment shown(const StoredComment& row, const Addresses& addresses = {});
/// As answers show it. What came with a deleted one hangs there no more, so it has no address.
Comment linked(Call& call, const StoredComment& row);
std::vector<Comment> linked(Call& call, const std::vector<StoredComment>& rows);

/// What somebody says, as a request brings it: one of the two. Throws Failure 422.
RichTexts said_in(
    const Call& call,
    const std::optional<RichTexts>& rich_text,
    const std::optional<std::string>& markdown,
    std::string_view markdown_field = "markdown"
);

/// Queues that whoever a comment names watches its card.
void call_to(Call& call, const Uuid& card, const RichTexts& texts);

/// Queues the row of a new comment.
void queue_comment(Tx& tx, const Uuid& org, const StoredComment& row, const RichTexts& texts);

/// Comments that other modules make beside what they do.
class CommentsBeside final : public boards::CardComments {
public:
    std::unique_ptr<Comment> read(Call& call, std::string_view field, const std::string& markdown)
        override;
};

}  // namespace svc::content
