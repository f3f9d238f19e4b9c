#pragma once

#include "svc/caller.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <tuple>

namespace svc::core {

/// How often whom was refused what, so that nobody fills the audit record by asking again and
/// again for what they may not do. Any thread.
class RefusalCounts {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr int most_alone = 10;
    static constexpr std::chrono::minutes longest{1};

    /// Refusals beyond those that have an entry of their own.
    struct Rest {
        Caller caller;
        std::string_view operation;
        std::string code, message;  ///< of the last answer
        std::int64_t count = 0;
    };

    /// True when this one is to have an entry of its own; else it is among the rest. `operation`
    /// has static storage.
    bool alone(
        const Caller& caller,
        std::string_view operation,
        std::string_view code,
        std::string_view message,
        Clock::time_point now
    );
    /// Ends the windows that began by `begun`, and gives the rest of each that has one.
    std::vector<Rest> take(Clock::time_point begun);

private:
    struct Window {
        Clock::time_point began;
        int alone = 0;
        Rest rest;
    };
    using Key = std::tuple<Uuid, Uuid, std::string_view>;  // workspace, principal, operation

    std::mutex mutex_;
    std::map<Key, Window> windows_;
};

}  // namespace svc::core
