#include "http/stream_connection.hpp"

#include "http/clock.hpp"
#include "http/server_state.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace svc::http {

namespace {

// What the kernel holds for a reader that does not read; more only delays finding out.
constexpr int send_buffer = 64 << 10;

}  // namespace

StreamConnection::StreamConnection(ServerState& server_state, Connection& connection)
    : server_state_(server_state), key_(connection.key()), connection_(&connection) {
    const int socket = connection.channel.socket();
    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
    // A peer that vanished without a word is found out when what was sent stays unconfirmed.
    const auto patience = static_cast<unsigned>(server_state.settings.write_deadline.count());
    setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
}

void StreamConnection::begin(std::string head) {
    std::lock_guard lock(mutex_);
    queue_.push_back({std::make_shared<const std::string>(std::move(head)), 0});
    backlog_ += queue_.back().bytes->size();
    send_queued();
}

bool StreamConnection::send(std::shared_ptr<const std::string> frame) {
    std::lock_guard lock(mutex_);
    if (state_ != State::open) return false;
    std::size_t sent = 0;
    if (queue_.empty()) {
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
    if (backlog_ + left > server_state_.settings.stream_backlog) {
        state_ = State::dropped;
        need_attention();
        return false;
    }
    backlog_ += left;
    queue_.push_back({std::move(frame), sent});
    if (!connection_->watches_writes) {
        connection_->watches_writes = true;
        server_state_.watch_writes(*connection_);
    }
    return true;
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
    std::size_t done = 0;
    for (Frame& each : queue_) {
        const auto moved = write_some(std::string_view(*each.bytes).substr(each.sent));
        if (moved == io::gone) {
            state_ = State::dropped;
            return;
        }
        each.sent += static_cast<std::size_t>(moved);
        backlog_ -= static_cast<std::size_t>(moved);
        if (each.sent < each.bytes->size()) break;
        ++done;
    }
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(done));
    if (queue_.empty() || connection_->watches_writes) return;
    connection_->watches_writes = true;
    server_state_.watch_writes(*connection_);
}

bool StreamConnection::flush() {
    std::lock_guard lock(mutex_);
    if (state_ == State::open || state_ == State::closing) send_queued();
    if (state_ == State::closing && queue_.empty()) return false;
    return state_ == State::open || state_ == State::closing;
}

std::ptrdiff_t StreamConnection::read(char* to, std::size_t size) {
    std::lock_guard lock(mutex_);
    return connection_->channel.read(to, size);
}

void StreamConnection::deliver(std::string_view bytes) {
    std::shared_ptr<const Receive> receive;
    {
        std::lock_guard lock(mutex_);
        if (state_ != State::open) return;
        receive = receive_;
    }
    if (receive) (*receive)(bytes);
}

void StreamConnection::on_bytes(std::function<void(std::string_view)> receive) {
    auto next = std::make_shared<const Receive>(std::move(receive));
    std::lock_guard lock(mutex_);
    receive_.swap(next);
}

void StreamConnection::on_end(std::function<void()> ended) {
    {
        std::lock_guard lock(mutex_);
        if (!end_reported_) {
            ended_ = std::move(ended);
            return;
        }
    }
    ended();
}

void StreamConnection::end() {
    std::function<void()> ended;
    std::shared_ptr<const Receive> receive;  // destroyed outside the lock
    {
        std::lock_guard lock(mutex_);
        if (state_ != State::dropped) state_ = State::over;
        connection_ = nullptr;
        queue_.clear();
        end_reported_ = true;
        ended.swap(ended_);
        receive.swap(receive_);
    }
    if (ended) ended();
}

void StreamConnection::close() {
    std::lock_guard lock(mutex_);
    if (state_ != State::open) return;
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
    server_state_.work_queue.look(key_);
    server_state_.wake();
}

}  // namespace svc::http
