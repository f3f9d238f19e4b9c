#include "modules/boards/card/numbers.hpp"
#include "svc/workspace_jobs.hpp"

#include <algorithm>
#include <cstring>

namespace svc::boards {

namespace {

constexpr std::string_view take_numbers = R"(
    UPDATE board_counters SET last_number = last_number + $6
    WHERE org_id = $1 AND board_id = $5 AND)";
constexpr std::string_view of_board = "$5) RETURNING last_number AS number";
constexpr Sql reserve{"boards.reserve_numbers", SqlText<take_numbers, if_editor, of_board>::view};

// Unless others have taken numbers since.
constexpr Sql unreserve{"boards.give_numbers_back", R"(
    UPDATE board_counters SET last_number = $3
    WHERE org_id = $1 AND board_id = $2 AND last_number = $4)"};

constexpr Sql changed_counts{"boards.workspaces_with_changed_counts", R"(
    SELECT DISTINCT m.org_id FROM card_count_changes m WHERE m.org_id IS NOT NULL)"};

constexpr Sql take_together{"boards.add_up_card_counts", R"(
    WITH taken AS (
        DELETE FROM card_count_changes WHERE org_id = $1 RETURNING board_id, change
    ), sums AS (
        SELECT board_id, sum(change) AS change FROM taken GROUP BY board_id
    )
    UPDATE board_counters n
    SET card_count = n.card_count + (SELECT s.change FROM sums s WHERE s.board_id = n.board_id)
    WHERE n.org_id = $1 AND n.board_id = ANY (ARRAY(SELECT s.board_id FROM sums s)))"};

struct Reserved {
    std::int64_t number = 0;
};
SVC_RECORD(Reserved, (number));

}  // namespace

std::size_t CardNumbers::Hash::operator()(const Uuid& id) const {
    std::size_t out = 0;  // the end of an id is random
    std::memcpy(&out, id.bytes().data() + id.bytes().size() - sizeof out, sizeof out);
    return out;
}

std::optional<std::int64_t> CardNumbers::take(Call& call, const Uuid& board) {
    if (const auto number = take_from_block(board)) return number;
    const auto caller = BoardCaller::of(call);
    if (call.tx().round_trips() > 0) {
        const auto reserved = caller.later<Reserved>(call.tx(), reserve, board, 1).one();
        return reserved ? std::optional(reserved->number) : std::nullopt;
    }
    // One takes a block for all who come together; they hold no connection meanwhile.
    const std::scoped_lock lock(taking_[Hash()(board) % taking_.size()]);
    if (const auto number = take_from_block(board)) return number;
    Block block = block_of(board);
    std::optional<Reserved> reserved;
    kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(caller.org, std::nullopt);
        reserved = caller.later<Reserved>(tx, reserve, board, block.size).one();
    });
    if (!reserved) return std::nullopt;
    const std::int64_t first = reserved->number - block.size + 1;
    keep(board, {caller.org, first + 1, reserved->number, std::min(2 * block.size, largest_block)});
    return first;
}

std::optional<std::int64_t> CardNumbers::take_from_block(const Uuid& board) {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(board);
    if (found == blocks_.end() || found->second.next > found->second.last) return std::nullopt;
    return found->second.next++;
}

CardNumbers::Block CardNumbers::block_of(const Uuid& board) {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(board);
    return found == blocks_.end() ? Block{} : found->second;
}

void CardNumbers::keep(const Uuid& board, const Block& block) {
    const std::scoped_lock lock(mutex_);
    if (blocks_.size() >= most) blocks_.erase(blocks_.begin());
    blocks_[board] = block;
}

void CardNumbers::give_back(const Uuid& board, std::int64_t number) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(board);
    if (found != blocks_.end() && found->second.next == number + 1) found->second.next = number;
}

void CardNumbers::give_back_all() noexcept {
    const std::scoped_lock lock(mutex_);
    try {
        for (const auto& [board, rest] : blocks_)
            if (rest.next <= rest.last)
                kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
                    tx.set_scope(rest.org, std::nullopt);
                    tx.queue(unreserve, rest.org, board, rest.next - 1, rest.last);
                });
    } catch (const std::exception&) {  // numbers may have gaps
    }
    blocks_.clear();
}

void add_up_counts(Kernel& kernel) {
    for (const auto& [org] : workspaces(kernel, changed_counts)) {
        if (kernel.stopping()) return;
        in_workspace(kernel, org, "add_up_counts", [&](Tx& tx, Actor&) {
            tx.queue(take_together, org);
        });
    }
}

}  // namespace svc::boards
