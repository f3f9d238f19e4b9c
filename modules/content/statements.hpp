#pragma once

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/card_ref.hpp"
#include "modules/content/api.hpp"

/// What several files of this module read, and how.
namespace svc::content {

using boards::BoardCaller;
using boards::BoardRole;

/// What an id may be the id of. A block may be given any id that is free, so that nothing else is
/// found by what is a block's.
enum class IdOf { card, card_or_block, comment, discussion };
BOOST_DESCRIBE_ENUM(IdOf, card, card_or_block, comment, discussion)

/// What leads to a card, for statements: an id, or a key taken apart.
struct CardKey {
    std::optional<Uuid> id;
    std::optional<std::string> board_key;
    std::int64_t number = 0;
    IdOf kind = IdOf::card;
    explicit CardKey(const boards::CardRef& card, IdOf what = IdOf::card);
    CardKey(const Uuid& of, IdOf what) : id(of), kind(what) {}
};

/// The card that something stands on, and what the caller may do there.
struct CardAccess {
    Uuid card_id;
    Uuid board_id;
    Uuid column_id;
    std::string key;
    std::string title;
    bool in_trash = false;
    bool board_is_archived = false;
    bool board_in_trash = false;
    std::int64_t block_count = 0;
    std::int64_t content_bytes = 0;  ///< what those blocks hold
    std::int64_t version = 1;
    std::optional<BoardRole> role;
    Timestamp now;
};
SVC_SHARED_RECORD(
    CardAccess,
    (card_id),
    (board_id),
    (column_id),
    (key),
    (title),
    (in_trash),
    (board_is_archived),
    (board_in_trash),
    (block_count),
    (content_bytes),
    (version),
    (role),
    (now)
);

/// Queues the lock of the card that `key` leads to, for a caller of at least that role, viewer or
/// editor, and what is known of it.
DeferredRows<CardAccess> lock_card(
    Call& call, const CardKey& key, BoardRole least = BoardRole::editor
);
/// The same, without a lock: for who only looks.
DeferredRows<CardAccess> see_card(Call& call, const CardKey& key);

/// 404 for strangers, 403 for lower roles, 409 when the card cannot be changed.
CardAccess require_changeable(const std::optional<CardAccess>& seen, BoardRole least);
/// Whether the caller may look.
CardAccess require_visible(const std::optional<CardAccess>& seen);

/// Where an event about the card's content happened.
Event placed(Event event, const CardAccess& card);

// ------------------------------------------------------------------------------------ mentions

/// Whom and what a part of the input names; `path` leads there, as wrong_at() takes it.
struct NamingPart {
    std::string path;
    References references;
};
/// What a field holds.
NamingPart naming_part(std::string_view field, References references);
NamingPart naming_part(std::string_view field, const RichTexts& texts);
/// Of a list of blocks each by itself.
std::vector<NamingPart> naming_parts(std::string_view field, const std::vector<BlockInput>& blocks);

/// Looks up whom and what the input names.
class NameLookup {
public:
    /// Queues the look-ups, when anything is named.
    NameLookup(Call& call, std::vector<NamingPart> parts);
    ~NameLookup();
    /// Reads, and adds to what is `kept`; throws Failure 422, which tells of every part, for
    /// somebody who is not in the workspace, and for a card or a file that the caller may not see,
    /// save those kept.
    ReferenceNames names(ReferenceNames kept = {});

private:
    struct Questions;

    Call& call_;
    std::vector<NamingPart> parts_;
    std::unique_ptr<Questions> questions_;
};

}  // namespace svc::content
