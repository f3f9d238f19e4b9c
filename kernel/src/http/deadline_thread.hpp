#pragma once

#include "http/worker.hpp"

namespace svc::http {

/// The one thread beside the workers. It ends what has taken too long; and while every worker is
/// in a handler it keeps looking at the sockets, so that requests are counted as they come
/// in and told to come back when too many wait, and slow or broken connections are noticed.
class DeadlineThread {
public:
    explicit DeadlineThread(ServerState& server_state);
    /// Until the front end quits.
    void run();

private:
    void sweep();
    void stand_in();

    ServerState& server_state_;
    Worker worker_;
    const std::int64_t sweep_every_;  // milliseconds
    std::int64_t next_sweep_;
};

}  // namespace svc::http
