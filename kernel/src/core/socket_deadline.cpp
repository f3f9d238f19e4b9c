#include "svc/socket_deadline.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

namespace svc {

namespace {

using Clock = std::chrono::steady_clock;

/// The deadlines of the process, and the thread that ends what has passed. It begins with the first
/// one.
class Watcher {
public:
    using Place = std::multimap<Clock::time_point, std::pair<int, bool*>>::iterator;

    static Watcher& instance() {
        static Watcher here;
        return here;
    }
    ~Watcher() {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
        }
        wake_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

    Place add(Clock::time_point at, int socket, bool& passed) {
        const std::lock_guard lock(mutex_);
        if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
        const auto place = deadlines_.insert({at, {socket, &passed}});
        if (place == deadlines_.begin()) wake_.notify_all();
        return place;
    }
    /// From here on nobody shuts that socket down.
    void remove(Place place, const bool& passed) {
        const std::lock_guard lock(mutex_);
        if (!passed) deadlines_.erase(place);
    }
    bool read(const bool& passed) {
        const std::lock_guard lock(mutex_);
        return passed;
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        while (!ended_) {
            if (deadlines_.empty()) {
                wake_.wait(lock);
                continue;
            }
            const auto first = deadlines_.begin();
            if (const auto at = first->first; at > Clock::now()) {
                wake_.wait_until(lock, at);
                continue;
            }
            *first->second.second = true;
            ::shutdown(first->second.first, SHUT_RDWR);  // which waits for nothing
            deadlines_.erase(first);
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::multimap<Clock::time_point, std::pair<int, bool*>> deadlines_;
    bool ended_ = false;
    std::thread thread_;
};

}  // namespace

struct SocketDeadline::Watch {
    // A descriptor of its own, so that never somebody else's socket of the same number is shut
    // down.
    const int socket;
    bool passed = false;  // under the watcher's mutex
    Watcher::Place place{};
};

SocketDeadline::SocketDeadline(int socket, Clock::time_point at)
    : watch_(new Watch{.socket = ::fcntl(socket, F_DUPFD_CLOEXEC, 0)}) {
    if (watch_->socket < 0)
        throw std::system_error(errno, std::generic_category(), "no descriptor for a deadline");
    watch_->place = Watcher::instance().add(at, watch_->socket, watch_->passed);
}

SocketDeadline::~SocketDeadline() {
    Watcher::instance().remove(watch_->place, watch_->passed);
    ::close(watch_->socket);
}

bool SocketDeadline::passed() const { return Watcher::instance().read(watch_->passed); }

}  // namespace svc
