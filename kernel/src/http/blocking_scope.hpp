#pragma once

#include "http/stream_connection.hpp"
#include "http/worker.hpp"

namespace svc::http {

/// While it lives its worker may be held up, so somebody else keeps watch.
class Worker::BlockingScope {
public:
    explicit BlockingScope(Worker& worker) : worker_(worker), left_(worker.on_watch_) {
        worker.on_watch_ = false;
        if (left_ && worker.server_state_.polling_pool.leave_watch() == PollingPool::Left::nobody)
            worker.server_state_.alarm();
    }
    ~BlockingScope() {
        if (left_) worker_.on_watch_ = worker_.server_state_.polling_pool.rejoin_watch();
    }
    BlockingScope(const BlockingScope&) = delete;
    BlockingScope& operator=(const BlockingScope&) = delete;

private:
    Worker& worker_;
    const bool left_;
};

/// Runs somebody else's code; a stream whose owner throws is of no use.
template <class Call>
void Worker::call_back(StreamConnection& stream, Call call) {
    const BlockingScope away(*this);
    try {
        call();
    } catch (...) {
        stream.drop();
    }
}

}  // namespace svc::http
