#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace svc::orgs {

/// How often somebody who has not signed in may look at invitations, counted on this server by
/// where he comes from: an IPv4 address, or the /64 network of an IPv6 one. Tokens cannot be
/// guessed; this bounds what asking costs. Any thread.
class Previews {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds window{60};
    static constexpr std::int64_t most = 60;

    /// Counts one more, unless it is one too many. `request` tells a request that is run again,
    /// which counts once.
    bool admit(
        const std::string& address, const std::string& request, Clock::time_point now = Clock::now()
    ) {
        const std::scoped_lock lock(mutex_);
        // Beyond so many places all are forgotten whose minute is over, and if need be the others.
        if (counts_.size() >= most_places)
            std::erase_if(counts_, [&](const auto& each) {
                return now - each.second.since >= window;
            });
        if (counts_.size() >= most_places) counts_.clear();
        Count& count = counts_[place_of(address)];
        if (count.count == 0 || now - count.since >= window) count = {now, 0, {}};
        if (count.last_request != request) ++count.count;
        count.last_request = request;
        return count.count <= most;
    }

private:
    struct Count {
        Clock::time_point since;
        std::int64_t count = 0;
        std::string last_request;
    };
    static constexpr std::size_t most_places = 50'000, network_bytes = 8;

    static std::string place_of(const std::string& address) {
        in6_addr parsed{};
        if (inet_pton(AF_INET6, address.c_str(), &parsed) != 1 || IN6_IS_ADDR_V4MAPPED(&parsed))
            return address;
        return {reinterpret_cast<const char*>(parsed.s6_addr), network_bytes};
    }

    std::mutex mutex_;
    std::unordered_map<std::string, Count> counts_;
};

}  // namespace svc::orgs
