#pragma once

#include "modules/content/lib/block_input.hpp"
#include "svc/as_json.hpp"

/// Blocks and comments as they are shown (contract 6.20, 6.21).
namespace svc::content {

enum class ParentType { card_id, block_id };
BOOST_DESCRIBE_ENUM(ParentType, card_id, block_id)

struct BlockParent {
    ParentType type{};
    std::optional<Uuid> card_id, block_id;
    bool operator==(const BlockParent&) const = default;
};
SVC_SHARED_RECORD(
    BlockParent,
    (type, "Which of the following it is."),
    (card_id, "Its parent is the card itself.", omit_empty),
    (block_id, "Its parent is another block.", omit_empty)
);

/// A list of blocks, as its JSON.
struct BlocksText {
    std::string text;
};

struct Block {
    Object<"block"> object;
    Uuid id;
    BlockParent parent;
    Uuid card_id;
    BlockType type{};
#define SVC_MEMBER(name, Payload, below) std::optional<AsJson<Payload>> name;
    SVC_BLOCK_TYPES(SVC_MEMBER)
#undef SVC_MEMBER
    bool has_children = false;
    bool in_trash = false;
    bool archived = false;
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    Timestamp last_edited_time;
    AsJson<PrincipalRef> last_edited_by;
    std::int64_t version = 1;
    std::optional<BlocksText> children;
    std::optional<bool> children_truncated;
};

}  // namespace svc::content

namespace svc {

template <>
struct Json<content::BlocksText> {
    static void schema(SchemaWriter&, const Rules&, json::object& out);
    static void read(Reader&, const Rules&, const json::value&, content::BlocksText&);
    static void write(const content::BlocksText& in, std::string& out) { out += in.text; }
    static void from_db(Cell, content::BlocksText&);
    static bool empty(const content::BlocksText& in) { return in.text.empty(); }
};

}  // namespace svc

namespace svc::content {

SVC_SHARED_RECORD(
    Block,
    (object),
    (id),
    (parent, "The card or block that contains it."),
    (card_id, "The card it belongs to."),
    (type, "Which of the following members it has; never changes."),
    SVC_BLOCK_ROWS,
    (has_children, "There are blocks below it."),
    (in_trash, "It, or a block that contains it, was deleted."),
    (archived, "The same as in_trash, for older clients."),
    (created_time),
    (created_by),
    (last_edited_time),
    (last_edited_by),
    (version, "Rises with every change; send it as If-Match to refuse to overwrite others."),
    (children, "Those below it, where they were asked for with `depth`.", omit_empty),
    (children_truncated,
     "The answer had no room for all that is below it: read its children by themselves.",
     omit_empty)
);

// ----------------------------------------------------------------------------------- comments

enum class CommenterType { user, integration };
BOOST_DESCRIBE_ENUM(CommenterType, user, integration)

struct DisplayName {
    CommenterType type{};
    std::optional<std::string> resolved_name;
};
SVC_SHARED_RECORD(
    DisplayName,
    (type, "`user` for a person, `integration` for an agent or an automation."),
    (resolved_name, "As people see it.")
);

enum class AttachmentCategory { image, video, audio, pdf, document };
BOOST_DESCRIBE_ENUM(AttachmentCategory, image, video, audio, pdf, document)

struct CommentAttachment {
    Uuid file_id;
    AttachmentCategory category{};
    AttachedFile file;
};
SVC_SHARED_RECORD(
    CommentAttachment,
    (file_id),
    (category, "What sort of file it is."),
    (file, "Where it is to be had.")
);

struct Comment {
    Object<"comment"> object;
    Uuid id;
    Uuid card_id;
    BlockParent parent;
    Uuid discussion_id;
    AsJson<RichTexts> rich_text;
    DisplayName display_name;
    std::vector<CommentAttachment> attachments;
    bool resolved = false;
    std::optional<AsJson<PrincipalRef>> resolved_by;
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    Timestamp last_edited_time;
    bool in_trash = false;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    Comment,
    (object),
    (id),
    (card_id, "The card it belongs to."),
    (parent, "What it is about: the card as a whole, or one of its blocks."),
    (discussion_id, "The same for a comment and all answers to it."),
    (rich_text, "The text."),
    (display_name, "Who says it, for client libraries."),
    (attachments, "Files that came with it."),
    (resolved, "Its discussion is resolved."),
    (resolved_by, "Who resolved it."),
    (created_time),
    (created_by),
    (last_edited_time),
    (in_trash, "It was deleted."),
    (version, "Rises with every change; send it as If-Match to refuse to overwrite others.")
);

}  // namespace svc::content
