#pragma once

#include <chrono>
#include <memory>

namespace svc {

/// Ends what blocks on a socket when its time is over: the socket is shut down, so that reading
/// and writing come back at once, however slowly the other side feeds them. Timeouts of a socket
/// bound each step, this bounds them all together. The socket may be closed before. Any thread.
class CutOff {
public:
    CutOff(int socket, std::chrono::steady_clock::time_point at);
    ~CutOff();
    CutOff(const CutOff&) = delete;
    CutOff& operator=(const CutOff&) = delete;

    /// The time is over.
    bool happened() const;

private:
    struct Watch;
    std::unique_ptr<Watch> watch_;
};

}  // namespace svc
