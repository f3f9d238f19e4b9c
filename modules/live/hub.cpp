#include "modules/live/hub.hpp"

#include "modules/live/catch_up.hpp"
#include "modules/live/rights.hpp"

#include <Poco/Logger.h>

namespace svc::live {

namespace {

constexpr std::chrono::milliseconds pause_after_failure{200};

}  // namespace

Hub::Hub(Kernel& kernel, const Limits& limits)
    : kernel_(kernel),
      places_(limits.streams_per_principal),
      wait_places_(limits.waits_per_principal),
      most_queued_(limits.queued_bytes),
      wakes_([&kernel](const std::string& topic) { kernel.wake(topic); }) {}

void Hub::start() {
    wakes_.start();
    for (int i = 0; i < senders; ++i) threads_.emplace_back([this] { hand_out_all(); });
    for (int i = 0; i < lookers; ++i) threads_.emplace_back([this] { look(); });
}

void Hub::stop() noexcept {
    stopping_ = true;
    {
        const std::scoped_lock both(queue_mutex_, turns_mutex_);
    }
    queued_.notify_all();
    to_look_.notify_all();
    for (std::thread& each : threads_) each.join();
    threads_.clear();
    wakes_.stop();
}

// ------------------------------------------------------------------------------------ hearing

void Hub::hear(std::span<const StoredEvent> batch) {
    std::map<std::shared_ptr<Feed>, std::vector<std::shared_ptr<LiveEvent>>> heard;
    for (const StoredEvent& each : batch) {
        if (const auto feed = find(each.org_id))
            heard[feed].push_back(std::make_shared<LiveEvent>(each, audience_of(kernel_, each.kind))
            );
    }
    for (auto& [feed, events] : heard) queue(feed, std::move(events));
}

void Hub::queue(const std::shared_ptr<Feed>& feed, std::vector<std::shared_ptr<LiveEvent>> events) {
    {
        const std::lock_guard lock(queue_mutex_);
        const auto turn = outgoing_.try_emplace(feed).first;
        Outgoing& to = turn->second;
        for (auto& each : events) {
            to.bytes += each->bytes();
            to.events.push_back(std::move(each));
        }
        if (to.bytes > most_queued_) {
            to.events.clear();
            to.bytes = 0;
            to.lost = true;
            ++overflows_;
        }
        if (to.taken || std::exchange(to.lined_up, true)) return;
        line_.push_back(turn);
    }
    queued_.notify_one();
}

void Hub::hand_out_all() {
    std::unique_lock lock(queue_mutex_);
    for (;;) {
        queued_.wait(lock, [this] { return stopping_ || !line_.empty(); });
        if (stopping_) return;
        const auto turn = line_.front();
        line_.pop_front();
        turn->second.lined_up = false;
        turn->second.taken = true;
        hand_out(lock, turn);
        turn->second.taken = false;
        if (turn->second.events.empty() && !turn->second.lost) {
            outgoing_.erase(turn);
            continue;
        }
        turn->second.lined_up = true;
        line_.push_back(turn);
    }
}

/// As much as one turn of the workspace has time for. The lock is let go meanwhile.
void Hub::hand_out(std::unique_lock<std::mutex>& lock, OutgoingOf::iterator turn) {
    const auto& feed = turn->first;
    Outgoing& from = turn->second;
    const auto end = Clock::now() + slice;
    while (!stopping_ && (from.lost || !from.events.empty()) && Clock::now() < end) {
        if (std::exchange(from.lost, false)) {
            lock.unlock();
            const bool done = tries([&] { feed->start_over(); });
            lock.lock();
            if (!done) from.lost = true;
            continue;
        }
        const auto event = std::move(from.events.front());
        from.events.pop_front();
        from.bytes -= event->bytes();
        lock.unlock();
        const bool done = tries([&] { feed->hand_out(event); });
        ++handed_out_;
        lock.lock();
        if (!done) from.lost = true;  // for some
    }
}

/// False when the work threw, as when there is no memory: to be tried again, after a pause.
bool Hub::tries(const std::function<void()>& work) noexcept {
    try {
        work();
        return true;
    } catch (...) {
        ++failures_;
        std::this_thread::sleep_for(pause_after_failure);
        return false;
    }
}

// -------------------------------------------------------------------------------- waiting calls

std::shared_ptr<EventWait> Hub::wait_of(
    const boards::BoardCaller& caller, const PrincipalRef& who, const Filter& filter
) {
    auto place = wait_places_.take_if_free(caller.principal);
    if (!place) return nullptr;
    const auto feed = feed_of(caller.org);
    Viewer* viewer = nullptr;
    WantedPtr wanted;
    {
        const std::lock_guard lock(feed->mutex());
        viewer = &feed->enter(caller, who);
        wanted = feed->shared({filter});
    }
    return std::make_shared<EventWait>(
        *viewer,
        *std::move(place),
        std::move(wanted),
        wakes_,
        "live.events " + std::to_string(++topics_)
    );
}

// ------------------------------------------------------------------------------------ looking

void Hub::need_look(const std::shared_ptr<Feed>& feed) {
    {
        const std::lock_guard lock(turns_mutex_);
        if (std::ranges::find(turns_, feed) != turns_.end()) return;
        turns_.push_back(feed);
    }
    to_look_.notify_one();
}

std::shared_ptr<Feed> Hub::next_to_look() {
    std::unique_lock lock(turns_mutex_);
    to_look_.wait(lock, [this] { return stopping_ || !turns_.empty(); });
    if (stopping_) return nullptr;
    auto feed = std::move(turns_.front());
    turns_.pop_front();
    return feed;
}

void Hub::look() {
    while (const auto feed = next_to_look()) {
        try {
            CatchUp(kernel_, *feed).run();
        } catch (const std::exception& problem) {
            if (++failures_ % 100 == 1)
                Poco::Logger::get("live").warning(
                    std::string("missed events are looked up again: ") + problem.what()
                );
            std::this_thread::sleep_for(pause_after_failure);
        }
        bool more = false;
        {
            const std::lock_guard lock(feed->mutex());
            more = feed->anybody_waits();
        }
        if (more) need_look(feed);
    }
}

// -------------------------------------------------------------------------------------- feeds

std::shared_ptr<Feed> Hub::feed_of(const Uuid& org) {
    const std::lock_guard lock(mutex_);
    auto& feed = feeds_[org];
    if (feed) return feed;
    feed = std::make_shared<Feed>(org, places_);
    // A feed calls only while somebody holds it.
    feed->on_waiting = [this, weak = std::weak_ptr(feed)] {
        const auto held = weak.lock();
        if (!held) return;
        bool waits = false;
        {
            const std::lock_guard held_lock(held->mutex());
            waits = held->anybody_waits();
        }
        if (waits) need_look(held);
    };
    return feed;
}

std::shared_ptr<Feed> Hub::find(const Uuid& org) const {
    const std::lock_guard lock(mutex_);
    const auto found = feeds_.find(org);
    return found == feeds_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Feed>> Hub::feeds() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Feed>> all;
    for (const auto& [org, feed] : feeds_) all.push_back(feed);
    return all;
}

void Hub::for_each_feed(const std::function<void(Feed&)>& each) const {
    for (const auto& feed : feeds()) each(*feed);
}

void Hub::keep_alive() {
    running_ += beat;
    for (const auto& feed : feeds()) {
        feed->go_round([&](StreamReader& reader) {
            auto frame = reader.keep_alive(running_, feed->done());
            if (frame) reader.stream()->send(std::move(frame));
        });
    }
    sweep();
}

/// Nobody gets a feed but under the lock, and who reads it holds it.
void Hub::sweep() {
    const std::lock_guard lock(mutex_);
    std::erase_if(feeds_, [](const auto& each) { return each.second.use_count() == 1; });
}

Hub::Load Hub::load() const {
    Load load{.handed_out = handed_out_, .lost = overflows_, .failures = failures_};
    for (const auto& feed : feeds()) {
        const std::lock_guard lock(feed->mutex());
        load.readers += feed->readers();
        ++load.workspaces;
    }
    return load;
}

}  // namespace svc::live
