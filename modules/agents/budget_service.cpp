#include "modules/agents/budget_service.hpp"

#include <Poco/Logger.h>

#include <algorithm>
#include <cstring>

namespace svc::agents {

namespace {

/// How soon after a minute has begun its first units are drawn for those who are at work.
constexpr auto beat = std::chrono::milliseconds(100);

// Another server may be a moment ahead: the later window counts.
constexpr Sql look{"agents.look_at_budgets", R"(
    SELECT a.requests_per_minute, a.requests_per_day, a.daily_writes,
        CASE WHEN u.minute = w.minute THEN u.minute_taken ELSE 0 END AS minute_taken,
        CASE WHEN u.day = w.day THEN greatest(u.requests_taken, u.requests) ELSE 0 END
            AS requests_taken,
        CASE WHEN u.day = w.day THEN greatest(u.writes_taken, u.writes) ELSE 0 END AS writes_taken,
        w.minute, (w.day::timestamp AT TIME ZONE 'UTC') AS day,
        (extract(epoch FROM w.minute + interval '1 minute' - now()) * 1000)::bigint AS minute_ms,
        (extract(epoch FROM (w.day + 1)::timestamp AT TIME ZONE 'UTC' - now()) * 1000)::bigint
            AS day_ms
    FROM agent_usage u
    JOIN agents a ON a.org_id = $1 AND a.id = u.agent_id
    CROSS JOIN LATERAL (
        SELECT greatest(u.minute, date_trunc('minute', now())) AS minute,
            greatest(u.day, (now() AT TIME ZONE 'UTC')::date) AS day
    ) w
    WHERE u.org_id = $1 AND u.agent_id = $2
    FOR UPDATE OF u)"};

constexpr Sql write{"agents.write_budgets", R"(
    UPDATE agent_usage
    SET minute = $3, minute_taken = $4,
        day = ($5::timestamptz AT TIME ZONE 'UTC')::date,
        requests_taken = $6, writes_taken = $7,
        requests =
            CASE WHEN day = ($5::timestamptz AT TIME ZONE 'UTC')::date THEN requests ELSE 0 END,
        writes = CASE WHEN day = ($5::timestamptz AT TIME ZONE 'UTC')::date THEN writes ELSE 0 END
    WHERE org_id = $1 AND agent_id = $2)"};

constexpr Sql add_up{"agents.settle_usage", R"(
    UPDATE agent_usage
    SET day = greatest(day, (now() AT TIME ZONE 'UTC')::date),
        requests = greatest(0, $3 +
            CASE WHEN day >= (now() AT TIME ZONE 'UTC')::date THEN requests ELSE 0 END),
        writes = greatest(0, $4 +
            CASE WHEN day >= (now() AT TIME ZONE 'UTC')::date THEN writes ELSE 0 END),
        requests_taken =
            CASE WHEN day >= (now() AT TIME ZONE 'UTC')::date THEN requests_taken ELSE 0 END,
        writes_taken =
            CASE WHEN day >= (now() AT TIME ZONE 'UTC')::date THEN writes_taken ELSE 0 END
    WHERE org_id = $1 AND agent_id = $2)"};

// Of all servers the first one to say so in a window changes a row.
constexpr Sql note_exceeded{"agents.note_exceeded", R"(
    UPDATE agent_usage u
    SET minute_exceeded =
            CASE $3 WHEN 'requests_per_minute' THEN $4::timestamptz ELSE u.minute_exceeded END,
        requests_exceeded =
            CASE $3 WHEN 'requests_per_day' THEN $4 ELSE u.requests_exceeded END,
        writes_exceeded =
            CASE $3 WHEN 'daily_writes' THEN $4 ELSE u.writes_exceeded END
    FROM agents a
    LEFT JOIN principals p ON p.org_id = a.org_id AND p.id = a.id
    WHERE u.org_id = $1 AND u.agent_id = $2 AND a.org_id = $1 AND a.id = $2
        AND coalesce(CASE $3 WHEN 'requests_per_minute' THEN u.minute_exceeded
            WHEN 'requests_per_day' THEN u.requests_exceeded ELSE u.writes_exceeded END < $4, true)
    RETURNING a.version, p.name)"};

struct Noted {
    std::int64_t version = 0;
    std::optional<std::string> name;
};
SVC_RECORD(Noted, (version), (name));

struct BudgetExceeded {
    Uuid id;
    std::string budget;
    std::int64_t limit = 0;
    Timestamp window_began_at;
    std::int64_t version = 1;
};
SVC_RECORD(
    BudgetExceeded,
    (id, "The agent."),
    (budget, "Which one, as in the agent's `budgets`."),
    (limit, "What it allows in a window."),
    (window_began_at, "The minute, or the day by UTC, in which it is used up."),
    (version, "The agent's.")
);

constexpr EventKind budget_exceeded{
    .name = "agent.budget_exceeded",
    .object = "agent",
    .summary =
        "An agent was refused for the first time in a minute or a day, because one of its "
        "budgets is used up.",
    .record = &record_of<BudgetExceeded>,
    .from = Subject::read,
    .subject = &record_of<AgentResponse>,
    .vetoable = false,
    .said_audience = Audience::everyone,
};

Event event_of(const Uuid& agent, const Exceeded& what, const Noted& noted) {
    Event event = created(
        budget_exceeded,
        BudgetExceeded{
            agent,
            std::string(name_of(what.limit)),
            what.allowed,
            Timestamp{what.window},
            noted.version}
    );
    event.name = noted.name;
    return event;
}

struct Balance {
    std::optional<std::int64_t> requests_per_minute, requests_per_day, daily_writes;
    std::int64_t minute_taken = 0, requests_taken = 0, writes_taken = 0;
    Timestamp minute, day;
    std::int64_t minute_ms = 0, day_ms = 0;
};
SVC_RECORD(
    Balance,
    (requests_per_minute),
    (requests_per_day),
    (daily_writes),
    (minute_taken),
    (requests_taken),
    (writes_taken),
    (minute),
    (day),
    (minute_ms),
    (day_ms)
);

/// Settles one limit with the account: `taken` becomes what the database is to hold.
Drawn::Part deal(
    const std::optional<std::int64_t>& limit,
    std::int64_t& taken,
    const Units& returned,
    const std::optional<std::int64_t>& at_least,
    const Timestamp& window,
    Clock::time_point ends
) {
    Drawn::Part part{.limit = limit, .granted = {window.micros, 0}, .left = 0, .ends = ends};
    if (returned.window == window.micros) taken = std::max<std::int64_t>(taken - returned.count, 0);
    if (!limit) return part;
    part.left = std::max<std::int64_t>(*limit - taken, 0);
    if (at_least) part.granted.count = share(part.left, *at_least);
    part.left -= part.granted.count;
    taken += part.granted.count;
    return part;
}

Drawn deal(Balance& balance, const Demand& demand, Clock::time_point since) {
    const auto minute_ends = since + std::chrono::milliseconds(balance.minute_ms);
    const auto day_ends = since + std::chrono::milliseconds(balance.day_ms);
    const auto& want = demand.at_least;
    const auto& back = demand.returned;
    return {{
        deal(
            balance.requests_per_minute,
            balance.minute_taken,
            back[0],
            want[0],
            balance.minute,
            minute_ends
        ),
        deal(
            balance.requests_per_day,
            balance.requests_taken,
            back[1],
            want[1],
            balance.day,
            day_ends
        ),
        deal(balance.daily_writes, balance.writes_taken, back[2], want[2], balance.day, day_ends),
    }};
}

}  // namespace

std::size_t BudgetService::Hash::operator()(const Uuid& id) const {
    std::size_t hash;  // the end of an id is random
    std::memcpy(&hash, id.bytes().data() + id.bytes().size() - sizeof hash, sizeof hash);
    return hash;
}

std::shared_ptr<BudgetLease> BudgetService::find(const Uuid& agent) const {
    const std::lock_guard lock(mutex_);
    const auto found = accounts_.find(agent);
    return found == accounts_.end() ? nullptr : found->second;
}

std::shared_ptr<BudgetLease> BudgetService::open(const Uuid& org, const Uuid& agent) {
    const std::lock_guard lock(mutex_);
    auto& account = accounts_[agent];
    if (!account) account = std::make_shared<BudgetLease>(org, agent);
    return account;
}

BudgetService::Accounts BudgetService::all() const {
    Accounts all;
    const std::lock_guard lock(mutex_);
    for (const auto& [agent, account] : accounts_) all.push_back(account);
    return all;
}

// --------------------------------------------------------------------- what the kernel asks

void BudgetService::take(const Caller& caller, const Cost& cost) {
    if (caller.type != PrincipalType::agent || !caller.org_id) return;
    open(*caller.org_id, caller.id)->take(cost, *this);
}

void BudgetService::give_back(const Uuid& principal, const Cost& cost) noexcept {
    if (const auto account = find(principal)) account->give_back(cost);
}

void BudgetService::report(const Caller& caller, Headers& headers) const {
    if (caller.type != PrincipalType::agent) return;
    if (const auto account = find(caller.id)) account->report(headers);
}

void BudgetService::know(const Uuid& org, const Uuid& agent, const RequestBudgets& budgets) {
    open(org, agent)->know(budgets);
}

// ------------------------------------------------------------------------------- the bank

Drawn BudgetService::draw(const Uuid& org, const Uuid& agent, const Demand& demand) {
    Drawn drawn;
    kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
        drawn = {};
        const auto since = Clock::now();
        tx.set_scope(org, {});
        auto balance = tx.one<Balance>(look, org, agent);
        if (!balance) return;  // it is gone: nothing is left to limit
        drawn = deal(*balance, demand, since);
        tx.queue(
            write,
            org,
            agent,
            balance->minute,
            balance->minute_taken,
            balance->day,
            balance->requests_taken,
            balance->writes_taken
        );
    });
    return drawn;
}

bool BudgetService::exceeded(const Uuid& org, const Uuid& agent, const Exceeded& what) noexcept {
    try {
        kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(org, {});
            const auto noted = tx.one<Noted>(
                note_exceeded, org, agent, name_of(what.limit), Timestamp{what.window}
            );
            if (noted) emit_as_system(tx, org, "agents.budgets", event_of(agent, what, *noted));
        });
        return true;
    } catch (const std::exception& problem) {
        Poco::Logger::get("agents").warning(std::string("budgets: ") + problem.what());
        return false;
    }
}

void BudgetService::settle() {
    std::vector<std::pair<std::shared_ptr<BudgetLease>, Cost>> due;
    for (const auto& account : all())
        if (const Cost used = account->used(); used != Cost{}) due.emplace_back(account, used);
    if (due.empty()) return forget_idle();
    // One order, so that servers that write down the same agents never wait in a circle.
    std::ranges::sort(due, {}, [](const auto& each) {
        return std::pair(each.first->org(), each.first->agent());
    });
    try {
        kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
            for (const auto& [account, used] : due) {
                tx.set_scope(account->org(), {});
                tx.queue(add_up, account->org(), account->agent(), used.requests, used.writes);
            }
        });
    } catch (...) {
        for (const auto& [account, used] : due) account->charge_again(used);
        throw;
    }
    forget_idle();
}

void BudgetService::forget_idle() {
    const std::lock_guard lock(mutex_);
    std::erase_if(accounts_, [](const auto& each) { return each.second->idle(); });
}

// --------------------------------------------------------------------- what goes on beside

void BudgetService::start() {
    tender_ = std::thread([this] { tend(); });
}

void BudgetService::tend() {
    auto& log = Poco::Logger::get("agents");
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, beat, [this] { return stopping_; })) {
        lock.unlock();
        try {
            for (const auto& account : all()) account->tend(*this);
        } catch (const std::exception& problem) {
            log.warning(std::string("budgets: ") + problem.what());
        }
        lock.lock();
    }
}

void BudgetService::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(stopping_, true)) return;
    }
    wake_.notify_all();
    if (tender_.joinable()) tender_.join();
    try {
        for (const auto& account : all()) account->close(*this);
        settle();
    } catch (const std::exception& problem) {
        // What was in hand counts as used, and what was used is told a little too low.
        Poco::Logger::get("agents").warning(std::string("budgets: ") + problem.what());
    }
}

void add_budget_events(Kernel& kernel) { kernel.add(budget_exceeded); }

}  // namespace svc::agents
