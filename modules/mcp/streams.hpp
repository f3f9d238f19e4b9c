#pragma once

#include "modules/lib/stream_places/stream_places.hpp"
#include "svc/kernel.hpp"

#include <list>
#include <mutex>

namespace svc::mcp {

/// The SSE streams that are open here: a comment every so often keeps proxies and clients from
/// giving up on a quiet one. Any thread.
class Streams {
public:
    explicit Streams(std::size_t most_per_principal) : places_(most_per_principal) {}

    /// Makes the request's connection a stream that begins with `first`, SSE text, and ends with
    /// its session, if it has one. Failure 429 when the caller has as many open as one may have.
    http::Answer open(RouteCall& call, std::string first, std::string session = {});
    void keep_alive();
    void close_session(std::string_view session);

private:
    struct Open {
        std::shared_ptr<http::Stream> stream;
        std::shared_ptr<StreamPlaces::Place> place;  // shared: std::function copies what it holds
        std::string session;
    };

    class Listener;

    void start(Open open, const std::string& first);
    void forget(const http::Stream* stream);

    StreamPlaces places_;
    std::mutex mutex_;
    std::list<Open> open_;
};

/// An SSE event that carries one JSON text.
std::string sse_event(std::string_view json);

}  // namespace svc::mcp
