#include "core/refusal_counts.hpp"

namespace svc::core {

bool RefusalCounts::alone(
    const Caller& caller,
    std::string_view operation,
    std::string_view code,
    std::string_view message,
    Clock::time_point now
) {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = windows_.try_emplace(Key{*caller.org_id, caller.id, operation});
    Window& window = found->second;
    if (is_new) window.began = now;
    if (window.alone < most_alone) return ++window.alone;
    window.rest = {
        caller, operation, std::string(code), std::string(message), window.rest.count + 1};
    return false;
}

std::vector<RefusalCounts::Rest> RefusalCounts::take(Clock::time_point begun) {
    std::vector<Rest> all;
    const std::lock_guard lock(mutex_);
    for (auto each = windows_.begin(); each != windows_.end();) {
        if (each->second.began > begun) {
            ++each;
            continue;
        }
        if (each->second.rest.count > 0) all.push_back(std::move(each->second.rest));
        each = windows_.erase(each);
    }
    return all;
}

}  // namespace svc::core
