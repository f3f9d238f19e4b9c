#include "modules/lib/http_client/resolver.hpp"

#include "modules/lib/http_client/dial.hpp"

#include <Poco/Exception.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace svc {

struct Resolver::State {
    State(Lookup how, AddressRules which, int threads)
        : lookup(std::move(how)),
          rules(std::move(which)),
          most_of_group(std::max(1, threads / 4)) {}

    struct Question {
        std::string host, group;
        Clock::time_point until;
        Done done;
    };

    void run();
    std::deque<Question>::iterator next();
    void forget_late();
    Answer answer(const std::string& host) const;

    const Lookup lookup;
    const AddressRules rules;
    const int most_of_group;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Question> waiting;
    std::map<std::string, int> busy;  // of each group
    int telling = 0;
    bool stopping = false;
};

Resolver::Resolver(Lookup lookup, AddressRules rules, int threads)
    : state_(std::make_shared<State>(std::move(lookup), std::move(rules), threads)) {
    for (int i = 0; i < threads; ++i) std::thread([state = state_] { state->run(); }).detach();
}

Resolver::~Resolver() {
    std::unique_lock lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_all();
    state_->changed.wait(lock, [&] { return state_->telling == 0; });
}

void Resolver::ask(std::string host, std::string group, Clock::time_point until, Done done) {
    {
        const std::lock_guard lock(state_->mutex);
        state_->forget_late();
        state_->waiting.push_back({std::move(host), std::move(group), until, std::move(done)});
    }
    state_->changed.notify_one();
}

Resolver::Answer Resolver::State::answer(const std::string& host) const try {
    return {require_allowed(host, lookup(host), rules), {}};
} catch (const Poco::Exception&) {
    return {{}, host + " has no address"};
} catch (const std::exception& problem) {
    return {{}, problem.what()};
}

void Resolver::State::forget_late() {
    std::erase_if(waiting, [now = Clock::now()](const Question& each) {
        return each.until <= now;
    });
}

std::deque<Resolver::State::Question>::iterator Resolver::State::next() {
    forget_late();
    return std::ranges::find_if(waiting, [&](const Question& each) {
        const auto found = busy.find(each.group);
        return found == busy.end() || found->second < most_of_group;
    });
}

void Resolver::State::run() {
    std::unique_lock lock(mutex);
    for (;;) {
        auto turn = waiting.end();
        changed.wait(lock, [&] {
            turn = next();
            return stopping || turn != waiting.end();
        });
        if (stopping) return;
        const Question question = std::move(*turn);
        waiting.erase(turn);
        ++busy[question.group];
        lock.unlock();
        Answer found = answer(question.host);
        lock.lock();
        if (stopping) return;
        ++telling;
        lock.unlock();
        question.done(std::move(found));
        lock.lock();
        --telling;
        if (--busy[question.group] == 0) busy.erase(question.group);
        if (stopping) changed.notify_all();  // whoever stops waits for this
        else changed.notify_one();           // one of the same group may have
    }
}

}  // namespace svc
