#include "modules/webhooks/lib/schedule.hpp"

#include <algorithm>
#include <array>

namespace svc::webhooks {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::array<std::chrono::seconds, 10> pauses{
    5s, 30s, 5min, 30min, 2h, 5h, 10h, 14h, 20h, 24h
};
constexpr std::int64_t most_failures_in_a_row = 4;
constexpr milliseconds shortest_break = 30s, longest_break = 5min;
constexpr std::chrono::seconds longest_wish = 1h;

milliseconds jittered(milliseconds pause, Chance chance) {
    const double factor = 0.8 + 0.4 * chance;
    return milliseconds(static_cast<std::int64_t>(static_cast<double>(pause.count()) * factor));
}

}  // namespace

std::optional<milliseconds> pause_after(
    std::int64_t retries, std::optional<std::chrono::seconds> asked, Chance chance
) {
    if (retries < 0 || retries >= static_cast<std::int64_t>(pauses.size())) return std::nullopt;
    const milliseconds pause = jittered(pauses[static_cast<std::size_t>(retries)], chance);
    if (!asked) return pause;
    return std::max<milliseconds>(pause, std::clamp(*asked, 0s, longest_wish));
}

milliseconds breaker_pause(std::int64_t consecutive_failures, Chance chance) {
    if (consecutive_failures <= most_failures_in_a_row) return 0ms;
    milliseconds pause = shortest_break;
    for (auto i = most_failures_in_a_row + 1; i < consecutive_failures && pause < longest_break;
         ++i)
        pause *= 2;
    return jittered(std::min(pause, longest_break), chance);
}

int alerts_due(std::chrono::seconds failing) { return failing >= 72h ? 2 : failing >= 24h ? 1 : 0; }

bool is_gone(
    std::int64_t consecutive_failures, std::chrono::seconds failing, std::chrono::seconds most
) {
    return consecutive_failures > most_failures_in_a_row && failing >= most;
}

}  // namespace svc::webhooks
