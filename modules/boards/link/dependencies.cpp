#include "modules/boards/link/dependencies.hpp"

namespace svc::boards {

namespace {

// One for the workspace, for a circle may go through any of its boards. $5: the cards that somebody
// ties, $6: the keys of the boards of more.
constexpr std::string_view one_lock = R"(
    SELECT pg_advisory_xact_lock(hashtextextended('ties of ' || $1::uuid::text, 0))
    WHERE EXISTS (
        SELECT FROM (
            SELECT c.board_id FROM cards c WHERE c.org_id = $1 AND c.id = ANY ($5::uuid[])
            UNION ALL
            SELECT b.id FROM boards b WHERE b.org_id = $1 AND b.key = ANY ($6::text[])
        ) tied
        WHERE)";
constexpr std::string_view of_somebody_tying = "tied.board_id))";
constexpr Sql take_lock{"boards.lock_ties", SqlText<one_lock, if_editor, of_somebody_tying>::view};

// In the order of their ids as all who lock cards, and each by its key.
constexpr std::string_view blockers_to_lock = R"(
    SELECT c.id
    FROM (SELECT n.id FROM unnest($5::uuid[]) n (id) ORDER BY n.id OFFSET 0) w
    CROSS JOIN LATERAL (
        SELECT o.id FROM cards o
        WHERE o.org_id = $1 AND o.id = w.id AND)";
constexpr std::string_view locked_in_order = R"(o.board_id)
        OFFSET 0
        FOR NO KEY UPDATE
    ) c)";
constexpr Sql lock_them{
    "boards.lock_blockers", SqlText<blockers_to_lock, if_seen, locked_in_order>::view};

// $5 is the parent asked for, $6 the card, if there is one already: a circle if that is among what
// the parent itself is a part of.
constexpr Sql find_parent{"boards.find_parent", R"(
    WITH RECURSIVE up AS (
        SELECT c.id, c.parent_card_id FROM cards c WHERE c.org_id = $1 AND c.id = $5
        UNION
        SELECT p.id, p.parent_card_id FROM up
        CROSS JOIN LATERAL (
            SELECT k.id, k.parent_card_id FROM cards k
            WHERE k.org_id = $1 AND k.id = up.parent_card_id
            OFFSET 0
        ) p
    ), above AS (
        SELECT u.id FROM up u LIMIT 1001
    )
    SELECT c.id,
        )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role,
        EXISTS (SELECT FROM above a WHERE a.id = $6::uuid) AS circle,
        card_is_open(c.completed_at, c.is_archived, c.in_trash) AS open,
        (SELECT count(*) FROM above) > 1000 AS crowded
    FROM cards c
    JOIN boards b ON b.org_id = $1 AND b.id = c.board_id AND NOT b.in_trash
    )" SVC_BOARD_GRANT("c.board_id") R"(
    WHERE c.org_id = $1 AND c.id = $5 AND NOT c.in_trash)"};

// $5 are the cards to wait for, $6 the one that is to wait: a circle if one of them waits for it,
// by however many others. What a card's end sets free, and how far circles are looked for ($7), is
// bounded. A card on a board in the trash is for nobody to see, and waited for as long as it is
// there.
constexpr Sql find_blockers{"boards.find_blockers", R"(
    WITH RECURSIVE waiting AS (
        SELECT $6::uuid AS id
        UNION
        SELECT l.target_id FROM waiting w
        CROSS JOIN LATERAL (
            SELECT k.target_id FROM card_links k
            WHERE k.org_id = $1 AND k.card_id = w.id AND k.kind = 'blocks'
            OFFSET 0
        ) l
    ), reached AS (
        SELECT w.id FROM waiting w LIMIT $7::bigint + 1
    )
    SELECT c.id,
        CASE WHEN NOT b.in_trash THEN )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"(
        END AS role,
        EXISTS (SELECT FROM reached r WHERE r.id = c.id) AS circle,
        card_is_open(c.completed_at, c.is_archived, c.in_trash) AS open,
        (SELECT count(*) FROM reached) > $7
            OR (SELECT count(*) FROM (
                    SELECT FROM card_links l
                    WHERE l.org_id = $1 AND l.card_id = c.id AND l.kind = 'blocks'
                        AND l.target_id IS DISTINCT FROM $6
                    LIMIT 100) l) = 100 AS crowded
    FROM unnest($5::uuid[]) wanted (id)
    CROSS JOIN LATERAL (
        SELECT x.* FROM cards x
        WHERE x.org_id = $1 AND x.id = wanted.id AND NOT x.in_trash
        OFFSET 0
    ) c
    CROSS JOIN LATERAL (
        SELECT x.* FROM boards x
        WHERE x.org_id = $1 AND x.id = c.board_id
        OFFSET 0
    ) b
    )" SVC_BOARD_GRANT_BY_KEY("c.board_id") R"()"};

constexpr Sql drop_links{"boards.drop_blockers", R"(
    DELETE FROM card_links
    WHERE org_id = $1 AND target_id = $2 AND kind = 'blocks' AND NOT card_id = ANY ($3::uuid[]))"};

constexpr Sql add_links{"boards.add_blockers", R"(
    INSERT INTO card_links (org_id, card_id, kind, target_id, id, created_by)
    SELECT $1, l.card_id, 'blocks', $2, l.id, $5
    FROM unnest($3::uuid[], $4::uuid[]) l (card_id, id)
    ON CONFLICT DO NOTHING)"};

}  // namespace

void lock_ties(Call& call, const Uuid& card) {
    BoardCaller::of(call).lock(call.tx(), take_lock, std::vector{card}, std::vector<std::string>{});
}

void lock_ties(
    Call& call, const std::vector<Uuid>& cards, const std::vector<std::string>& board_keys
) {
    BoardCaller::of(call).queue(call.tx(), take_lock, cards, board_keys);
}

void lock_blockers(Call& call, const std::vector<Uuid>& cards) {
    if (!cards.empty()) BoardCaller::of(call).queue(call.tx(), lock_them, cards);
}

Failure circle(std::string_view what, const Uuid& card) {
    return Failure(Fault::conflict, std::string(what))
        .with("reason", "circle")
        .with("card_id", card.str());
}

// --------------------------------------------------------------------------------- the parent

ParentResolver::ParentResolver(
    Call& call, const std::optional<Uuid>& wanted, const std::optional<Uuid>& card
)
    : call_(call), wanted_(wanted) {
    if (wanted)
        found_ = BoardCaller::of(call).later<Dependency>(call.tx(), find_parent, *wanted, card);
}

const std::optional<Dependency>& ParentResolver::found() {
    if (!read_) read_ = found_ ? found_->one() : std::nullopt;
    return *read_;
}

bool ParentResolver::is_there() { return found() && found()->role; }

void ParentResolver::require(const std::optional<Uuid>& present) {
    if (!wanted_ || wanted_ == present) return;
    if (!is_there()) throw wrong_field(call_, "parent_card_id", "there is no such card");
    const auto& parent = found();
    if (parent->circle)
        throw circle(
            "The card would be a part of itself: that card is one of its parts.", parent->id
        );
    if (parent->crowded)
        throw Failure(Fault::conflict, "That card is a part of a part, a thousand deep already.")
            .with("reason", "too_many_links");
}

// -------------------------------------------------------------------------------- the blockers

BlockersResolver::BlockersResolver(
    Call& call,
    const std::optional<std::vector<Uuid>>& wanted,
    const std::optional<Uuid>& card,
    std::int64_t most_waiting
)
    : call_(call), most_waiting_(most_waiting) {
    if (!wanted) return;
    for (const Uuid& each : *wanted)
        if (std::ranges::find(wanted_, each) == wanted_.end()) wanted_.push_back(each);
    found_ = BoardCaller::of(call).later<Dependency>(
        call.tx(), find_blockers, wanted_, card, most_waiting
    );
}

const std::vector<Dependency>& BlockersResolver::all() {
    if (read_) return *read_;
    const auto found = found_->all();
    std::vector<Dependency> blockers;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
        const auto same = std::ranges::find(found, wanted_[i], &Dependency::id);
        if (std::ranges::find(present_, wanted_[i]) != present_.end()) {
            if (same != found.end()) blockers.push_back(*same);
            continue;
        }
        if (same == found.end() || !same->role)
            throw wrong_item(call_, "blocked_by", i, "there is no such card");
        if (same->circle)
            throw circle("The card would wait for itself: that card waits for it.", same->id);
        if (same->crowded)
            throw Failure(
                Fault::conflict,
                "A hundred other cards wait for that card already, or more than " +
                    std::to_string(most_waiting_) + " for this one."
            )
                .with("reason", "too_many_links")
                .with("card_id", same->id.str());
        blockers.push_back(*same);
    }
    return read_.emplace(std::move(blockers));
}

std::vector<Uuid> BlockersResolver::ids() {
    all();
    return wanted_;
}

bool BlockersResolver::any_open() { return std::ranges::any_of(all(), &Dependency::open); }

void BlockersResolver::store(const Uuid& card) {
    Tx& tx = call_.tx();
    std::vector<Uuid> links;
    for (std::size_t i = 0; i < wanted_.size(); ++i) links.push_back(new_uuid());
    tx.queue(drop_links, call_.org(), card, wanted_);
    if (links.empty()) return;
    tx.queue(add_links, call_.org(), card, wanted_, links, to_json(ref_of(call_.caller())));
}

}  // namespace svc::boards
