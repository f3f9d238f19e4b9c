#pragma once

#include "http/connection.hpp"

#include <mutex>
#include <vector>

namespace svc::http {

struct ServerState;

/// A connection that has become a stream. What goes out is under the mutex, so that any thread
/// may send; what comes in, and the end, belong to the holder of the connection's turn, so that
/// the callbacks never run at the same time. Outlives its connection while somebody holds it.
class StreamConnection final : public Stream {
public:
    StreamConnection(ServerState& server_state, Connection& connection);

    bool send(std::shared_ptr<const std::string> frame) override;
    void on_bytes(std::function<void(std::string_view)> receive) override;
    void on_end(std::function<void()> ended) override;
    void close() override;
    bool open() const override;

    // ---- by the holder of the turn ----
    /// Sends the answer's head in front of all frames, whatever its size.
    void begin(std::string head);
    /// Sends what is queued as far as the peer takes it. False when the stream is over.
    bool flush();
    std::ptrdiff_t read(char* to, std::size_t size);
    void deliver(std::string_view bytes);
    /// Nothing is sent or delivered from here on; tells on_end.
    void end();
    /// Thrown away rather than closed: the peer was too slow, or is gone.
    bool dropped() const;
    void drop();

private:
    using Receive = std::function<void(std::string_view)>;
    struct Frame {
        std::shared_ptr<const std::string> bytes;
        std::size_t sent;
    };
    enum class State : std::uint8_t { open, closing, dropped, over };

    std::ptrdiff_t write_some(std::string_view bytes);
    void send_queued();
    void need_attention();

    ServerState& server_state_;
    const std::uint64_t key_;
    mutable std::mutex mutex_;
    Connection* connection_;       // under mutex_ for its channel; null when over
    std::vector<Frame> queue_;     // under mutex_
    std::size_t backlog_ = 0;      // bytes in it; under mutex_
    State state_ = State::open;    // under mutex_
    bool end_reported_ = false;    // on_end was called, or will be when it is set; under mutex_
    std::function<void()> ended_;  // under mutex_
    // Shared, because it may be replaced while it runs.
    std::shared_ptr<const Receive> receive_;  // under mutex_
};

}  // namespace svc::http
