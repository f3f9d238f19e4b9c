#include "http/blocking_scope.hpp"
#include "http/clock.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace svc::http {

Worker::Worker(ServerState& server_state, Role role) : server_state_(server_state), role_(role) {}

Worker::~Worker() {
    if (exchange_) server_state_.exchanges.give_back(*exchange_);
}

void Worker::run() {
    while (!server_state_.quitting.load(std::memory_order_acquire)) {
        if (!on_watch_ && !server_state_.polling_pool.join_watch()) break;
        on_watch_ = true;
        const auto job = server_state_.work_queue.take();
        if (job) {
            if (server_state_.work_queue.any()) server_state_.wake();
            take_up(*job);
        }
        if (on_watch_) poll(job ? 0 : -1);
    }
    if (on_watch_) server_state_.polling_pool.leave_watch();
    server_state_.wake();  // the next one hears of it as well
}

void Worker::watch(int most_events) {
    while (most_events-- > 0 && poll(0)) {
    }
    // A ring wakes one, and it was not meant for us.
    if (std::exchange(woken_, false)) server_state_.wake();
}

bool Worker::poll(int timeout_ms) {
    epoll_event event{};
    if (epoll_wait(server_state_.epoll.get(), &event, 1, timeout_ms) != 1) return false;
    if (event.data.u64 == ServerState::wakeup_key) woken_ = true;
    else if (event.data.u64 == ServerState::listener_key) accept_all();
    else look(event.data.u64, event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
    return true;
}

void Worker::look(std::uint64_t key, bool hung_up) {
    Connection& c = server_state_.table.at(static_cast<std::uint32_t>(key));
    if (c.ownership.enter(static_cast<std::uint32_t>(key >> 32), hung_up)) drive(c, step(c));
}

void Worker::take_up(const WorkQueue::Job& job) {
    switch (job.kind) {
        case WorkQueue::Job::Kind::look: return look(job.key, false);
        case WorkQueue::Job::Kind::go_on: return drive(*job.connection, step(*job.connection));
        case WorkQueue::Job::Kind::resume: {
            Connection& c = job.exchange->connection();
            return drive(c, resume(*job.exchange));
        }
    }
}

void Worker::drive(Connection& c, Next next) {
    for (;;) {
        const bool more = next == Next::later;
        if (next == Next::rest || more) next = settle(c);
        if (next != Next::rest) return;
        if (more) return come_back(c);
        if (c.ownership.leave()) return;
        next = step(c);
    }
}

/// Leaves the turn and has somebody look again behind what waits already.
void Worker::come_back(Connection& c) {
    const auto key = c.key();
    while (!c.ownership.leave()) {
    }
    server_state_.work_queue.look(key);
    server_state_.wake();
}

Worker::Next Worker::step(Connection& c) {
    switch (c.phase) {
        case Phase::handshake: {
            const auto done = c.channel.handshake();
            if (done == io::later) return Next::rest;
            if (done == io::gone && c.channel.met_plain_http()) answer_plain(c.channel.socket());
            if (done == io::gone) return close(c);
            c.phase = Phase::reading;
            c.stage = Stage::fresh;
            return converse(c);
        }
        case Phase::waiting: return serve_waiting(c);
        case Phase::reading: return converse(c);
        case Phase::writing: return drain(c);
        case Phase::lingering: return linger(c);
        case Phase::streaming: return pump(c);
        case Phase::parked: break;  // has no turn to give
    }
    return Next::rest;
}

/// Before the turn is left: gives back what was lent and starts the clock.
Worker::Next Worker::settle(Connection& c) {
    keep_input(c);
    switch (c.phase) {
        case Phase::handshake:
            if (server_state_.stopping.load(std::memory_order_acquire)) return close(c);
            if (c.stage == Stage::fresh)
                server_state_.table.set_due(
                    c, now_ms() + server_state_.settings.head_deadline.count()
                );
            c.stage = Stage::head;
            return Next::rest;
        case Phase::reading:
            if (!server_state_.stopping.load(std::memory_order_acquire)) {
                set_reading_deadline(c);
                return Next::rest;
            }
            if (c.unread() == 0) return close(c);
            return refuse(c, {503, "The server is stopping."});
        case Phase::lingering:
            if (server_state_.stopping.load(std::memory_order_acquire)) hurry(c);
            return Next::rest;
        default: return Next::rest;
    }
}

/// What those who come have sent already is served when all are let in: of several who come at once
/// one edge tells, so while a handler ran nobody would hear of the others.
void Worker::accept_all() {
    Connection* heard = nullptr;
    for (;;) {
        sockaddr_storage from{};
        socklen_t size = sizeof from;
        const int socket = accept4(
            server_state_.listener.get(),
            reinterpret_cast<sockaddr*>(&from),
            &size,
            SOCK_NONBLOCK | SOCK_CLOEXEC
        );
        if (socket < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            // No descriptor left: no edge will tell when there is one again.
            if (errno != EAGAIN && !server_state_.stopping) server_state_.accept_again = true;
            break;
        }
        server_state_.accepted.fetch_add(1, std::memory_order_relaxed);
        Connection* c = server_state_.table.take();
        if (!c) refuse_socket(socket);
        else if (admit(*c, socket, Address(reinterpret_cast<const sockaddr&>(from)))) {
            if (heard) come_back(*heard);
            heard = c;
        }
    }
    if (heard) drive(*heard, step(*heard));
}

/// True when something came of it meanwhile: the turn is still held.
bool Worker::admit(Connection& c, int socket, const Address& peer) {
    const auto tls = server_state_.tls.get();
    c.channel.open(socket, tls ? std::make_unique<Tls>(*tls, socket) : nullptr);
    c.phase = tls ? Phase::handshake : Phase::reading;
    c.stage = Stage::fresh;
    c.begin = 0;
    c.closing = c.lingers = false;
    c.watches_writes = c.channel.secure();  // a handshake may have to wait for that
    c.trusted_peer = server_state_.proxies.trusts(peer);
    c.peer = peer;
    epoll_event event{
        .events = EPOLLIN | EPOLLRDHUP | EPOLLET | (c.watches_writes ? EPOLLOUT : 0u),
        .data = {.u64 = c.key()},
    };
    if (epoll_ctl(server_state_.epoll.get(), EPOLL_CTL_ADD, socket, &event) != 0) {
        close(c);
        return false;
    }
    return settle(c) == Next::rest && !c.ownership.leave();
}

/// Somebody speaks HTTP where TLS is spoken.
void Worker::answer_plain(int socket) {
    server_state_.refused.fetch_add(1, std::memory_order_relaxed);
    send_refusal(socket, {400, "This port speaks TLS: the address begins with https://."});
    shutdown(socket, SHUT_WR);
    // What is left unread when the socket is closed would have the answer thrown away.
    std::array<char, 4096> unread;
    for (int pieces = 0; pieces < 8; ++pieces)
        if (recv(socket, unread.data(), unread.size(), MSG_DONTWAIT) <= 0) break;
}

/// An answer as good as can be given without reading.
void Worker::send_refusal(int socket, const Refusal& why) {
    const auto answer = refusal(why, {});
    std::string text;
    write_head(answer, {.after = After::close}, text);
    text += answer.body;
    ::send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/// More connections than may be: nobody is let in.
void Worker::refuse_socket(int socket) {
    server_state_.refused.fetch_add(1, std::memory_order_relaxed);
    if (!server_state_.tls.get())
        send_refusal(socket, {503, "The server has as many connections as it takes."});
    ::close(socket);
}

void Worker::expire(Connection& c, std::int64_t now) {
    if (!c.ownership.enter(c.ownership.generation(), false)) return;
    const auto due = server_state_.table.due(c);
    if (due == ConnectionTable::never || due > now)
        return drive(c, Next::rest);  // moved on meanwhile
    server_state_.table.set_due(c, ConnectionTable::never);
    switch (c.phase) {
        case Phase::reading:
            if (c.unread() == 0) return drive(c, close(c));
            return drive(c, refuse(c, {408, "The request took too long to come in."}));
        case Phase::streaming: c.stream->drop(); return drive(c, pump(c));
        case Phase::writing: return drive(c, give_up_reader(c));
        default: return drive(c, close(c));
    }
}

void Worker::abandon(Connection& c) {
    if (c.channel.socket() < 0) return;
    if (c.stream) {
        server_state_.streams.fetch_sub(1, std::memory_order_relaxed);
        call_back(*c.stream, [&] { c.stream->finish(); });
    }
    c.channel.reset();
    close(c);
}

}  // namespace svc::http
