#pragma once

#include "events/look.hpp"

#include <map>

namespace svc::events {

/// What one batch of rows became.
struct Sequenced {
    std::size_t rows = 0;             ///< of the log, notes for the audit record included
    std::vector<StoredEvent> events;  ///< in the order of their positions, without subjects
    double oldest_seconds = 0;        ///< how long the first row had waited
};

/// The sequencer's work: gives the rows of the log their numbers and links them into the chains of
/// hashes, a batch at a time. What it knows it keeps, so it is for whoever holds the sequencer's
/// lock, from then on; after a throw of either function a new one begins. Transactions act for all
/// orgs. One thread's.
class Chain {
public:
    explicit Chain(std::size_t most_gaps = Gaps::bound) : lookout_(most_gaps) {}

    /// Reads what is new, as many rows as are visible and fit; how many came. One round trip,
    /// another for workspaces and boards that were not met lately.
    std::size_t take(Tx& tx, int rows, std::int64_t bytes);
    /// More is visible than what was taken last: it did not fit.
    bool has_more() const { return lookout_.has_more(); }
    /// Writes what was taken and commits: one round trip. Throws when somebody else has been here.
    Sequenced write(Tx& tx);

    const Gaps& gaps() const { return lookout_.gaps(); }

private:
    struct Head {
        std::int64_t sequence = 0, audit_sequence = 0;
        std::string audit_hash;
    };
    using BoardKey = std::pair<Uuid, Uuid>;  // workspace and board
    class Batch;

    void learn_heads(Tx& tx);

    bool open_ = false;
    Lookout lookout_;
    Lookout::End end_;
    std::map<Uuid, Head> heads_;
    std::map<BoardKey, std::int64_t> boards_;
    std::vector<LogRow> taken_;
};

}  // namespace svc::events
