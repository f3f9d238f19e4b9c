#include "modules/lib/http_client/resolver.hpp"

#include "modules/lib/http_client/dial.hpp"

#include <Poco/Exception.h>

#include <algorithm>

namespace svc {

namespace {

Resolver::Answer answer_for(const std::string& host, const AddressRules& rules) try {
    return {addresses_of(host, rules), {}};
} catch (const Poco::Exception&) {
    return {{}, host + " has no address"};
} catch (const std::exception& problem) {
    return {{}, problem.what()};
}

}  // namespace

Resolver::Resolver(AddressRules rules, int threads)
    : rules_(std::move(rules)), most_of_group_(std::max(1, threads / 4)) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

Resolver::~Resolver() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& each : threads_) each.join();
}

void Resolver::ask(std::string host, std::string group, Done done) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back({std::move(host), std::move(group), std::move(done)});
    }
    changed_.notify_one();
}

std::deque<Resolver::Question>::iterator Resolver::next() {
    return std::ranges::find_if(waiting_, [&](const Question& each) {
        const auto found = busy_.find(each.group);
        return found == busy_.end() || found->second < most_of_group_;
    });
}

void Resolver::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        auto turn = waiting_.end();
        changed_.wait(lock, [&] {
            turn = next();
            return stopping_ || turn != waiting_.end();
        });
        if (stopping_) return;
        const Question question = std::move(*turn);
        waiting_.erase(turn);
        ++busy_[question.group];
        lock.unlock();
        question.done(answer_for(question.host, rules_));
        lock.lock();
        if (--busy_[question.group] == 0) busy_.erase(question.group);
        changed_.notify_one();  // one of the same group may have waited for this
    }
}

}  // namespace svc
