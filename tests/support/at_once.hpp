#pragma once

#include "tests/support/lock_holder.hpp"
#include "tests/support/metric.hpp"
#include "tests/support/workspace.hpp"

#include <chrono>
#include <thread>
#include <vector>

/// Requests that one caller sends at once, so that they are served together.
namespace svc::test {

struct Sent {
    std::string path;
    boost::json::value body;
};

/// Posts them while nothing can be written for a moment, which makes the first of them take so long
/// that the others come together; the answers in the same order.
inline std::vector<Reply> at_once(
    const Client& client, const std::string& database, const std::vector<Sent>& requests
) {
    std::vector<Reply> replies(requests.size());
    LockHolder holder("LOCK TABLE event_log IN EXCLUSIVE MODE", database);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        threads.emplace_back([&, i] {
            Client own = client;
            replies[i] = own.post(requests[i].path, requests[i].body);
        });
        // The first is being served when the others come.
        if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    holder.commit();
    for (auto& each : threads) each.join();
    return replies;
}

/// How many requests others have served so far.
inline double together(const Server& server) {
    return metric_of(server, "requests_served_together_total");
}

}  // namespace svc::test
