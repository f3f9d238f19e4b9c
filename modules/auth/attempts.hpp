#pragma once

#include "svc/kernel.hpp"
#include "svc/throttle.hpp"

/// How often a thing was tried: windows in the database, so that all servers count together and
/// a restart forgives nothing.
namespace svc::auth {

struct Limit {
    std::string_view what;  ///< "log_in"; also the `rate_limit_reason` of the 429
    std::int64_t most = 0;
    std::chrono::minutes window{};
};

/// A window after one more attempt.
struct Window {
    std::int64_t count = 0;
    std::int64_t seconds_left = 0;
};
SVC_SHARED_RECORD(Window, (count), (seconds_left));

/// Queues the counting of one attempt by `who`: whatever the limit is per, as text.
Later<Window> count_attempt(Tx& tx, const Kernel& kernel, const Limit& limit, std::string_view who);
/// Queues the taking back of one.
void take_back(Tx& tx, const Kernel& kernel, const Limit& limit, std::string_view who);

/// Failure 429 when the window holds more than the limit.
void require_within(const Limit& limit, const Window& window);

/// Queues the deletion of windows that are long over.
void sweep_attempts(Tx& tx);

}  // namespace svc::auth
