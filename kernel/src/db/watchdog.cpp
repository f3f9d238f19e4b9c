#include "db/watchdog.hpp"

#include <sys/socket.h>

namespace svc::db {

Watchdog::Watchdog() : thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void Watchdog::watch(Watched& who, int socket) {
    const std::lock_guard lock(mutex_);
    who.socket_ = socket;
    who.seen_ = 0;
    watched_.push_back(&who);
}

void Watchdog::leave(Watched& who) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(watched_, &who);
}

void Watchdog::run() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, round, [this] { return ending_; })) go_round();
}

void Watchdog::go_round() {
    const auto now = std::chrono::steady_clock::now();
    for (Watched* who : watched_) {
        auto wait = who->wait_.load(std::memory_order_relaxed);
        if (wait != who->seen_) {
            who->seen_ = wait;
            who->since_ = now;
        } else if (wait != 0 && now - who->since_ >= who->patience_ && who->wait_.compare_exchange_strong(wait, wait | Watched::cut)) {
            shutdown(who->socket_, SHUT_RDWR);
        }
    }
}

}  // namespace svc::db
