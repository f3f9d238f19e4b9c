#include "modules/boards/card_rewrites.hpp"

#include "modules/boards/card_files.hpp"
#include "modules/boards/jobs.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace svc::boards {

namespace {

/// Cards; at most 8 MiB of values.
constexpr std::int64_t batch = 250;

constexpr std::string_view newest_cards = R"(
    SELECT c.id FROM cards c
    WHERE c.org_id = $1
        AND c.id = ANY (ARRAY(
            SELECT n.id FROM cards n
            WHERE n.org_id = $1 AND n.board_id = $5
            ORDER BY n.number DESC
            LIMIT $6))
        AND)";
constexpr std::string_view in_their_order = "$5) ORDER BY c.id FOR NO KEY UPDATE OF c";
constexpr Sql lock_newest{
    "boards.lock_newest_cards", SqlText<newest_cards, if_editor, in_their_order>::view};

constexpr Sql see_definitions{"boards.see_definitions", R"(
    SELECT labels, properties FROM board_view WHERE org_id = $1 AND id = $2)"};

constexpr Sql next_cards{"boards.cards_to_rewrite", R"(
    SELECT id, number, labels, properties FROM cards
    WHERE org_id = $1 AND board_id = $2 AND number < $3
    ORDER BY number DESC
    LIMIT $4)"};

struct Shown {
    Uuid id;
    std::int64_t number = 0;
    AsJson<std::vector<LabelRef>> labels;
    AsJson<PropertyValues> properties;
};
SVC_RECORD(Shown, (id, ""), (number, ""), (labels, ""), (properties, ""));

constexpr Sql rewrite_cards{"boards.rewrite_cards", R"(
    UPDATE cards c
    SET (labels, properties) = (
            SELECT w.labels, w.properties
            FROM jsonb_to_record($2::jsonb -> c.id::text) AS w (labels jsonb, properties jsonb))
    WHERE c.org_id = $1 AND c.id = ANY (ARRAY(SELECT jsonb_object_keys($2::jsonb)::uuid)))"};

/// Of one card, from now on.
struct Rewritten {
    AsJson<std::vector<LabelRef>> labels;
    AsJson<PropertyValues> properties;
};
SVC_RECORD(Rewritten, (labels, ""), (properties, ""));

/// True when that changed something.
bool bring_up_to_date(
    AsJson<std::vector<LabelRef>>& labels,
    AsJson<PropertyValues>& properties,
    const std::vector<Label>& board_labels,
    const std::vector<PropertyDefinition>& board_properties
) {
    const auto refs = labels.parsed();
    const auto values = properties.parsed();
    auto refs_now = as_defined(refs, board_labels);
    auto values_now = as_defined(values, board_properties);
    const bool same_refs = refs_now == refs, same = same_values(values_now, values);
    if (!same_refs) labels = AsJson(std::move(refs_now));
    if (!same) properties = AsJson(std::move(values_now));
    return !same_refs || !same;
}

/// The number that the cards rewritten so far begin with; null when there are no more. Those to be
/// rewritten next are locked, and so are the definitions.
std::optional<std::int64_t> rewrite_next(
    Kernel& kernel, Tx& tx, const Uuid& org, const Uuid& board, std::int64_t below
) {
    auto found = tx.later<Definitions>(see_definitions, org, board);
    auto cards = tx.later<Shown>(next_cards, org, board, below, batch).all();
    const Definitions definitions = found.must();
    const auto labels = definitions.labels.parsed();
    const auto properties = definitions.properties.parsed();
    std::map<std::string, Rewritten> rows;
    std::vector<Uuid> with_files;
    for (Shown& each : cards) {
        const bool had_files = has_files(each.properties.text);
        if (!bring_up_to_date(each.labels, each.properties, labels, properties)) continue;
        if (had_files) with_files.push_back(each.id);
        rows.insert({each.id.str(), {std::move(each.labels), std::move(each.properties)}});
    }
    if (!rows.empty()) {
        std::string text;
        Json<std::map<std::string, Rewritten>>::write(rows, text);
        tx.queue(rewrite_cards, org, text);
    }
    if (auto* files = kernel.find<CardFiles>(); files && !with_files.empty())
        files->follow(tx, org, with_files);
    if (std::ssize(cards) < batch) return std::nullopt;
    return cards.back().number;
}

constexpr Sql begin{"boards.begin_card_rewrite", R"(
    INSERT INTO card_rewrites (org_id, board_id, below) VALUES ($1, $2, $3)
    ON CONFLICT (org_id, board_id) DO UPDATE SET below = excluded.below)"};

}  // namespace

void lock_newest_cards(Call& call, const Uuid& board) {
    Seat::of(call).queue(call.tx(), lock_newest, board, batch);
}

void let_cards_follow(Call& call, const Uuid& board) {
    constexpr auto all = std::numeric_limits<std::int64_t>::max();
    const auto below = rewrite_next(call.kernel(), call.tx(), call.org(), board, all);
    if (below) call.tx().queue(begin, call.org(), board, *below);
}

// -------------------------------------------------------------------------------- catching up

namespace {

constexpr Sql definitions_to_follow{"boards.definitions_to_follow", R"(
    SELECT b.labels, b.properties
    FROM cards c
    JOIN card_rewrites r ON r.org_id = $1 AND r.board_id = c.board_id
    JOIN board_view b ON b.org_id = $1 AND b.id = c.board_id
    WHERE c.org_id = $1 AND c.id = $2)"};

}  // namespace

CatchUp::CatchUp(Call& call, const Uuid& card)
    : call_(call),
      definitions_(call.tx().later<Definitions>(definitions_to_follow, call.org(), card)) {}

void CatchUp::apply_to(Card& card) {
    const auto found = definitions_.one();
    if (!found) return;
    const bool had_files = has_files(card.properties.text);
    const bool changed = bring_up_to_date(
        card.labels, card.properties, found->labels.parsed(), found->properties.parsed()
    );
    had_files_ = had_files && changed;
}

void CatchUp::let_files_go(const Card& card) {
    if (had_files_) follow_files(call_, {card.id});
}

// ------------------------------------------------------------------------------------ the job

namespace {

constexpr std::string_view rewriting = "boards.rewrite_cards";

constexpr Sql boards_to_rewrite{"boards.boards_to_rewrite", R"(
    SELECT r.org_id, r.board_id, r.below FROM card_rewrites r
    ORDER BY r.org_id, r.board_id
    LIMIT 100)"};

struct Rewrite {
    Uuid org_id;
    Uuid board_id;
    std::int64_t below = 0;
};
SVC_RECORD(Rewrite, (org_id, ""), (board_id, ""), (below, ""));

// In the order of whoever changes a definition: cards, the board's counter, and then this row.
constexpr Sql lock_cards{"boards.lock_cards_to_rewrite", R"(
    SELECT c.id FROM cards c
    WHERE c.org_id = $1 AND c.id = ANY (ARRAY(
        SELECT n.id FROM cards n
        WHERE n.org_id = $1 AND n.board_id = $2 AND n.number < $3
        ORDER BY n.number DESC
        LIMIT $4))
    ORDER BY c.id
    FOR NO KEY UPDATE OF c)"};

constexpr Sql share_definitions{"boards.share_definitions_to_follow", R"(
    SELECT board_id FROM board_counters WHERE org_id = $1 AND board_id = $2 FOR KEY SHARE)"};

constexpr Sql lock_rewrite{"boards.lock_card_rewrite", R"(
    SELECT org_id, board_id, below FROM card_rewrites
    WHERE org_id = $1 AND board_id = $2
    FOR UPDATE)"};

constexpr Sql keep_place{"boards.keep_place_of_card_rewrite", R"(
    UPDATE card_rewrites SET below = $3 WHERE org_id = $1 AND board_id = $2)"};

constexpr Sql finish{"boards.finish_card_rewrite", R"(
    DELETE FROM card_rewrites WHERE org_id = $1 AND board_id = $2)"};

/// One batch of one board; true while there is more to come.
bool go_on(Kernel& kernel, Tx& tx, Rewrite& rewrite) {
    const Uuid& org = rewrite.org_id;
    const Uuid& board = rewrite.board_id;
    tx.queue(lock_cards, org, board, rewrite.below, batch);
    tx.queue(share_definitions, org, board);
    const auto now = tx.one<Rewrite>(lock_rewrite, org, board);
    if (!now) return false;
    const bool somebody_else = now->below != rewrite.below;
    rewrite.below = now->below;
    if (somebody_else) return true;
    const auto below = rewrite_next(kernel, tx, org, board, rewrite.below);
    if (!below) {
        tx.queue(finish, org, board);
        return false;
    }
    tx.queue(keep_place, org, board, *below);
    rewrite.below = *below;
    return true;
}

}  // namespace

void go_on_rewriting(Kernel& kernel) {
    using Clock = std::chrono::steady_clock;
    std::vector<Rewrite> rewrites;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.act_for_all_orgs();
        rewrites = tx.all<Rewrite>(boards_to_rewrite);
    });
    const auto until = Clock::now() + std::chrono::seconds(1);
    while (!rewrites.empty()) {
        for (Rewrite& each : rewrites) {  // in turn, so that a long one holds up no other
            if (kernel.stopping() || Clock::now() > until) return;
            bool more = false;
            in_workspace(kernel, each.org_id, rewriting, [&](Tx& tx, Doer&) {
                Rewrite next = each;
                more = go_on(kernel, tx, next);
                each.below = next.below;
            });
            if (!more) each.below = 0;
        }
        std::erase_if(rewrites, [](const Rewrite& each) { return each.below == 0; });
    }
}

}  // namespace svc::boards
