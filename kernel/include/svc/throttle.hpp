#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace svc {

/// Where a request came from, for counting: an IPv4 address, or of an IPv6 one the network of 64
/// bits, for one peer has all of that.
std::string network_of(std::string_view client_address);

/// How often somebody may do something within a minute, counted on this server: for what costs
/// less than writing down that it happened. Any thread.
class Throttle {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds window{60};

    explicit Throttle(std::int64_t most) : most_(most) {}

    /// Counts one more by `who`; the seconds to wait when it is one too many. `request` tells a
    /// request that is run again, which counts once.
    std::optional<std::int64_t> take(
        const std::string& who, const std::string& request, Clock::time_point now = Clock::now()
    );

private:
    struct Count {
        Clock::time_point since;
        std::int64_t count = 0;
        std::string last_request;
    };
    static constexpr std::size_t most_known = 50'000;  ///< then those whose minute is over go

    const std::int64_t most_;
    std::mutex mutex_;
    std::unordered_map<std::string, Count> counts_;
};

inline std::optional<std::int64_t> Throttle::take(
    const std::string& who, const std::string& request, Clock::time_point now
) {
    const std::scoped_lock lock(mutex_);
    if (counts_.size() >= most_known)
        std::erase_if(counts_, [&](const auto& each) { return now - each.second.since >= window; });
    if (counts_.size() >= most_known) counts_.clear();
    Count& count = counts_[who];
    if (count.count == 0 || now - count.since >= window) count = {now, 0, {}};
    if (count.last_request != request) ++count.count;
    count.last_request = request;
    if (count.count <= most_) return std::nullopt;
    const auto left = std::chrono::ceil<std::chrono::seconds>(window - (now - count.since));
    return std::max<std::int64_t>(1, left.count());
}

}  // namespace svc
