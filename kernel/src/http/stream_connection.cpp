#include "http/stream_connection.hpp"

#include "http/clock.hpp"
#include "http/server_state.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <mutex>

namespace svc::http {

namespace {

// What the kernel holds for a reader that does not read; more only delays finding out.
constexpr int send_buffer = 64 << 10;

}  // namespace

StreamConnection::StreamConnection(ServerState& server_state, Connection& connection)
    : server_state_(server_state), connection_(&connection) {
    const int socket = connection.channel.socket();
    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
    // A peer that vanished without a word is found out when what was sent stays unconfirmed.
    const auto patience = static_cast<unsigned>(server_state.settings.write_deadline.count());
    setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
}

void StreamConnection::begin(std::string head) {
    std::lock_guard lock(mutex_);
    queue(std::make_shared<const std::string>(std::move(head)), 0);
    send_queued();
    tell_drained_ = false;
}

void StreamConnection::use(std::shared_ptr<StreamUser> user) {
    {
        std::lock_guard lock(mutex_);
        if (!end_reported_) {
            user_ = std::move(user);
            return;
        }
    }
    user->ended();
}

bool StreamConnection::send(std::shared_ptr<const std::string> frame) {
    std::lock_guard lock(mutex_);
    if (state_ != State::open) return false;
    std::size_t sent = 0;
    if (!backlog_) {
        const auto moved = write_some(*frame);
        if (moved == io::gone) {
            state_ = State::dropped;
            need_attention();
            return false;
        }
        sent = static_cast<std::size_t>(moved);
        if (sent == frame->size()) return true;
    }
    const auto left = frame->size() - sent;
    if ((backlog_ ? backlog_->bytes : 0) + left > server_state_.settings.stream_backlog) {
        // Half a frame has to be followed by its other half.
        if (sent > 0) queue(std::move(frame), sent);
        end_slow();
        return false;
    }
    queue(std::move(frame), sent);
    watch();
    return true;
}

std::size_t StreamConnection::backlog() const {
    std::lock_guard lock(mutex_);
    return backlog_ ? backlog_->bytes : 0;
}

void StreamConnection::queue(std::shared_ptr<const std::string> frame, std::size_t sent) {
    if (!backlog_) backlog_ = std::make_unique<Backlog>();
    backlog_->bytes += frame->size() - sent;
    backlog_->frames.push_back({std::move(frame), sent});
    tell_drained_ = true;
}

void StreamConnection::watch() {
    if (connection_->watches_writes) return;
    connection_->watches_writes = true;
    server_state_.watch_writes(*connection_);
}

/// Bytes sent, until the peer takes no more.
std::ptrdiff_t StreamConnection::write_some(std::string_view bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const auto moved = connection_->channel.write(bytes.substr(sent));
        if (moved == io::gone) return io::gone;
        if (moved == io::later) break;
        sent += static_cast<std::size_t>(moved);
    }
    return static_cast<std::ptrdiff_t>(sent);
}

void StreamConnection::send_queued() {
    if (!backlog_) return;
    auto& frames = backlog_->frames;
    std::size_t done = 0;
    for (Frame& each : frames) {
        const auto moved = write_some(std::string_view(*each.bytes).substr(each.sent));
        if (moved == io::gone) {
            state_ = State::dropped;
            return;
        }
        each.sent += static_cast<std::size_t>(moved);
        backlog_->bytes -= static_cast<std::size_t>(moved);
        if (each.sent < each.bytes->size()) break;
        ++done;
    }
    frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(done));
    if (frames.empty()) backlog_.reset();
    else watch();
}

bool StreamConnection::flush() {
    std::lock_guard lock(mutex_);
    if (state_ == State::open || state_ == State::closing) send_queued();
    if (state_ == State::closing && !backlog_) return false;
    return state_ == State::open || state_ == State::closing;
}

void StreamConnection::tell_drained() {
    std::shared_ptr<StreamUser> user;
    {
        std::lock_guard lock(mutex_);
        if (state_ != State::open || backlog_ || !std::exchange(tell_drained_, false)) return;
        user = user_;
    }
    if (user) user->drained();
}

bool StreamConnection::has_drained() const {
    std::lock_guard lock(mutex_);
    return state_ == State::open && !backlog_ && tell_drained_;
}

std::ptrdiff_t StreamConnection::read(char* to, std::size_t size) {
    std::lock_guard lock(mutex_);
    return connection_->channel.read(to, size);
}

void StreamConnection::deliver(std::string_view bytes) {
    std::shared_ptr<StreamUser> user;
    {
        std::lock_guard lock(mutex_);
        if (state_ != State::open) return;
        user = user_;
    }
    if (user) user->receive(bytes);
}

void StreamConnection::finish() {
    std::shared_ptr<StreamUser> user;  // let go of outside the lock
    {
        std::lock_guard lock(mutex_);
        if (state_ != State::dropped) state_ = State::over;
        connection_ = nullptr;
        backlog_.reset();
        end_reported_ = true;
        user.swap(user_);
    }
    if (user) user->ended();
}

void StreamConnection::close() {
    std::lock_guard lock(mutex_);
    if (state_ == State::open) begin_closing();
}

void StreamConnection::end(StreamEnd why) {
    std::lock_guard lock(mutex_);
    if (state_ != State::open) return;
    if (why == StreamEnd::too_slow) return end_slow();
    if (user_)
        if (auto last = user_->last_frame(why)) queue(std::move(last), 0);
    begin_closing();
}

/// What is queued is let go, but for a frame that is half sent: it would cut the stream in the
/// middle. Without a last frame there is nothing to be said properly.
void StreamConnection::end_slow() {
    auto last = user_ ? user_->last_frame(StreamEnd::too_slow) : nullptr;
    if (!last) {
        state_ = State::dropped;
        return need_attention();
    }
    if (backlog_) {
        auto& frames = backlog_->frames;
        if (!frames.empty() && frames.front().sent > 0) frames.resize(1);
        else frames.clear();
        backlog_->bytes = frames.empty() ? 0 : frames[0].bytes->size() - frames[0].sent;
    }
    queue(std::move(last), 0);
    begin_closing();
}

void StreamConnection::begin_closing() {
    state_ = State::closing;
    const auto patience = server_state_.settings.write_deadline.count();
    server_state_.table.set_due(*connection_, now_ms() + patience);
    need_attention();
}

void StreamConnection::drop() {
    std::lock_guard lock(mutex_);
    if (connection_) state_ = State::dropped;
}

bool StreamConnection::dropped() const {
    std::lock_guard lock(mutex_);
    return state_ == State::dropped;
}

bool StreamConnection::open() const {
    std::lock_guard lock(mutex_);
    return state_ == State::open;
}

/// Only the holder of the turn may end a stream, and that is not us.
void StreamConnection::need_attention() {
    server_state_.work_queue.look(connection_->key());
    server_state_.wake();
}

}  // namespace svc::http
