#pragma once

#include "lab.hpp"
#include "load.hpp"

#include <optional>
#include <string>
#include <vector>

/// A board that is worked off over REST.
namespace svc::bench {

struct HeldCard {
    std::string lease, secret;  ///< the lease's id and its token
};

/// Puts cards that wait for workers into a column, as put_cards() does.
void put_work(Lab& lab, const std::string& board, const std::string& queue, int from, int count);

/// A board with a queue and, unless completed cards stay where they are, a column that they go to.
class RestQueue {
public:
    static constexpr int workers = 16;
    enum class Completed { goes_on, stays };

    RestQueue(Lab& lab, const std::string& name, Completed completed = Completed::goes_on);

    const std::string& board() const { return board_; }
    std::string create_request() const;

    /// Puts cards in, a request each.
    void fill(int cards);
    /// Puts many in, by SQL; not into a queue that has cards by request as well.
    void fill_at_once(int cards);

    /// The next card, or nothing when none is left.
    std::optional<HeldCard> claim(Presser& presser) const;
    void complete(Presser& presser, const HeldCard& held) const;
    /// Claims and completes one; false when none is left.
    bool work(Presser& presser) const;

    /// All of the cards, claimed and completed one by one by all workers.
    WorkedOff work_off(int cards) const;
    /// The two halves of that, one after the other.
    WorkedOff claim_all(int cards, std::vector<HeldCard>& held) const;
    WorkedOff complete_all(const std::vector<HeldCard>& held) const;

    /// Whether several cards can be claimed and completed by one request each.
    bool has_batches() const;
    /// All of the cards, so many of them by each request.
    WorkedOff work_off_batches(int cards, int of) const;

private:
    std::string claim_request(const std::string& body) const;

    Lab& lab_;
    std::string board_, queue_;
    int numbers_ = 0;  ///< given to cards by fill_at_once()
};

}  // namespace svc::bench
