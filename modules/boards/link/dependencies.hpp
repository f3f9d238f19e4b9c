#pragma once

#include "modules/boards/api/access.hpp"
#include "modules/boards/statements.hpp"

/// The cards that a card hangs on: the one it is a part of, and those it has to wait for.
namespace svc::boards {

/// Queues the lock that all take who tie cards together, in front of any card's own: what one of
/// them adds, the next one's search for circles finds.
/// Only whoever may change one of the cards, or those of a board with such a key, takes it.
void lock_ties(Call& call, const Uuid& card);
/// The same for those of many cards that the caller may change, if there are any.
void lock_ties(
    Call& call, const std::vector<Uuid>& cards, const std::vector<std::string>& board_keys
);

/// Queues the locks of cards that others wait for, in front of those who wait.
void lock_blockers(Call& call, const std::vector<Uuid>& cards);

/// A card as somebody names it who wants to tie another to it.
struct Dependency {
    Uuid id;
    std::optional<BoardRole> role;  ///< the caller's, on its board
    bool circle = false;            ///< it hangs on the other already
    bool open = false;              ///< somebody has to wait for it
    bool crowded = false;           ///< more hang on it, or on the other, than one request concerns
};
SVC_SHARED_RECORD(Dependency, (id), (role), (circle), (open), (crowded));

/// The parent that a request names. Nothing is asked when it names none.
class ParentResolver {
public:
    /// `card` is the one that is to become a part; none when it is just being made.
    ParentResolver(Call& call, const std::optional<Uuid>& wanted, const std::optional<Uuid>& card);
    /// Reads; throws Failure 422 for a card that the caller cannot see, 409 for a circle. The one
    /// that is `present` may stay, whatever became of it.
    void require(const std::optional<Uuid>& present = {});
    /// Reads; whether there is such a card that the caller can see.
    bool is_there();

private:
    const std::optional<Dependency>& found();

    Call& call_;
    std::optional<Uuid> wanted_;
    std::optional<DeferredRows<Dependency>> found_;
    std::optional<std::optional<Dependency>> read_;
};

/// How many cards may wait for one that is to wait for another, by however many others: so far
/// circles are looked for.
inline constexpr std::int64_t most_waiting_at_once = 10'000;
inline constexpr std::int64_t most_waiting_in_batch = 500;  ///< which ties up to a hundred

/// The cards to wait for that a request names.
class BlockersResolver {
public:
    /// At most so many may wait for `card`, by however many others.
    BlockersResolver(
        Call& call,
        const std::optional<std::vector<Uuid>>& wanted,
        const std::optional<Uuid>& card,
        std::int64_t most_waiting = most_waiting_at_once
    );
    bool given() const { return found_.has_value(); }
    /// To be called before all others: those that the card waits for already may stay, whatever
    /// became of them and whoever sees them. Lists are sent back as they were shown.
    void keep(std::vector<Uuid> present) { present_ = std::move(present); }
    /// Reads; throws Failure 422 for a card that the caller cannot see, 409 for a circle and where
    /// too many wait. Those that are gone are left out.
    const std::vector<Dependency>& all();
    std::vector<Uuid> ids();
    /// One of them is not done yet.
    bool any_open();
    /// Queues the links in place of what they were.
    void store(const Uuid& card);

private:
    Call& call_;
    const std::int64_t most_waiting_;
    std::vector<Uuid> wanted_, present_;
    std::optional<DeferredRows<Dependency>> found_;
    std::optional<std::vector<Dependency>> read_;
};

/// 409: `card` would wait for itself in the end, or be a part of itself.
Failure circle(std::string_view what, const Uuid& card);

}  // namespace svc::boards
