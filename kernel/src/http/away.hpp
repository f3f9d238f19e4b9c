#pragma once

#include "http/conduit.hpp"
#include "http/worker.hpp"

namespace svc::http {

/// While it lives its worker may be held up, so somebody else keeps watch.
class Worker::Away {
public:
    explicit Away(Worker& worker) : worker_(worker), left_(worker.on_watch_) {
        worker.on_watch_ = false;
        if (left_ && worker.front_.crew.leave_watch() == Crew::Left::nobody) worker.front_.alarm();
    }
    ~Away() {
        if (left_) worker_.on_watch_ = worker_.front_.crew.rejoin_watch();
    }
    Away(const Away&) = delete;
    Away& operator=(const Away&) = delete;

private:
    Worker& worker_;
    const bool left_;
};

/// Runs somebody else's code; a stream whose owner throws is of no use.
template <class Call>
void Worker::call_back(Conduit& stream, Call call) {
    const Away away(*this);
    try {
        call();
    } catch (...) {
        stream.drop();
    }
}

}  // namespace svc::http
