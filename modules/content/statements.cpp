#include "modules/content/statements.hpp"

#include "modules/files/api.hpp"

namespace svc::content {

CardKey::CardKey(const boards::CardRef& card, IdOf what) : id(card.id), kind(what) {
    if (id) return;
    board_key = card.board_key;
    number = card.number;
}

// -------------------------------------------------------------------------------------- cards

namespace {

// What a block or a comment stands on never changes, so it may be found before the lock is had.
// Row-level security lets an index answer for a value that is there already, and for coalesce() it
// is only once that is a query of its own.
constexpr std::string_view card_it_leads_to = R"( c.id = (SELECT coalesce(
        (SELECT k.card_id FROM blocks k
         WHERE k.org_id = $1 AND k.id = $5 AND $8 = 'card_or_block'),
        (SELECT m.card_id FROM comments m WHERE m.org_id = $1 AND m.id = $5 AND $8 = 'comment'),
        (SELECT m.card_id FROM comments m
         WHERE m.org_id = $1 AND m.discussion_id = $5 AND $8 = 'discussion' LIMIT 1),
        CASE WHEN $8 IN ('card', 'card_or_block') THEN $5::uuid END,
        (SELECT k.id FROM boards o
         JOIN cards k ON k.org_id = $1 AND k.board_id = o.id AND k.number = $7
         WHERE o.org_id = $1 AND o.key = $6))))";
constexpr std::string_view of_card = R"(
    SELECT c.id FROM cards c
    WHERE c.org_id = $1 AND)";
constexpr std::string_view and_who = " AND";
constexpr std::string_view for_update = "c.board_id) FOR UPDATE OF c";
constexpr Sql lock_to_edit{
    "content.lock_card",
    SqlText<of_card, card_it_leads_to, and_who, boards::if_editor, for_update>::view};
constexpr Sql lock_to_comment{
    "content.lock_card_to_comment",
    SqlText<of_card, card_it_leads_to, and_who, boards::if_seen, for_update>::view};

constexpr std::string_view card_and_role = R"(
    SELECT c.id AS card_id, c.board_id, c.column_id, b.key || '-' || c.number AS key, c.title,
        c.in_trash, b.is_archived AS board_is_archived, b.in_trash AS board_in_trash,
        c.block_count, c.content_bytes, c.version, now() AS now,
        )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role
    FROM cards c
    JOIN boards b ON b.org_id = $1 AND b.id = c.board_id
    )" SVC_BOARD_GRANT("c.board_id") R"(
    WHERE c.org_id = $1 AND)";
constexpr Sql see_card_of{"content.see_card", SqlText<card_and_role, card_it_leads_to>::view};

}  // namespace

DeferredRows<CardAccess> lock_card(Call& call, const CardKey& key, BoardRole least) {
    BoardCaller::of(call).lock(
        call.tx(),
        least == BoardRole::viewer ? lock_to_comment : lock_to_edit,
        key.id,
        key.board_key,
        key.number,
        key.kind
    );
    return see_card(call, key);
}

DeferredRows<CardAccess> see_card(Call& call, const CardKey& key) {
    return BoardCaller::of(call).later<CardAccess>(
        call.tx(), see_card_of, key.id, key.board_key, key.number, key.kind
    );
}

CardAccess require_visible(const std::optional<CardAccess>& seen) {
    if (!seen) not_found("block or card");
    boards::require(seen->role, BoardRole::viewer, "block or card");
    return *seen;
}

CardAccess require_changeable(const std::optional<CardAccess>& seen, BoardRole least) {
    if (!seen || seen->board_in_trash) not_found("block or card");
    boards::require(seen->role, least, "block or card");
    if (seen->board_is_archived) throw boards::board_archived();
    if (seen->in_trash) throw boards::card_in_trash();
    return *seen;
}

Event placed(Event event, const CardAccess& card) {
    return std::move(event).on_board(card.board_id).in_column(card.column_id).of_card(card.card_id);
}

// ------------------------------------------------------------------------------------ mentions

namespace {

// Whoever has left keeps a name: a text that names them may still be sent back.
constexpr Sql name_people{"content.name_people", R"(
    SELECT p.id, coalesce(p.name, 'somebody') AS name
    FROM principals p
    WHERE p.org_id = $1 AND p.id = ANY ($2::uuid[]))"};

constexpr Sql name_cards{"content.name_cards", R"(
    SELECT c.id, b.key || '-' || c.number AS name
    FROM cards c
    JOIN boards b ON b.org_id = $1 AND b.id = c.board_id AND NOT b.in_trash
    )" SVC_BOARD_GRANT("c.board_id") R"(
    WHERE c.org_id = $1 AND c.id = ANY ($5::uuid[])
        AND )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"(
            IS NOT NULL)"};

struct Called {
    Uuid id;
    std::string name;
};
SVC_RECORD(Called, (id), (name));

void add(std::map<Uuid, std::string>& names, const std::vector<Called>& rows) {
    for (const Called& each : rows) names.insert_or_assign(each.id, each.name);
}

}  // namespace

struct NameLookup::Questions {
    std::optional<DeferredRows<Called>> people, cards;
    std::function<std::vector<files::FileRef>()> files;
};

NamingPart naming_part(std::string_view field, References references) {
    return {'"' + std::string(field) + '"', std::move(references)};
}

NamingPart naming_part(std::string_view field, const RichTexts& texts) {
    References references;
    collect_references(texts, references);
    return naming_part(field, std::move(references));
}

std::vector<NamingPart> naming_parts(
    std::string_view field, const std::vector<BlockInput>& blocks
) {
    std::vector<NamingPart> parts;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        parts.push_back(
            {'"' + std::string(field) + "\"," + std::to_string(i), references_in(blocks[i])}
        );
    return parts;
}

NameLookup::NameLookup(Call& call, std::vector<NamingPart> parts)
    : call_(call), parts_(std::move(parts)), questions_(std::make_unique<Questions>()) {
    References all;
    for (const NamingPart& each : parts_) all.add(each.references);
    if (!all.users.empty())
        questions_->people = call.tx().later<Called>(name_people, call.org(), all.users);
    if (!all.pages.empty())
        questions_->cards = BoardCaller::of(call).later<Called>(call.tx(), name_cards, all.pages);
    if (all.files.empty()) return;
    if (const auto* files = call.kernel().find<files::Files>())
        questions_->files = files->find(call, all.files);
}

NameLookup::~NameLookup() = default;

ReferenceNames NameLookup::names(ReferenceNames names) {
    if (questions_->people) add(names.users, questions_->people->all());
    if (questions_->cards) add(names.pages, questions_->cards->all());
    if (questions_->files)
        for (const files::FileRef& each : questions_->files())
            names.files.insert_or_assign(each.id, each.filename);
    std::vector<WrongPart> unknown;
    for (const auto& [path, references] : parts_) {
        for (const Uuid& each : references.users)
            if (!names.users.contains(each))
                unknown.push_back({path, "nobody in the workspace has the id " + each.str()});
        for (const Uuid& each : references.pages)
            if (!names.pages.contains(each))
                unknown.push_back({path, "there is no card " + each.str()});
        for (const Uuid& each : references.files)
            if (!names.files.contains(each))
                unknown.push_back(
                    {path,
                     questions_->files
                         ? "you may show no such file: " + each.str()
                         : "this server keeps no files; name one elsewhere, as `external`"}
                );
    }
    if (!unknown.empty()) throw wrong_at(call_, unknown);
    return names;
}

}  // namespace svc::content
