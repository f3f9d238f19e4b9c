#pragma once

#include "modules/boards/api/access.hpp"

#include <algorithm>
#include <cstdint>

/// What is known of a caller who reads events.
namespace svc::live {

class Feed;

/// A caller with open streams in a workspace; all their streams share it. Under the feed's lock.
///
/// Roles are kept by the board's number, which is another when something may have changed on the
/// board (Feed::note_rights): what is known under the old one is then of no use, for whichever
/// viewer.
class Viewer {
public:
    Viewer(std::shared_ptr<Feed> feed, const boards::BoardCaller& caller, const PrincipalRef& who)
        : feed_(std::move(feed)), caller_(caller), who_(who) {}

    /// Which is there as long as somebody reads it.
    const std::shared_ptr<Feed>& feed() const { return feed_; }

    const boards::BoardCaller& caller() const { return caller_; }
    const PrincipalRef& who() const { return who_; }

    struct Known {
        std::uint32_t board;
        std::optional<boards::BoardRole> role;
        std::int64_t as_of;  ///< sequence of an event that it is not older than
    };
    /// Nothing when it has not been asked.
    const Known* role_on(std::uint32_t board) const {
        const auto at = std::ranges::lower_bound(known_, board, {}, &Known::board);
        return at != known_.end() && at->board == board ? &*at : nullptr;
    }
    void learn(const Known& what) {
        if (known_.size() >= most_known) known_.clear();
        const auto at = std::ranges::lower_bound(known_, what.board, {}, &Known::board);
        if (at == known_.end() || at->board != what.board) known_.insert(at, what);
        else if (at->as_of <= what.as_of) *at = what;
    }
    /// What is known of all boards is of no use any more, nor are answers to questions that are on
    /// their way.
    void forget() {
        known_.clear();
        ++epoch_;
    }
    std::uint32_t epoch() const { return epoch_; }

    std::size_t readers = 0;

private:
    static constexpr std::size_t most_known = 2'000;

    const std::shared_ptr<Feed> feed_;
    const boards::BoardCaller caller_;
    const PrincipalRef who_;
    std::vector<Known> known_;  // by board
    std::uint32_t epoch_ = 0;
};

}  // namespace svc::live
