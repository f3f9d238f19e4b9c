#pragma once

#include "modules/agents/shapes.hpp"
#include "svc/budgets.hpp"
#include "svc/failure.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace svc::agents {

using Clock = std::chrono::steady_clock;

enum class Limit { minute, day, writes };
inline constexpr std::size_t limits = 3;
template <class T>
using PerLimit = std::array<T, limits>;

/// Units of one window of time: which window, and how many.
struct Units {
    std::int64_t window = 0;  ///< when it began, microseconds since 1970
    std::int64_t count = 0;
};
/// What an account asks of the database.
struct Demand {
    PerLimit<std::optional<std::int64_t>> at_least;  ///< nothing: it wants none
    PerLimit<Units> returned;                        ///< what it does not need after all
};
/// What it got.
struct Drawn {
    struct Part {
        std::optional<std::int64_t> limit;
        Units granted;
        std::int64_t left = 0;  ///< in the database, for everybody
        Clock::time_point ends;
    };
    PerLimit<Part> parts;
};

/// A budget that an agent has used up, and still wants to use.
struct Exceeded {
    Limit limit{};
    std::int64_t allowed = 0;
    std::int64_t window = 0;  ///< which one, as in Units
};

/// Where accounts draw from.
class BudgetStore {
public:
    virtual ~BudgetStore() = default;
    virtual Drawn draw(const Uuid& org, const Uuid& agent, const Demand& demand) = 0;
    /// Told of the first refusal in a window, without any lock; false when it could not be noted,
    /// and is to be told of again.
    virtual bool exceeded(const Uuid& org, const Uuid& agent, const Exceeded& what) noexcept = 0;
};

/// As RequestBudgets calls it.
std::string_view name_of(Limit limit);

/// How many units are taken out of the database at once when so many are left of a budget: far from
/// its end enough to go on for a while, close to it one by one, so that servers share the rest.
std::int64_t share(std::int64_t left, std::int64_t at_least);

/// One agent's budgets on this server: units that are taken out of the database in advance and
/// spent here without asking it. Any thread.
class BudgetLease {
public:
    BudgetLease(const Uuid& org, const Uuid& agent) : org_(org), agent_(agent) {}

    /// What the agent may use now; a change makes the units in hand void.
    void know(const RequestBudgets& budgets);
    /// Spends, drawing first if need be. Failure 429 when there is too little.
    void take(const Budgets::Cost& cost, BudgetStore& bank);
    void give_back(const Budgets::Cost& cost);
    /// Adds the headers about the limit that is closest.
    void report(Budgets::Headers& headers) const;

    /// Draws what will be needed soon, or gives back what has not been needed for long.
    void tend(BudgetStore& bank);
    /// Gives back everything.
    void close(BudgetStore& bank);
    /// True when nothing is lost by forgetting it.
    bool idle() const;

    const Uuid& org() const { return org_; }
    const Uuid& agent() const { return agent_; }
    /// What was used since the last call.
    Budgets::Cost used();
    void charge_again(const Budgets::Cost& used);

private:
    struct Window {
        std::optional<std::int64_t> limit;
        Units in_hand;
        std::int64_t reported_window = 0;  // the window in which it was said that all is used up
        Clock::time_point began{};    // after another one, or without a limit, which requests that
                                      // are still under way may have been let through by
        std::int64_t left = 0;        // in the database when it was last asked
        std::int64_t portion = 0;     // of the last draw
        Clock::time_point ends{};     // from then on nothing of this holds
        Clock::time_point in_vain{};  // until then there is no use in asking
        bool open(Clock::time_point now) const { return now < ends; }
    };
    bool has(Limit limit, std::int64_t count, Clock::time_point now) const;
    bool runs_low(const Window& window, Clock::time_point now) const;
    void fill(std::unique_lock<std::mutex>& lock, const Demand& demand, BudgetStore& bank);
    void merge(const Drawn& drawn, bool outdated);
    void put_aside(Limit limit, const Units& units);
    Demand demand_for(const Budgets::Cost& cost, Clock::time_point now) const;
    Demand recall();
    [[noreturn]] void refuse(std::unique_lock<std::mutex>& lock, Limit limit, BudgetStore& bank);
    Failure refusal(Limit limit) const;

    const Uuid org_, agent_;
    mutable std::mutex mutex_;
    std::condition_variable filled_;
    bool filling_ = false;
    /// False until somebody said what the agent may use: a caller that is known from before is not
    /// worked out again when its account was forgotten, so the first draw has to ask.
    bool known_ = false;
    std::uint64_t reported_ = 0;  // how often it was said that a limit is another
    PerLimit<Window> windows_;
    PerLimit<Units> unwanted_;
    Budgets::Cost used_;
    Clock::time_point last_used_ = Clock::now();
};

}  // namespace svc::agents
