#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// Which rows of the log are still to be met below the highest id that was.
namespace svc::events {

/// A transaction's full id, which never comes round.
using Xid = std::int64_t;

struct IdRange {
    std::int64_t first = 0, last = 0;
    auto operator<=>(const IdRange&) const = default;
};

/// Which transactions had ended at some moment.
class Running {
public:
    /// As pg_current_snapshot() is printed: `xmin:xmax:xip,xip`. Throws std::invalid_argument.
    explicit Running(std::string_view snapshot);

    bool ended(Xid) const;
    /// Those below `before` that had not ended; nothing when not all of them can be known.
    std::optional<std::vector<Xid>> before(Xid before) const;

private:
    Xid end_ = 0;               // from here on none had ended
    std::vector<Xid> running_;  // below it, in order
};

/// Ids are drawn in order and appear in another: what is missing below the highest that was met may
/// be a row whose transaction has not ended, or an id that nobody uses. Which of the two is known
/// once every transaction has ended that could have drawn it: those with an id below one that was
/// given afterwards, for a row's transaction has its id before the row has.
///
/// Missing ids are kept in generations, by what they wait for. A generation is looked for again
/// only when one of the transactions it waits for has ended, so that what a long one holds up costs
/// nothing meanwhile. Ranges, so that a jump of the sequence is one. One thread's.
class Gaps {
public:
    static constexpr std::size_t bound = 300'000;  ///< of ranges: one look into all takes a second

    Gaps() = default;
    /// Everything up to `low_water` is settled, and all up to `high_water` but `missing` was met.
    /// `before`: the id of a transaction that began after all of these ids were drawn.
    Gaps(
        std::int64_t low_water,
        std::int64_t high_water,
        std::vector<IdRange> missing,
        Xid before,
        std::size_t most = bound
    );

    std::int64_t high_water() const { return high_water_; }
    /// Every id up to here was met or never comes.
    std::int64_t low_water() const;
    bool empty() const { return generations_.empty(); }
    /// How many ranges are kept.
    std::size_t size() const;
    /// So many that nothing above the high water may be met until some of them are settled: only a
    /// transaction that is open for very long, beside many that were rolled back, comes to it.
    bool full() const { return size() >= most_; }

    /// Begins a look: the youngest ranges, `most` at the most.
    std::vector<IdRange> youngest(std::size_t most);
    /// Of the others, those for which a transaction has ended since they were looked for. `running`
    /// is from after new rows were read, so that none of these is later than a row of the others.
    std::vector<IdRange> due(const Running& running);
    /// A row was found in a gap.
    void found(std::int64_t id);
    /// Whatever is in the ranges asked for and was visible has been found. `running` is from before
    /// they were read: what nobody can fill any more is forgotten.
    void settle(const Running& running);

    /// Rows above the high water were met, with these ids in their order. What is missing between
    /// them belongs to a generation that is complete with name_youngest().
    void meet(const std::vector<std::int64_t>& ids);
    /// The id of a transaction that began after meet().
    void name_youngest(Xid before);

private:
    struct Generation {
        std::optional<Xid> before;                // none yet: see meet()
        std::optional<std::vector<Xid>> waits{};  // for these; none: not looked for yet
        std::vector<IdRange> ranges;              // in order
        bool asked = false;                       // in the present look
    };
    static void remove(Generation& generation, std::int64_t id);

    std::int64_t high_water_ = 0;
    std::size_t most_ = bound;
    std::vector<Generation> generations_;  // the oldest first; none is without ranges
};

}  // namespace svc::events
