#pragma once

#include "http/connection.hpp"
#include "http/small_mutex.hpp"

#include <memory>
#include <vector>

namespace svc::http {

struct ServerState;

/// A connection that has become a stream. What goes out is under the mutex, so that any thread
/// may send; what comes in, and the end, belong to the holder of the connection's turn, so that
/// the user's members never run at the same time. Outlives its connection while somebody holds it.
class StreamConnection final : public Stream {
public:
    StreamConnection(ServerState& server_state, Connection& connection);

    void use(std::shared_ptr<StreamUser> user) override;
    bool send(std::shared_ptr<const std::string> frame) override;
    std::size_t backlog() const override;
    void close() override;
    void end(StreamEnd why) override;
    bool open() const override;

    // ---- by the holder of the turn ----
    /// Sends the answer's head in front of all frames, whatever its size.
    void begin(std::string head);
    /// Sends what is queued as far as the peer takes it. False when the stream is over.
    bool flush();
    /// Whether all is sent that once was queued, which the user has not been told.
    bool has_drained() const;
    void tell_drained();
    std::ptrdiff_t read(char* to, std::size_t size);
    void deliver(std::string_view bytes);
    /// Nothing is sent or delivered from here on; tells the user.
    void finish();
    /// Thrown away rather than closed: the peer was too slow, or is gone.
    bool dropped() const;
    void drop();

private:
    struct Frame {
        std::shared_ptr<const std::string> bytes;
        std::size_t sent;
    };
    /// What the peer has not taken. Few streams have any at a time.
    struct Backlog {
        std::vector<Frame> frames;
        std::size_t bytes = 0;
    };
    enum class State : std::uint8_t { open, closing, dropped, over };

    std::ptrdiff_t write_some(std::string_view bytes);
    void queue(std::shared_ptr<const std::string> frame, std::size_t sent);
    void send_queued();
    void watch();
    void end_slow();
    void begin_closing();
    void need_attention();

    ServerState& server_state_;
    // Under mutex_.
    Connection* connection_;  // for its channel; null when over
    std::unique_ptr<Backlog> backlog_;
    std::shared_ptr<StreamUser> user_;
    State state_ = State::open;
    bool end_reported_ = false;  // the user was told, or will be when there is one
    bool tell_drained_ = false;
    mutable SmallMutex mutex_;
};

}  // namespace svc::http
