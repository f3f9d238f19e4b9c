#include "modules/agents/lib/budget_lease.hpp"

#include "svc/failure.hpp"

#include <algorithm>

namespace svc::agents {

namespace {

constexpr std::int64_t largest_share = 512, sharers = 8;
/// An agent that was quiet for so long needs nothing in hand.
constexpr auto quiet = std::chrono::minutes(1);
/// Somebody else may have given something back by then.
constexpr auto patience = std::chrono::seconds(1);
/// What comes back so soon after a window or a limit began may have been taken out of the one
/// before, or been let through when there was none.
constexpr auto longest_request = std::chrono::seconds(30);

constexpr PerLimit<Limit> all{Limit::minute, Limit::day, Limit::writes};

std::size_t index(Limit limit) { return static_cast<std::size_t>(limit); }

std::int64_t part_of(const Budgets::Cost& cost, Limit limit) {
    return limit == Limit::writes ? cost.writes : cost.requests;
}

std::optional<std::int64_t> limit_in(const RequestBudgets& budgets, Limit limit) {
    switch (limit) {
        case Limit::minute: return budgets.requests_per_minute;
        case Limit::day: return budgets.requests_per_day;
        case Limit::writes: return budgets.daily_writes;
    }
    return std::nullopt;
}

std::int64_t seconds_until(Clock::time_point then, Clock::time_point now) {
    return std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(then - now).count(), 1);
}

/// By the clock on the wall, as clients know it.
std::string reset_time(Clock::time_point ends, Clock::time_point now) {
    const auto then = std::chrono::system_clock::now() + (ends - now);
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(then.time_since_epoch()).count());
}

}  // namespace

std::int64_t share(std::int64_t left, std::int64_t at_least) {
    const auto portion = std::clamp<std::int64_t>(left / sharers, 1, largest_share);
    return std::min(std::max<std::int64_t>(left, 0), std::max(portion, at_least));
}

void BudgetLease::know(const RequestBudgets& budgets) {
    const std::lock_guard lock(mutex_);
    // Nothing is let through before it is known what the agent may use.
    const auto since = std::exchange(known_, true) ? Clock::now() : Clock::time_point{};
    for (const Limit each : all) {
        Window& window = windows_[index(each)];
        const auto limit = limit_in(budgets, each);
        if (window.limit == limit) continue;
        ++reported_;
        put_aside(each, window.in_hand);
        window = Window{
            .limit = limit,
            .in_hand = {},
            .reported_window = window.reported_window,
            .began = since};
    }
}

/// To be given back with the next draw.
void BudgetLease::put_aside(Limit limit, const Units& units) {
    if (units.count <= 0) return;
    Units& unwanted = unwanted_[index(limit)];
    if (unwanted.window == units.window) unwanted.count += units.count;
    else unwanted = units;
}

bool BudgetLease::has(Limit limit, std::int64_t count, Clock::time_point now) const {
    const Window& window = windows_[index(limit)];
    if (count == 0) return true;
    if (!window.limit) return known_;  // no limit, or nobody has said yet
    return window.open(now) && window.in_hand.count >= count;
}

bool BudgetLease::runs_low(const Window& window, Clock::time_point now) const {
    if (!window.limit) return false;
    if (!window.open(now)) return window.ends != Clock::time_point{};  // the next one has begun
    return window.left > 0 && 2 * window.in_hand.count <= window.portion;
}

Demand BudgetLease::demand_for(const Budgets::Cost& cost, Clock::time_point now) const {
    Demand demand;
    for (const Limit each : all) {
        const auto count = part_of(cost, each);
        if (!has(each, count, now)) demand.at_least[index(each)] = count;
        else if (runs_low(windows_[index(each)], now)) demand.at_least[index(each)] = 1;
    }
    return demand;
}

void BudgetLease::take(const Budgets::Cost& cost, BudgetStore& bank) {
    std::unique_lock lock(mutex_);
    for (;;) {
        const auto now = last_used_ = Clock::now();
        const auto lacking = std::ranges::find_if(all, [&](Limit each) {
            return !has(each, part_of(cost, each), now);
        });
        if (lacking == all.end()) break;
        if (now < windows_[index(*lacking)].in_vain) refuse(lock, *lacking, bank);
        if (filling_) filled_.wait(lock);
        else fill(lock, demand_for(cost, now), bank);
    }
    for (const Limit each : all)
        if (Window& window = windows_[index(each)]; window.limit)
            window.in_hand.count -= part_of(cost, each);
    used_.requests += cost.requests;
    used_.writes += cost.writes;
}

void BudgetLease::give_back(const Budgets::Cost& cost) {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    for (const Limit each : all)
        if (Window& window = windows_[index(each)];
            window.limit && window.open(now) && now - window.began > longest_request)
            window.in_hand.count += part_of(cost, each);
    used_.requests -= cost.requests;
    used_.writes -= cost.writes;
}

/// The database is asked without the lock: whoever has enough in hand goes on.
void BudgetLease::fill(
    std::unique_lock<std::mutex>& lock, const Demand& demand, BudgetStore& bank
) {
    Demand asked = demand;
    for (const Limit each : all)
        if (auto& unwanted = unwanted_[index(each)]; unwanted.count > 0)
            asked.returned[index(each)] = std::exchange(unwanted, {});
    filling_ = true;
    const auto reported = reported_;
    lock.unlock();
    std::optional<Drawn> drawn;
    try {
        drawn = bank.draw(org_, agent_, asked);
    } catch (...) {
        lock.lock();
        filling_ = false;
        for (const Limit each : all) put_aside(each, asked.returned[index(each)]);
        filled_.notify_all();
        throw;
    }
    lock.lock();
    filling_ = false;
    merge(*drawn, reported != reported_);
    filled_.notify_all();
}

/// What was drawn while somebody said that a limit is another may rest on the one before.
void BudgetLease::merge(const Drawn& drawn, bool outdated) {
    const auto now = Clock::now();
    const bool was_known = std::exchange(known_, true);
    for (const Limit each : all) {
        const Drawn::Part& part = drawn.parts[index(each)];
        Window& window = windows_[index(each)];
        if (outdated && window.limit != part.limit) {
            put_aside(each, part.granted);
            continue;
        }
        if (was_known && window.limit != part.limit) window.began = now;
        window.limit = part.limit;
        if (window.in_hand.window != part.granted.window) {
            if (window.in_hand.window != 0) window.began = now;
            window.in_hand = {part.granted.window, 0};
        }
        window.in_hand.count += part.granted.count;
        window.left = part.left;
        if (part.granted.count > 0) window.portion = part.granted.count;
        window.ends = part.ends;
        window.in_vain = part.left > 0 ? Clock::time_point{} : std::min(part.ends, now + patience);
    }
}

std::string_view name_of(Limit limit) {
    constexpr PerLimit<std::string_view> names{
        "requests_per_minute", "requests_per_day", "daily_writes"};
    return names[index(limit)];
}

/// The first one in a window tells the bank, on the thread that it refuses.
void BudgetLease::refuse(std::unique_lock<std::mutex>& lock, Limit limit, BudgetStore& bank) {
    Window& window = windows_[index(limit)];
    const Exceeded what{limit, *window.limit, window.in_hand.window};
    const Failure failure = refusal(limit);
    if (std::exchange(window.reported_window, what.window) != what.window) {
        lock.unlock();
        const bool noted = bank.exceeded(org_, agent_, what);
        lock.lock();
        if (!noted && window.reported_window == what.window) window.reported_window = 0;
    }
    throw failure;
}

Failure BudgetLease::refusal(Limit limit) const {
    const Window& window = windows_[index(limit)];
    constexpr PerLimit<std::string_view> words{
        "requests of this minute", "requests of today", "writes of today"};
    return Failure(
               Fault::rate_limited,
               "The agent has used up the " + std::to_string(*window.limit) + ' ' +
                   std::string(words[index(limit)]) + " that its budget allows."
    )
        .with("rate_limit_reason", std::string(name_of(limit)))
        .with_header("Retry-After", std::to_string(seconds_until(window.ends, Clock::now())));
}

void BudgetLease::report(Budgets::Headers& headers) const {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    const Window* closest = nullptr;
    const auto remaining = [](const Window& window) {
        return std::max<std::int64_t>(window.in_hand.count, 0) + window.left;
    };
    for (const Window& each : windows_) {
        if (!each.limit || !each.open(now)) continue;
        const bool closer =
            !closest || remaining(each) * std::max<std::int64_t>(*closest->limit, 1) <
                            remaining(*closest) * std::max<std::int64_t>(*each.limit, 1);
        if (closer) closest = &each;
    }
    if (!closest) return;
    headers.emplace_back("X-RateLimit-Limit", std::to_string(*closest->limit));
    headers.emplace_back("X-RateLimit-Remaining", std::to_string(remaining(*closest)));
    headers.emplace_back("X-RateLimit-Reset", reset_time(closest->ends, now));
}

/// Everything in hand, on its way back.
Demand BudgetLease::recall() {
    Demand demand;
    for (const Limit each : all) {
        Window& window = windows_[index(each)];
        if (!window.limit) continue;
        if (window.in_hand.count > 0) demand.returned[index(each)] = window.in_hand;
        window = Window{
            .limit = window.limit,
            .in_hand = {},
            .reported_window = window.reported_window,
            .began = window.began};
    }
    return demand;
}

void BudgetLease::tend(BudgetStore& bank) {
    std::unique_lock lock(mutex_);
    if (filling_) return;
    const auto now = Clock::now();
    const auto has_some = [](const Window& each) { return each.limit && each.in_hand.count > 0; };
    if (now - last_used_ > quiet) {
        if (std::ranges::any_of(windows_, has_some)) fill(lock, recall(), bank);
        return;
    }
    const Demand demand = demand_for({}, now);
    const auto wanted = [](const auto& each) { return each.has_value(); };
    if (std::ranges::any_of(demand.at_least, wanted)) fill(lock, demand, bank);
}

void BudgetLease::close(BudgetStore& bank) {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return !filling_; });
    const auto has_some = [](const Window& each) { return each.limit && each.in_hand.count > 0; };
    if (std::ranges::any_of(windows_, has_some)) fill(lock, recall(), bank);
}

bool BudgetLease::idle() const {
    const std::lock_guard lock(mutex_);
    return !filling_ && used_ == Budgets::Cost{} && Clock::now() - last_used_ > 5 * quiet;
}

Budgets::Cost BudgetLease::used() {
    const std::lock_guard lock(mutex_);
    return std::exchange(used_, {});
}

void BudgetLease::charge_again(const Budgets::Cost& used) {
    const std::lock_guard lock(mutex_);
    used_.requests += used.requests;
    used_.writes += used.writes;
}

}  // namespace svc::agents
