#include "modules/live/presence.hpp"

#include "svc/workspace_jobs.hpp"

#include <Poco/Logger.h>

namespace svc::live {

namespace {

// What the servers tell each other: a workspace where somebody came or went; without one, that a
// server came or went.
constexpr std::string_view channel = "live.presence";

constexpr std::size_t boards_at_once = 50;  // in one statement
constexpr std::int64_t most_known = 500;    // who follow a board elsewhere

constexpr Sql keep_server{"live.keep_presence_server", R"(
    UPDATE presence_servers SET seen_at = now() WHERE server = $1)"};
constexpr Sql add_server{"live.add_presence_server", R"(
    INSERT INTO presence_servers (server, seen_at) VALUES ($1, now())
    ON CONFLICT (server) DO UPDATE SET seen_at = now())"};
constexpr Sql drop_server{"live.drop_presence_server", R"(
    DELETE FROM presence_servers WHERE server = $1)"};

constexpr Sql see_servers{"live.see_presence_servers", R"(
    SELECT s.server FROM presence_servers s
    WHERE s.server <> $1 AND s.seen_at > now() - make_interval(secs => $2::int)
    ORDER BY s.server
    LIMIT 1000)"};

struct OtherServer {
    Uuid server;
};
SVC_RECORD(OtherServer, (server));

constexpr Sql add_present{"live.add_present", R"(
    INSERT INTO board_presence (org_id, board_id, server, principal_id, who)
    SELECT $1, p.board_id, $2, p.principal_id, p.who
    FROM unnest($3::uuid[], $4::uuid[], $5::text[]) p (board_id, principal_id, who)
    ON CONFLICT (org_id, board_id, server, principal_id) DO UPDATE SET who = excluded.who)"};

constexpr Sql drop_present{"live.drop_present", R"(
    DELETE FROM board_presence
    WHERE org_id = $1 AND server = $2 AND (board_id, principal_id) IN (
        SELECT p.board_id, p.principal_id
        FROM unnest($3::uuid[], $4::uuid[]) p (board_id, principal_id)))"};

// $2 the other servers, $3 the boards.
constexpr Sql see_present{"live.see_present", R"(
    SELECT p.board_id, p.principal_id, p.who
    FROM unnest($3::uuid[]) b (id)
    CROSS JOIN LATERAL (
        SELECT x.board_id, x.principal_id, x.who FROM board_presence x
        WHERE x.org_id = $1 AND x.board_id = b.id AND x.server = ANY ($2::uuid[])
        ORDER BY x.server, x.principal_id
        LIMIT $4
    ) p)"};

struct PresentRow {
    Uuid board_id;
    Uuid principal_id;
    std::string who;
};
SVC_RECORD(PresentRow, (board_id), (principal_id), (who));

// ---------------------------------------------------------------------- of servers that are gone

constexpr Sql workspaces_with_gone{"live.workspaces_with_gone_servers", R"(
    SELECT DISTINCT p.org_id FROM board_presence p
    WHERE NOT EXISTS (
        SELECT FROM presence_servers s
        WHERE s.server = p.server AND s.seen_at > now() - interval '1 hour'))"};

constexpr Sql drop_gone{"live.drop_presence_of_gone_servers", R"(
    DELETE FROM board_presence p
    WHERE p.org_id = $1 AND NOT EXISTS (
        SELECT FROM presence_servers s
        WHERE s.server = p.server AND s.seen_at > now() - interval '1 hour'))"};

constexpr Sql drop_gone_servers{"live.drop_gone_servers", R"(
    DELETE FROM presence_servers WHERE seen_at < now() - interval '1 day')"};

/// How they are called there; null when they do not follow that board.
const std::string* find(const Present& in, const Uuid& board, const Uuid& principal) {
    const auto people = in.find(board);
    if (people == in.end()) return nullptr;
    const auto found = people->second.find(principal);
    return found == people->second.end() ? nullptr : &found->second;
}

}  // namespace

SharedPresence::SharedPresence(Kernel& kernel, Hub& hub)
    : kernel_(kernel), hub_(hub), bus_(kernel.use<Bus>()) {
    bus_.subscribe(channel, [this](std::string_view payload) {
        const auto org = Uuid::parse(payload);
        if (!org) {
            changed_ = true;
            return;
        }
        // Nobody has to be told of a workspace that nobody reads here.
        if (!hub_.find(*org)) return;
        const std::lock_guard lock(mutex_);
        news_.insert(*org);
    });
}

void SharedPresence::tick() {
    std::exception_ptr problem;
    try {
        exchange();
    } catch (const std::exception&) {
        problem = std::current_exception();  // those who follow boards here are told all the same
    }
    hub_.for_each_feed([](Feed& feed) { feed.tell_presence(); });
    if (problem) std::rethrow_exception(problem);
}

void SharedPresence::leave() noexcept {
    if (!std::exchange(is_known_, false)) return;
    try {
        kernel_.transact(Tx::Mode::write, [&](Tx& tx) { tx.queue(drop_server, server_); });
        bus_.publish(channel);
    } catch (const std::exception& problem) {
        Poco::Logger::get("live").information(
            std::string("the others will notice that this server has gone: ") + problem.what()
        );
    }
}

void SharedPresence::exchange() {
    if (bus_.peers() == 0) return be_alone();
    keep_alive();
    hub_.for_each_feed([this](Feed& feed) { exchange(feed); });
    forget_left();
}

/// What is written of this server counts no more after a while.
void SharedPresence::be_alone() {
    written_.clear();
    changed_ = true;
    if (std::exchange(others_, {}).empty()) return;
    hub_.for_each_feed([](Feed& feed) { feed.set_elsewhere({}); });
}

void SharedPresence::keep_alive() {
    const auto now = Clock::now();
    if (!changed_.exchange(false) && now < seen_at_ + beat) return;
    std::vector<Uuid> others;
    bool was_known = false;
    try {
        kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
            others.clear();
            was_known = tx.run(keep_server, server_) > 0;
            if (!was_known) tx.queue(add_server, server_);
            for (const auto& each : tx.all<OtherServer>(see_servers, server_, silence.count()))
                others.push_back(each.server);
        });
    } catch (...) {
        changed_ = true;
        throw;
    }
    seen_at_ = now;
    is_known_ = true;
    if (!was_known) {
        written_.clear();  // and is written anew
        bus_.publish(channel);
    }
    if (others == others_) return;
    others_ = std::move(others);
    for (auto& [org, written] : written_) written.read_at = {};
}

void SharedPresence::exchange(Feed& feed) {
    const Uuid& org = feed.org();
    const bool has_heard = has_news(org);
    Present here = feed.present_here();
    auto& [written, read_at] = written_[org];
    const bool changes = here != written;
    if (here.empty() && !changes) return;
    const auto now = Clock::now();
    if (!changes && !has_heard && now < read_at + reread) return;
    Present elsewhere;
    try {
        kernel_.transact(changes ? Tx::Mode::write : Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope(org, {});
            if (changes) write(tx, org, written, here);
            elsewhere = read(tx, org, here);
        });
    } catch (...) {
        read_at = {};
        throw;
    }
    read_at = now;
    feed.set_elsewhere(std::move(elsewhere));
    if (!changes) return;
    written = std::move(here);
    bus_.publish(channel, org.str());
}

void SharedPresence::write(Tx& tx, const Uuid& org, const Present& from, const Present& to) const {
    std::vector<Uuid> gone_boards, gone, boards, principals;
    std::vector<std::string> names;
    for (const auto& [board, people] : from)
        for (const auto& [principal, who] : people) {
            if (find(to, board, principal)) continue;
            gone_boards.push_back(board);
            gone.push_back(principal);
        }
    for (const auto& [board, people] : to)
        for (const auto& [principal, who] : people) {
            const std::string* known = find(from, board, principal);
            if (known && *known == who) continue;
            boards.push_back(board);
            principals.push_back(principal);
            names.push_back(who);
        }
    if (!gone.empty()) tx.queue(drop_present, org, server_, gone_boards, gone);
    if (!names.empty()) tx.queue(add_present, org, server_, boards, principals, names);
}

Present SharedPresence::read(Tx& tx, const Uuid& org, const Present& here) const {
    Present elsewhere;
    if (others_.empty()) return elsewhere;
    std::vector<Uuid> boards;
    for (const auto& [board, people] : here) boards.push_back(board);
    for (std::size_t from = 0; from < boards.size(); from += boards_at_once) {
        const auto to = std::min(boards.size(), from + boards_at_once);
        const std::vector<Uuid> some(&boards[from], &boards[from] + (to - from));
        for (auto& each : tx.all<PresentRow>(see_present, org, others_, some, most_known))
            elsewhere[each.board_id].emplace(each.principal_id, std::move(each.who));
    }
    return elsewhere;
}

bool SharedPresence::has_news(const Uuid& org) {
    const std::lock_guard lock(mutex_);
    return news_.erase(org) > 0;
}

/// Workspaces that nobody reads here any more.
void SharedPresence::forget_left() {
    for (auto each = written_.begin(); each != written_.end();) {
        auto& [org, written] = *each;
        if (hub_.find(org)) {
            ++each;
            continue;
        }
        if (!written.present.empty()) {
            kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
                tx.set_scope(org, {});
                write(tx, org, written.present, {});
            });
            bus_.publish(channel, org.str());
        }
        each = written_.erase(each);
    }
}

void add_sweep_of_presence(Kernel& kernel) {
    add_recurring_job(kernel, "live.sweep_presence", std::chrono::hours(1), [&kernel] {
        for (const auto& [org] : workspaces(kernel, workspaces_with_gone))
            kernel.transact(Tx::Mode::write, [&](Tx& tx) {
                tx.set_scope(org, {});
                tx.queue(drop_gone, org);
            });
        kernel.transact(Tx::Mode::write, [&](Tx& tx) { tx.queue(drop_gone_servers); });
    });
}

}  // namespace svc::live
