#include "svc/cut_off.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace svc {

struct CutOff::Watch {
    const int socket;  // a descriptor of its own, so that it never shuts down somebody else's
    std::mutex mutex;
    std::condition_variable wake;
    bool over = false, happened = false;
    std::thread thread;
};

CutOff::CutOff(int socket, std::chrono::steady_clock::time_point at)
    : watch_(new Watch{.socket = ::fcntl(socket, F_DUPFD_CLOEXEC, 0)}) {
    watch_->thread = std::thread([watch = watch_.get(), at] {
        std::unique_lock lock(watch->mutex);
        if (watch->wake.wait_until(lock, at, [&] { return watch->over; })) return;
        watch->happened = true;
        ::shutdown(watch->socket, SHUT_RDWR);
    });
}

CutOff::~CutOff() {
    {
        std::lock_guard lock(watch_->mutex);
        watch_->over = true;
    }
    watch_->wake.notify_all();
    watch_->thread.join();
    ::close(watch_->socket);
}

bool CutOff::happened() const {
    std::lock_guard lock(watch_->mutex);
    return watch_->happened;
}

}  // namespace svc
