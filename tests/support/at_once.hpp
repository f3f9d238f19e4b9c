#pragma once

#include "tests/support/lock_holder.hpp"
#include "tests/support/metric.hpp"
#include "tests/support/workspace.hpp"

#include <latch>
#include <thread>
#include <vector>

/// Requests that one caller sends at once, so that they are served together.
namespace svc::test {

struct Sent {
    std::string path;
    boost::json::value body;
    std::string token{};  ///< where it is not the client's
};

/// Sends as many as that while a lock is held, which makes the first of them take so long that the
/// others come together; the answers in the same order. `turns` of them are served by themselves
/// first (svc/joint.hpp).
template <class Send>
std::vector<Reply> behind_lock(
    const std::string& lock,
    const std::string& database,
    std::size_t count,
    int turns,
    const Send& send
) {
    std::vector<Reply> replies(count);
    LockHolder holder(lock, database);
    std::latch all(static_cast<std::ptrdiff_t>(count));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            all.arrive_and_wait();
            replies[i] = send(i);
        });
    // Whoever serves the others comes to wait as well, and gives up before long.
    holder.commit_when_more_wait_than(turns);
    for (auto& each : threads) each.join();
    return replies;
}

/// Whatever is written is recorded, so nobody gets beyond this.
inline constexpr const char* hold_up_writes = "LOCK TABLE event_log IN EXCLUSIVE MODE";

/// Posts them while nothing can be written.
inline std::vector<Reply> at_once(
    const Client& client, const std::string& database, const std::vector<Sent>& requests
) {
    return behind_lock(hold_up_writes, database, requests.size(), 1, [&](std::size_t i) {
        Client own = client;
        if (!requests[i].token.empty()) own.token(requests[i].token);
        return own.post(requests[i].path, requests[i].body);
    });
}

/// A request that reads.
struct Read {
    std::string path;
    Headers headers{};
};

/// Reads these while no card can be read.
inline std::vector<Reply> at_once(
    const Client& client, const std::string& database, const std::vector<Read>& requests
) {
    const std::string lock = "LOCK TABLE cards IN ACCESS EXCLUSIVE MODE";
    constexpr int turns = 4;
    return behind_lock(lock, database, requests.size(), turns, [&](std::size_t i) {
        Client own = client;
        return own.send("GET", requests[i].path, {}, requests[i].headers);
    });
}

/// How many requests others have served so far.
inline double together(const Server& server) {
    return metric_of(server, "requests_served_together_total");
}

}  // namespace svc::test
