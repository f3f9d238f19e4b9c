#include "core/stream_registry.hpp"

#include <Poco/Logger.h>

#include <algorithm>

namespace svc::core {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto beat = std::chrono::seconds(1), round = std::chrono::seconds(30);
constexpr std::size_t at_once = 100;  // questions in one pipeline
constexpr std::string_view channel = "streams.person";

/// The workspace is named, whatever the session works in by then.
Credential within(const Credential& credential, const Caller& caller) {
    Credential named = credential;
    named.requested_org = caller.org_id;
    return named;
}

}  // namespace

StreamRegistry::StreamRegistry(Kernel::Impl& kernel, Bus& bus) : kernel_(kernel), bus_(bus) {
    bus.subscribe(channel, [this](std::string_view user) {
        if (const auto id = Uuid::parse(user)) doubt(&Doubts::people, *id);
    });
}

StreamRegistry::Holder::Holder(const CallerResolver& who)
    : by_(*who.authenticator()),
      credential_(within(who.credential(), *who.caller())),
      caller_(*who.caller()) {}

bool StreamRegistry::Holder::is_of(const CallerResolver& who) const {
    return &by_ == who.authenticator() && caller_ == *who.caller() &&
           credential_ == within(who.credential(), *who.caller());
}

void StreamRegistry::Holder::expect() {
    const std::lock_guard lock(mutex_);
    ++expected_;
}

void StreamRegistry::Holder::attach(const std::shared_ptr<http::Stream>& stream) {
    bool over;
    {
        const std::lock_guard lock(mutex_);
        --expected_;
        over = over_;
        if (stream && !over) streams_.push_back(stream);
    }
    if (over && stream) stream->end(http::StreamEnd::revoked);
}

void StreamRegistry::Holder::end() {
    std::deque<std::weak_ptr<http::Stream>> streams;
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
        streams.swap(streams_);
    }
    for (const auto& each : streams)  // without the lock: it may call back at once
        if (const auto stream = each.lock()) stream->end(http::StreamEnd::revoked);
}

bool StreamRegistry::Holder::is_past() {
    const std::lock_guard lock(mutex_);
    std::erase_if(streams_, [](const auto& each) { return each.expired(); });
    return streams_.empty() && expected_ == 0;
}

std::function<bool()> StreamRegistry::Holder::ask(Tx& tx) const {
    tx.set_scope({}, {});  // nothing that an earlier question entered
    return [this, read = by_.identify(tx, credential_, nullptr)] {
        try {
            const auto now = read();
            return now && now->id == caller_.id && now->role >= caller_.role;
        } catch (const Failure& failure) {
            if (failure.fault() != Fault::not_found) throw;
            return false;  // the workspace is out of reach
        }
    };
}

// ------------------------------------------------------------------------------ its thread

void StreamRegistry::start() {
    thread_ = std::thread([this] { run(); });
}

void StreamRegistry::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void StreamRegistry::revalidate(const Uuid& org) { doubt(&Doubts::orgs, org); }

void StreamRegistry::revalidate_person(const Uuid& user) {
    doubt(&Doubts::people, user);
    bus_.publish(channel, user.str());
}

void StreamRegistry::doubt(std::set<Uuid> Doubts::* whom, const Uuid& id) {
    {
        const std::lock_guard lock(mutex_);
        (doubts_.*whom).insert(id);
    }
    wake_.notify_all();
}

std::shared_ptr<StreamRegistry::Entry> StreamRegistry::enter(const CallerResolver& who) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = held_.equal_range(who.credential().key);
    for (auto each = first; each != last; ++each) {
        if (!each->second->is_of(who)) continue;
        each->second->expect();
        return std::make_shared<Entry>(each->second);
    }
    const auto holder = std::make_shared<Holder>(who);
    holder->expect();
    held_.emplace(who.credential().key, holder);
    return std::make_shared<Entry>(holder);
}

void StreamRegistry::run() {
    auto next_round = Clock::now() + round;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        wake_.wait_for(lock, beat, [this] { return stopping_ || doubts_.any(); });
        if (stopping_) return;
        const bool everybody = Clock::now() >= next_round;
        auto doubts = std::exchange(doubts_, {});
        const All all = suspects(doubts, everybody);
        lock.unlock();
        bool done = true;
        try {
            examine(all);
        } catch (const std::exception& problem) {
            done = false;
            Poco::Logger::get("streams").warning(
                std::string("to be asked again: ") + problem.what()
            );
        }
        lock.lock();
        if (done && everybody) next_round = Clock::now() + round;
        if (done) continue;
        wake_.wait_for(lock, beat, [this] { return stopping_; });
        doubts_.orgs.merge(doubts.orgs);
        doubts_.people.merge(doubts.people);
    }
}

/// Forgets on the way those that have ended. Called under the lock.
StreamRegistry::All StreamRegistry::suspects(const Doubts& doubts, bool everybody) {
    std::erase_if(held_, [](const auto& each) { return each.second->is_past(); });
    const auto now = Timestamp::now();
    All all;
    for (const auto& [key, each] : held_) {
        const Caller& caller = each->caller();
        const bool doubted = (caller.user_id && doubts.people.contains(*caller.user_id)) ||
                             (caller.org_id && doubts.orgs.contains(*caller.org_id));
        const bool run_out = caller.until && *caller.until <= now;
        if (everybody || doubted || run_out) all.push_back(each);
    }
    return all;
}

void StreamRegistry::examine(const All& all) {
    for (std::size_t from = 0; from < all.size(); from += at_once) {
        const auto to = std::min(all.size(), from + at_once);
        All gone;
        kernel_.database->transact(Tx::Mode::read, [&](Tx& tx) {
            gone.clear();
            std::vector<std::function<bool()>> answers;
            for (auto i = from; i < to; ++i) answers.push_back(all[i]->ask(tx));
            for (auto i = from; i < to; ++i)
                if (!answers[i - from]()) gone.push_back(all[i]);
        });
        forget(gone);
        for (const auto& each : gone) each->end();
    }
}

/// Whoever opens a stream with that credential from here on has been asked about anew.
void StreamRegistry::forget(const All& gone) {
    const std::lock_guard lock(mutex_);
    for (const auto& each : gone)
        std::erase_if(held_, [&](const auto& held) { return held.second == each; });
}

}  // namespace svc::core
