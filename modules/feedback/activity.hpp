#pragma once

#include "svc/kernel.hpp"

#include <mutex>
#include <set>

namespace svc::feedback {

/// Writes down on how many days somebody did something in a workspace, and how many cards of queues
/// were completed for them: what surveys go by. A durable consumer of events, so that no request
/// pays for it.
class Activity {
public:
    Consumer consumer();

private:
    using Member = std::pair<Uuid, Uuid>;  // workspace and person
    struct Share {
        Member member;
        bool active = false;  ///< the person did it, not an agent
        bool finished = false;
    };
    static std::optional<Share> share_of(const StoredEvent& event);
    void record(Tx& tx, std::span<const StoredEvent> events);
    bool is_noted(const Member& member);
    void note(const std::vector<Member>& members);
    void begin_day();

    std::mutex mutex_;
    std::int64_t day_ = 0;          // under mutex_
    std::set<Member> noted_today_;  // under mutex_: those whose day is written down already
};

}  // namespace svc::feedback
