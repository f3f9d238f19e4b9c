#pragma once

#include <chrono>
#include <memory>

namespace svc {

/// Ends what blocks on a socket when its time is over: the socket is shut down, so that reading and
/// writing come back at once, however slowly the other side feeds them. Timeouts of a socket bound
/// each step, this bounds them all together. The socket may be closed before. One thread of the
/// process looks after all deadlines. Any thread.
class SocketDeadline {
public:
    SocketDeadline(int socket, std::chrono::steady_clock::time_point at);
    ~SocketDeadline();
    SocketDeadline(const SocketDeadline&) = delete;
    SocketDeadline& operator=(const SocketDeadline&) = delete;

    bool passed() const;

private:
    struct Watch;
    std::unique_ptr<Watch> watch_;
};

}  // namespace svc
