#pragma once

#include "events/gaps.hpp"
#include "events/rows.hpp"
#include "svc/tx.hpp"

/// Finding the rows of the log that have no numbers yet.
namespace svc::events {

/// Has the session take indexes whatever it believes of the tables: what is read here is always a
/// few rows out of many, and a plan made while a table was small outlives that. Queued; for good
/// once it is committed.
void prefer_indexes(Tx& tx);

/// Looks at the log, ever further up, and below where rows may still appear: never at a row that
/// was met, unless it stands in a gap. Good as long as nobody else numbers rows. One thread's.
class Lookout {
public:
    /// How far the numbers go, in event_position.
    struct End {
        std::int64_t batch = 0, position = 0;
    };

    explicit Lookout(std::size_t most_gaps = Gaps::bound) : most_gaps_(most_gaps) {}

    /// Finds out where the last batch ended and what it left out. A round trip.
    End open(Tx& tx);

    /// The new rows in the order of their ids, as many as are visible and fit. A round trip, one
    /// more when a transaction has ended that old gaps waited for.
    std::vector<LogRow> look(Tx& tx, int rows, std::int64_t bytes);

    /// The last look brought less than there is, for no more fitted.
    bool has_more() const { return has_more_; }

    /// As they will be once what the last look brought is sequenced.
    std::int64_t low_water() const { return gaps_.low_water(); }
    std::int64_t high_water() const { return gaps_.high_water(); }
    /// What the last look brought has been sequenced by this transaction. The one that opened had
    /// its id before it looked: who drew theirs between the two may still fill what is missing, and
    /// the next transaction names that.
    void sequenced_by(Xid id) {
        if (id != opened_by_) gaps_.name_youngest(id);
    }
    const Gaps& gaps() const { return gaps_; }

private:
    std::vector<LogRow> meet(std::vector<LogRow> found);

    std::size_t most_gaps_;
    Gaps gaps_;
    bool has_more_ = false;
    Xid opened_by_ = 0;
};

}  // namespace svc::events
