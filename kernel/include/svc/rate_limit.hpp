#pragma once

#include "svc/tx.hpp"

#include <cstddef>
#include <list>
#include <mutex>
#include <unordered_map>

/// How often somebody may do something. Counted is by key, in fixed windows: one opens with the
/// first that is counted, and ends a fixed time later, whatever is counted meanwhile. So around the
/// border of two windows twice the limit may go through within the length of one.
///
///     const DatabaseRateLimit limit(call.kernel(), {"feedback", 20, std::chrono::hours(1)});
///     auto window = limit.count(call.tx(), call.caller().id.str());
///     limit.require(window.one_or_retry());
///
/// docs/decisions/0041-one-rate-limiter.md says what is counted where.
namespace svc {

class Kernel;

/// What a client's address is counted by: an IPv4 address, or of an IPv6 one the network of 64
/// bits, for one peer has all of that.
std::string network_of(std::string_view client_address);

/// The window of a key, after one more was counted in it.
struct RateWindow {
    std::int64_t count = 0;        ///< with that one
    std::int64_t retry_after = 1;  ///< seconds until it ends: from 1 to the length of a window
};
SVC_SHARED_RECORD(RateWindow, (count), (retry_after));

struct RateLimit {
    /// What is limited: the `rate_limit_reason` of the 429, and what tells its windows from those
    /// of other limits. Has static storage.
    std::string_view reason;
    std::int64_t limit = 0;  ///< so many of one key go through in a window
    std::chrono::seconds window{};

    bool allows(const RateWindow& counted) const { return counted.count <= limit; }
    /// Failure 429 with Retry-After when the window holds more than the limit. `message` is for
    /// people; without one they are told how many minutes to wait.
    void require(const RateWindow& counted, std::string_view message = {}) const;
};

/// Counts in this server's memory: for what costs less than writing down that it happened. Each
/// server has windows of its own, and a restart forgets them. Any thread.
class MemoryRateLimit : public RateLimit {
public:
    using Clock = std::chrono::steady_clock;
    /// Windows that are kept at once. Beyond it the oldest makes room, as if it had ended: keys
    /// that cost nothing to make up take no more memory than this, and others lose little by them.
    static constexpr std::size_t most_windows = 50'000;

    explicit MemoryRateLimit(const RateLimit& what) : RateLimit(what) {}

    /// Counts one more. `request` tells a request that is run again, which counts once.
    RateWindow count(
        std::string_view key, std::string_view request, Clock::time_point now = Clock::now()
    );
    std::size_t windows() const;

private:
    struct Window {
        std::string key;
        Clock::time_point opened;
        std::int64_t count = 0;
        std::string last_request;
    };
    Window& window_of(std::string_view key, Clock::time_point now);
    void drop_oldest();

    mutable std::mutex mutex_;
    std::list<Window> by_age_;  // in the order in which they opened, and so end
    std::unordered_map<std::string_view, std::list<Window>::iterator> by_key_;
};

/// Counts in the database: all servers together, and a restart forgives nothing. Of keys it keeps
/// digests under the server's secret, so that no address is there in the clear.
///
/// Counting is a part of the transaction. What is rolled back was not counted; what is to count
/// although the call is refused takes a transaction of its own. Whoever counts by the same key
/// waits for the transaction's end, so who counts by several does so in one order everywhere.
class DatabaseRateLimit : public RateLimit {
public:
    DatabaseRateLimit(const Kernel& kernel, const RateLimit& what);

    /// Queues the counting of one more; there is a row.
    DeferredRows<RateWindow> count(Tx& tx, std::string_view key) const;
    /// The same by the credential that the transaction presents (svc_credential() in SQL), as if
    /// that were the key; no row when it presents none.
    DeferredRows<RateWindow> count_presented(Tx& tx) const;
    /// Queues that one of those counted does not count after all.
    void refund(Tx& tx, std::string_view key) const;

private:
    std::string secret_;  // of this limit alone; in front of what is digested
};

}  // namespace svc
