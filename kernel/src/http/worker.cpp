#include "http/away.hpp"
#include "http/clock.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace svc::http {

Worker::Worker(Front& front, Role role) : front_(front), role_(role) {}

Worker::~Worker() {
    if (exchange_) front_.exchanges.give_back(*exchange_);
}

void Worker::run() {
    while (!front_.quitting.load(std::memory_order_acquire)) {
        if (!on_watch_ && !front_.crew.join_watch()) break;
        on_watch_ = true;
        const auto job = front_.jobs.take();
        if (job) {
            if (front_.jobs.any()) front_.ring();
            take_up(*job);
        }
        if (on_watch_) poll(job ? 0 : -1);
    }
    if (on_watch_) front_.crew.leave_watch();
    front_.ring();  // the next one hears of it as well
}

void Worker::watch(int most_events) {
    while (most_events-- > 0 && poll(0)) {
    }
    // A ring wakes one, and it was not meant for us.
    if (std::exchange(heard_bell_, false)) front_.ring();
}

bool Worker::poll(int timeout_ms) {
    epoll_event event{};
    if (epoll_wait(front_.epoll.get(), &event, 1, timeout_ms) != 1) return false;
    if (event.data.u64 == Front::bell_key) heard_bell_ = true;
    else if (event.data.u64 == Front::listener_key) accept_all();
    else look(event.data.u64, event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
    return true;
}

void Worker::look(std::uint64_t key, bool hung_up) {
    Connection& c = front_.table.at(static_cast<std::uint32_t>(key));
    if (c.turn.enter(static_cast<std::uint32_t>(key >> 32), hung_up)) drive(c, step(c));
}

void Worker::take_up(const Jobs::Job& job) {
    switch (job.kind) {
        case Jobs::Job::Kind::look: return look(job.key, false);
        case Jobs::Job::Kind::go_on: return drive(*job.connection, step(*job.connection));
        case Jobs::Job::Kind::resume: {
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
        if (c.turn.leave()) return;
        next = step(c);
    }
}

/// Leaves the turn and has somebody look again behind what waits already.
void Worker::come_back(Connection& c) {
    const auto key = c.key();
    while (!c.turn.leave()) {
    }
    front_.jobs.look(key);
    front_.ring();
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
            if (front_.stopping.load(std::memory_order_acquire)) return close(c);
            if (c.stage == Stage::fresh)
                front_.table.set_due(c, now_ms() + front_.settings.head_deadline.count());
            c.stage = Stage::head;
            return Next::rest;
        case Phase::reading:
            if (!front_.stopping.load(std::memory_order_acquire)) {
                set_reading_deadline(c);
                return Next::rest;
            }
            if (c.unread() == 0) return close(c);
            return refuse(c, {503, "The server is stopping."});
        case Phase::lingering:
            if (front_.stopping.load(std::memory_order_acquire)) hurry(c);
            return Next::rest;
        default: return Next::rest;
    }
}

void Worker::accept_all() {
    for (;;) {
        sockaddr_storage from{};
        socklen_t size = sizeof from;
        const int socket = accept4(
            front_.listener.get(),
            reinterpret_cast<sockaddr*>(&from),
            &size,
            SOCK_NONBLOCK | SOCK_CLOEXEC
        );
        if (socket < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            // No descriptor left: no edge will tell when there is one again.
            if (errno != EAGAIN && !front_.stopping) front_.accept_again = true;
            return;
        }
        front_.accepted.fetch_add(1, std::memory_order_relaxed);
        if (!admit(socket, Address(reinterpret_cast<const sockaddr&>(from)))) turn_away(socket);
    }
}

bool Worker::admit(int socket, const Address& peer) {
    Connection* c = front_.table.take();
    if (!c) return false;
    const auto tls = front_.tls.load();
    c->channel.open(socket, tls ? std::make_unique<Tls>(*tls, socket) : nullptr);
    c->phase = tls ? Phase::handshake : Phase::reading;
    c->stage = Stage::fresh;
    c->begin = 0;
    c->closing = c->lingers = false;
    c->watches_writes = c->channel.secure();  // a handshake may have to wait for that
    c->trusted_peer = front_.proxies.trusts(peer);
    const auto text = peer.str();
    c->peer_size = static_cast<std::uint8_t>(text.copy(c->peer_text.data(), c->peer_text.size()));
    epoll_event event{
        .events = EPOLLIN | EPOLLRDHUP | EPOLLET | (c->watches_writes ? EPOLLOUT : 0u),
        .data = {.u64 = c->key()},
    };
    if (epoll_ctl(front_.epoll.get(), EPOLL_CTL_ADD, socket, &event) != 0) {
        close(*c);
        return true;
    }
    drive(*c, Next::rest);
    return true;
}

/// Somebody speaks HTTP where TLS is spoken.
void Worker::answer_plain(int socket) {
    front_.refused.fetch_add(1, std::memory_order_relaxed);
    send_refusal(socket, {400, "This port speaks TLS: the address begins with https://."});
    shutdown(socket, SHUT_WR);
    // What is left unread when the socket is closed would have the answer thrown away.
    std::array<char, 4096> unread;
    for (int pieces = 0; pieces < 8; ++pieces)
        if (recv(socket, unread.data(), unread.size(), MSG_DONTWAIT) <= 0) break;
}

/// An answer as good as can be given without reading.
void Worker::send_refusal(int socket, const Refusal& why) {
    const auto answer = refusal(why);
    std::string text;
    write_head(answer, {.after = After::close}, text);
    text += answer.body;
    ::send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/// More connections than may be: nobody is let in.
void Worker::turn_away(int socket) {
    front_.refused.fetch_add(1, std::memory_order_relaxed);
    if (!front_.tls.load())
        send_refusal(socket, {503, "The server has as many connections as it takes."});
    ::close(socket);
}

void Worker::expire(Connection& c, std::int64_t now) {
    if (!c.turn.enter(c.turn.generation(), false)) return;
    const auto due = front_.table.due(c);
    if (due == Table::never || due > now) return drive(c, Next::rest);  // moved on meanwhile
    front_.table.set_due(c, Table::never);
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
        front_.streams.fetch_sub(1, std::memory_order_relaxed);
        call_back(*c.stream, [&] { c.stream->end(); });
    }
    c.channel.reset();
    close(c);
}

}  // namespace svc::http
