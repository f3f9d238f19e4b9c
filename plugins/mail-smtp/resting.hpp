#pragma once

#include "plugins/mail-smtp/session.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace svc::mail_smtp {

/// Conversations between two mails: what follows soon needs no connection, encryption and log-in of
/// its own. Any thread.
class RestingSessions {
public:
    ~RestingSessions() { stop(); }

    /// One that its server has not ended, or none.
    std::unique_ptr<Session> take();
    /// It is ended when it is not taken for a few seconds, or has carried enough.
    void put(std::unique_ptr<Session> session) noexcept;
    /// Ends all of them, and from then on each that is put here.
    void stop() noexcept;

private:
    using Clock = std::chrono::steady_clock;
    struct Rest {
        std::unique_ptr<Session> session;
        Clock::time_point until;
    };
    bool keep(std::unique_ptr<Session>& session);
    void end_old();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Rest> rests_;  // by their ends
    bool stopping_ = false;
    std::thread thread_;  // begins with the first rest
};

}  // namespace svc::mail_smtp
