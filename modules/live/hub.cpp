#include "modules/live/hub.hpp"

#include "modules/live/catch_up.hpp"
#include "modules/live/rights.hpp"

#include <Poco/Logger.h>

namespace svc::live {

namespace {

constexpr std::chrono::milliseconds pause_after_failure{200};

}  // namespace

void Hub::start() {
    threads_.emplace_back([this] { hand_out_all(); });
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
}

// ------------------------------------------------------------------------------------ hearing

void Hub::hear(std::span<const StoredEvent> batch) {
    std::vector<std::shared_ptr<LiveEvent>> wanted;
    std::size_t bytes = 0;
    {
        const std::lock_guard lock(mutex_);
        for (const StoredEvent& each : batch) {
            if (!feeds_.contains(each.org_id) && !waits_.contains(each.org_id)) continue;
            wanted.push_back(std::make_shared<LiveEvent>(each, audience_of(kernel_, each.kind)));
            bytes += wanted.back()->bytes();
        }
    }
    if (wanted.empty()) return;
    {
        const std::lock_guard lock(queue_mutex_);
        if (queue_bytes_ + bytes > most_queued) {
            queue_.clear();
            queue_bytes_ = 0;
            lost_ = true;
            ++lost_batches_;
        } else {
            queue_.push_back(std::move(wanted));
            queue_bytes_ += bytes;
        }
    }
    queued_.notify_one();
}

void Hub::hand_out_all() {
    std::unique_lock lock(queue_mutex_);
    for (;;) {
        queued_.wait(lock, [this] { return stopping_ || lost_ || !queue_.empty(); });
        if (stopping_) return;
        if (std::exchange(lost_, false)) {
            lock.unlock();
            for (const auto& each : feeds()) each->detach_all();
            lock.lock();
            continue;
        }
        const auto batch = std::move(queue_.front());
        queue_.pop_front();
        for (const auto& each : batch) queue_bytes_ -= each->bytes();
        lock.unlock();
        hand_out(batch);
        lock.lock();
    }
}

void Hub::hand_out(const std::vector<std::shared_ptr<LiveEvent>>& batch) {
    for (const auto& each : batch) {
        if (stopping_) return;
        if (const auto feed = find(each->event().org_id)) feed->hand_out(each);
        wake_waits(each->event());
        ++handed_out_;
    }
}

// -------------------------------------------------------------------------------- waiting calls

std::string Hub::topic_of(const Uuid& org, const Filter& filter, std::chrono::seconds at_most) {
    std::string topic =
        "live.events " + org.str() + ' ' + (filter.board ? filter.board->str() : "");
    for (const std::string& each : filter.kinds) (topic += ' ') += each;
    const auto until = Clock::now() + at_most + std::chrono::seconds(1);
    const std::lock_guard lock(mutex_);
    Wait& wait = waits_[org].by_topic[topic];
    wait = {filter, std::max(wait.until, until)};
    return topic;
}

void Hub::wake_waits(const StoredEvent& event) {
    std::vector<std::string> topics;
    {
        const std::lock_guard lock(mutex_);
        const auto found = waits_.find(event.org_id);
        if (found == waits_.end()) return;
        for (const auto& [topic, wait] : found->second.by_topic)
            if (wait.filter.passes(event)) topics.push_back(topic);
    }
    for (const std::string& each : topics) kernel_.wake(each);
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
    feed = std::make_shared<Feed>(org);
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

std::shared_ptr<const Filter> Hub::shared(Filter filter) {
    const std::lock_guard lock(mutex_);
    auto& known = filters_[filter];
    if (auto shared = known.lock()) return shared;
    auto made = std::make_shared<const Filter>(std::move(filter));
    known = made;
    if (filters_.size() > 2 * swept_filters_ + 64) {
        std::erase_if(filters_, [](const auto& each) { return each.second.expired(); });
        swept_filters_ = filters_.size();
    }
    return made;
}

void Hub::keep_alive() {
    running_ += beat;
    for (const auto& feed : feeds()) {
        const std::lock_guard lock(feed->mutex());
        feed->for_each_reader([&](EventReader& reader) {
            auto frame = reader.keep_alive(running_, feed->last());
            if (frame) reader.stream()->send(std::move(frame));
        });
    }
    sweep();
}

/// Nobody gets a feed but under the lock, and who reads it holds it.
void Hub::sweep() {
    const std::lock_guard lock(mutex_);
    std::erase_if(feeds_, [](const auto& each) { return each.second.use_count() == 1; });
    const auto now = Clock::now();
    for (auto& [org, waits] : waits_)
        std::erase_if(waits.by_topic, [&](const auto& each) { return each.second.until < now; });
    std::erase_if(waits_, [](const auto& each) { return each.second.by_topic.empty(); });
}

Hub::Load Hub::load() const {
    Load load{.handed_out = handed_out_, .lost = lost_batches_, .failures = failures_};
    for (const auto& feed : feeds()) {
        const std::lock_guard lock(feed->mutex());
        load.readers += feed->readers();
        ++load.workspaces;
    }
    return load;
}

}  // namespace svc::live
