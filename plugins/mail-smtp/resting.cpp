#include "plugins/mail-smtp/resting.hpp"

namespace svc::mail_smtp {

namespace {

constexpr std::chrono::seconds longest_rest{5};
constexpr int most_mails = 100;  // in one conversation: servers have limits of that size

}  // namespace

std::unique_ptr<Session> RestingSessions::take() {
    for (;;) {
        std::unique_ptr<Session> found;
        {
            const std::lock_guard lock(mutex_);
            if (rests_.empty()) return nullptr;
            found = std::move(rests_.back().session);
            rests_.pop_back();
        }
        if (found->is_quiet()) return found;
    }
}

void RestingSessions::put(std::unique_ptr<Session> session) noexcept {
    try {
        if (keep(session)) return;
    } catch (const std::exception&) {
        // No memory or thread to keep it with; its mail is sent all the same.
    }
    if (session) session->end();
}

/// False when it is not to rest.
bool RestingSessions::keep(std::unique_ptr<Session>& session) {
    const std::lock_guard lock(mutex_);
    if (stopping_ || session->mails() >= most_mails) return false;
    if (!thread_.joinable()) thread_ = std::thread([this] { end_old(); });
    rests_.push_back({std::move(session), Clock::now() + longest_rest});
    changed_.notify_all();
    return true;
}

void RestingSessions::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

void RestingSessions::end_old() {
    std::unique_lock lock(mutex_);
    while (!stopping_ || !rests_.empty()) {
        if (rests_.empty()) {
            changed_.wait(lock);
            continue;
        }
        if (const auto until = rests_.front().until; !stopping_ && Clock::now() < until) {
            changed_.wait_until(lock, until);
            continue;
        }
        const auto old = std::move(rests_.front().session);
        rests_.erase(rests_.begin());
        lock.unlock();
        old->end();
        lock.lock();
    }
}

}  // namespace svc::mail_smtp
