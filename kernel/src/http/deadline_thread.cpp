#include "http/deadline_thread.hpp"

#include "http/clock.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>

namespace svc::http {

namespace {

// How long all workers may be busy before somebody else looks at the sockets, and how often then.
constexpr int patience_ms = 10;
constexpr int most_events = 4096;

/// A deadline is noticed at most this much too late: an eighth of the shortest.
std::int64_t sweep_interval(const Settings& settings) {
    const auto shortest = std::min(
        {settings.head_deadline,
         settings.body_deadline,
         settings.idle_deadline,
         settings.write_deadline,
         std::chrono::milliseconds(2000)}
    );
    return std::clamp<std::int64_t>(shortest.count() / 8, 10, 250);
}

}  // namespace

DeadlineThread::DeadlineThread(ServerState& server_state)
    : server_state_(server_state),
      worker_(server_state, Worker::Role::watcher),
      sweep_every_(sweep_interval(server_state.settings)),
      next_sweep_(now_ms() + sweep_every_) {}

void DeadlineThread::run() {
    bool standing_in = false;
    while (!server_state_.quitting.load(std::memory_order_acquire)) {
        const auto to_sweep = std::max<std::int64_t>(0, next_sweep_ - now_ms());
        const auto wait = standing_in ? std::min<std::int64_t>(to_sweep, patience_ms) : to_sweep;
        // While it stands in, another alarm would tell nothing new.
        pollfd alarm{.fd = server_state_.deadline_alarm.get(), .events = POLLIN, .revents = 0};
        if (standing_in) ::poll(nullptr, 0, static_cast<int>(wait));
        else if (::poll(&alarm, 1, static_cast<int>(wait)) == 1) {
            eventfd_t count = 0;
            eventfd_read(server_state_.deadline_alarm.get(), &count);
            standing_in = true;
            continue;  // most alarms are over by the time one would act on them
        }
        if (standing_in) {
            if (server_state_.polling_pool.all_busy()) stand_in();
            else {
                server_state_.alarmed = false;
                // Had they all become busy just before that line, nobody would have said so.
                standing_in = server_state_.polling_pool.all_busy();
            }
        }
        if (now_ms() >= next_sweep_) sweep();
    }
}

void DeadlineThread::stand_in() { worker_.watch(most_events); }

void DeadlineThread::sweep() {
    const auto now = now_ms();
    next_sweep_ = now + sweep_every_;
    server_state_.table.for_each_due(now, [&](Connection& each) { worker_.expire(each, now); });
    if (server_state_.accept_again.exchange(false)) worker_.accept_all();
}

}  // namespace svc::http
