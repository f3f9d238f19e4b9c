#include "modules/boards/card/rewrites.hpp"

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/lib/file_values.hpp"
#include "svc/workspace_jobs.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <set>

namespace svc::boards {

namespace {

/// Cards; at most 8 MiB of values.
constexpr std::int64_t batch = 250;
constexpr auto from_the_top = std::numeric_limits<std::int64_t>::max();

// Those that nobody else holds: waiting for one while holding the others would stand in the way of
// whoever locks two cards in another order.
constexpr std::string_view next_cards = R"(
    SELECT c.id FROM cards c
    WHERE c.org_id = $1
        AND c.id = ANY (ARRAY(
            SELECT n.id FROM cards n
            WHERE n.org_id = $1 AND n.board_id = $5 AND n.number < $6
            ORDER BY n.number DESC
            LIMIT $7))
        AND)";
constexpr std::string_view without_waiting = "$5) FOR NO KEY UPDATE OF c SKIP LOCKED";
constexpr Sql lock_next{
    "boards.lock_cards_to_rewrite", SqlText<next_cards, if_editor, without_waiting>::view};

DeferredRows<HeldCard> lock_next_cards(
    Tx& tx, const BoardCaller& caller, const Uuid& board, std::int64_t below
) {
    return caller.later<HeldCard>(tx, lock_next, board, below, batch);
}

constexpr Sql see_definitions{"boards.see_definitions", R"(
    SELECT labels, properties FROM board_view WHERE org_id = $1 AND id = $2)"};

constexpr Sql see_next{"boards.cards_to_rewrite", R"(
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
SVC_RECORD(Shown, (id), (number), (labels), (properties));

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
SVC_RECORD(Rewritten, (labels), (properties));

/// True when that changed something.
bool bring_up_to_date(
    AsJson<std::vector<LabelRef>>& labels,
    AsJson<PropertyValues>& properties,
    const DefinitionIndex& definitions
) {
    const auto refs = labels.parsed();
    const auto values = properties.parsed();
    auto refs_now = definitions.as_defined(refs);
    auto values_now = definitions.as_defined(values);
    const bool same_refs = refs_now == refs, same = same_values(values_now, values);
    if (!same_refs) labels = AsJson(std::move(refs_now));
    if (!same) properties = AsJson(std::move(values_now));
    return !same_refs || !same;
}

DefinitionIndex index_of(const Definitions& definitions) {
    return {definitions.labels.parsed(), definitions.properties.parsed()};
}

/// Rewrites the next cards, as far as they are among those that are `held`; the definitions are
/// locked, too. The answer: the number that the cards rewritten so far begin with, or 0 when these
/// are all.
std::int64_t rewrite_next(
    Kernel& kernel,
    Tx& tx,
    const Uuid& org,
    const Uuid& board,
    std::int64_t below,
    const std::vector<HeldCard>& held
) {
    auto found = tx.later<Definitions>(see_definitions, org, board);
    auto cards = tx.later<Shown>(see_next, org, board, below, batch).all();
    const DefinitionIndex definitions = index_of(found.one_or_retry());
    std::set<Uuid> ours;
    for (const HeldCard& each : held) ours.insert(each.id);
    bool all = std::ssize(cards) < batch;
    std::map<std::string, Rewritten> rows;
    std::vector<Uuid> with_files;
    for (Shown& each : cards) {
        if (!ours.contains(each.id)) {  // somebody else's, or just made
            all = false;
            break;
        }
        below = each.number;
        const bool had_files = has_files(each.properties.text);
        if (!bring_up_to_date(each.labels, each.properties, definitions)) continue;
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
    return all ? 0 : below;
}

constexpr std::string_view rewriting = "boards.rewrite_cards";

constexpr Sql begin{"boards.begin_card_rewrite", R"(
    INSERT INTO card_rewrites (org_id, board_id, below) VALUES ($1, $2, $3)
    ON CONFLICT (org_id, board_id) DO UPDATE SET below = excluded.below)"};

}  // namespace

NewestCards::NewestCards(Call& call, const Uuid& board)
    : call_(call),
      board_(board),
      held_(lock_next_cards(call.tx(), BoardCaller::of(call), board, from_the_top)) {}

void NewestCards::follow() {
    Tx& tx = call_.tx();
    const auto below =
        rewrite_next(call_.kernel(), tx, call_.org(), board_, from_the_top, held_.all());
    if (below == 0) return;
    tx.queue(begin, call_.org(), board_, below);
    call_.use<Jobs>().enqueue(tx, {.kind = rewriting, .org = call_.org(), .key = board_.str()});
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
    const bool changed = bring_up_to_date(card.labels, card.properties, index_of(*found));
    had_files_ = had_files && changed;
}

void CatchUp::let_files_go(const Card& card) {
    if (had_files_) follow_files(call_, {card.id});
}

// ------------------------------------------------------------------------------------ the job

namespace {

struct BoardId {
    Uuid id;
};
SVC_RECORD(BoardId, (id));

struct Rewrite {
    Uuid org_id;
    Uuid board_id;
    std::int64_t below = 0;
};
SVC_RECORD(Rewrite, (org_id), (board_id), (below));

constexpr Sql share_definitions{"boards.share_definitions_to_follow", R"(
    SELECT board_id AS id FROM board_counters
    WHERE org_id = $1 AND board_id = $2
    FOR KEY SHARE SKIP LOCKED)"};

constexpr Sql lock_rewrite{"boards.lock_card_rewrite", R"(
    SELECT org_id, board_id, below FROM card_rewrites
    WHERE org_id = $1 AND board_id = $2
    FOR UPDATE SKIP LOCKED)"};

constexpr Sql keep_place{"boards.keep_place_of_card_rewrite", R"(
    UPDATE card_rewrites SET below = $3 WHERE org_id = $1 AND board_id = $2)"};

constexpr Sql finish{"boards.finish_card_rewrite", R"(
    DELETE FROM card_rewrites WHERE org_id = $1 AND board_id = $2)"};

constexpr Sql see_rewrite{"boards.see_card_rewrite", R"(
    SELECT board_id AS id FROM card_rewrites WHERE org_id = $1 AND board_id = $2)"};

enum class Step { more, finished, hindered };

/// One batch. `below` is where the last one ended, as far as this run knows.
Step rewrite_some(Kernel& kernel, Tx& tx, const Uuid& org, const Uuid& board, std::int64_t& below) {
    auto held = lock_next_cards(tx, BoardCaller::of_system(org), board, below);
    auto shared = tx.later<BoardId>(share_definitions, org, board);
    auto seen = tx.later<BoardId>(see_rewrite, org, board);
    const auto now = tx.one<Rewrite>(lock_rewrite, org, board);
    if (!now || !shared.one()) return seen.one() ? Step::hindered : Step::finished;
    const auto before = std::exchange(below, now->below);
    if (before != now->below) return Step::more;  // the cards locked are not the next ones any more
    below = rewrite_next(kernel, tx, org, board, before, held.all());
    if (below == before) return Step::hindered;
    if (below == 0) tx.queue(finish, org, board);
    else tx.queue(keep_place, org, board, below);
    return below == 0 ? Step::finished : Step::more;
}

JobOutcome rewrite(Kernel& kernel, const JobRun& run) {
    constexpr std::chrono::milliseconds until_others_are_done{500};
    const Uuid board = Uuid::parse(run.key()).value();
    std::int64_t below = 0;
    for (;;) {
        Step step = Step::finished;
        in_workspace(kernel, run.org(), rewriting, [&](Tx& tx, Actor&) {
            auto next = below;
            step = rewrite_some(kernel, tx, run.org(), board, next);
            if (step == Step::hindered)
                kernel.use<Jobs>().enqueue(
                    tx,
                    {.kind = rewriting,
                     .org = run.org(),
                     .key = run.key(),
                     .after = until_others_are_done}
                );
            below = next;
        });
        if (step != Step::more) return JobOutcome::done;
        if (run.should_yield()) return JobOutcome::more;
    }
}

}  // namespace

JobKind rewrite_job(Kernel& kernel) {
    return {
        .name = std::string(rewriting),
        .run = [&kernel](JobRun& run) { return rewrite(kernel, run); },
    };
}

}  // namespace svc::boards
