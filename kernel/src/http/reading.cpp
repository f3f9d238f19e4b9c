#include "http/blocking_scope.hpp"
#include "http/clock.hpp"

#include <utility>

/// From bytes to whole requests.
namespace svc::http {

namespace {

constexpr std::size_t lent_size = 64 << 10;
constexpr std::size_t smallest_input = 4 << 10;
// After so many reads the others get their turn.
constexpr int most_reads = 16;
// Answers to pipelined requests gather up to this before they are sent.
constexpr std::size_t most_gathered = 64 << 10;

}  // namespace

Worker::Next Worker::converse(Connection& c) {
    bool drained = false;
    for (int read = 0; read < most_reads; ++read) {
        if (c.unread() > 0 || !out_.empty()) {
            const Next next = answer_all(c);
            if (next != Next::rest || c.phase != Phase::reading) return next;
        }
        if (drained) return Next::rest;
        const auto came = fill(c, drained);
        if (came == io::gone) return close(c);
        if (came == io::later) return Next::rest;
    }
    if (c.unread() > 0) {
        const Next next = answer_all(c);
        if (next != Next::rest || c.phase != Phase::reading) return next;
    }
    return Next::later;
}

/// Answers the requests that are whole, and sends the answers.
Worker::Next Worker::answer_all(Connection& c) {
    while (c.unread() > 0 && !c.closing) {
        LiveExchange& x = exchange();
        const auto state = c.assembler.step(c.in, c.begin, server_state_.limits, x.head);
        if (state == RequestAssembler::State::refused) return refuse(c, c.assembler.refusal());
        if (state == RequestAssembler::State::part) {
            const Next next = take_in(c, x);
            if (next != Next::rest) return next;
            if (c.assembler.body_size() == 0) continue;
        }
        if (state != RequestAssembler::State::whole) {
            if (c.assembler.take_expectation(c.unread())) out_ += "HTTP/1.1 100 Continue\r\n\r\n";
            break;
        }
        x.begin(c);
        // Who waits already goes first.
        const bool taken = role_ == Role::watcher || server_state_.work_queue.waiting() > 0;
        const Next next = !taken               ? answer_one(c, x)
                          : answers_at_once(x) ? complete(c, x)
                                               : pass_on(c);
        if (next != Next::rest || c.phase != Phase::reading) return next;
        if (out_.size() < most_gathered) continue;
        const Next sent = send(c);
        if (sent != Next::rest || c.phase != Phase::reading) return sent;
    }
    return send(c);
}

bool Worker::answers_at_once(LiveExchange& x) {
    try {
        return server_state_.service.serve_at_once(x);
    } catch (...) {
        x.reset();
        return false;
    }
}

/// A whole request for which no worker is free now.
Worker::Next Worker::pass_on(Connection& c) {
    if (!out_.empty()) {
        const Next next = send(c);
        if (next != Next::rest || c.phase != Phase::reading) return next;
    }
    keep_input(c);
    server_state_.table.set_due(c, ConnectionTable::never);
    c.stage = Stage::fresh;
    const auto held = c.unread();
    const bool room = server_state_.has_room(held);
    if (room) server_state_.held.fetch_add(held, std::memory_order_relaxed);
    if (room && server_state_.work_queue.wait(c)) {
        server_state_.wake();
        return Next::passed_on;
    }
    if (room) server_state_.held.fetch_sub(held, std::memory_order_relaxed);
    LiveExchange& x = exchange();
    c.assembler.step(c.in, c.begin, server_state_.limits, x.head);
    return decline(c, x);
}

/// Gives what is here of a body to whoever takes it. What they throw is for the answer to say, and
/// nothing more is read as a request behind a body that was cut short.
Worker::Next Worker::take_in(Connection& c, LiveExchange& x) {
    if (role_ == Role::watcher) {
        const Next next = send(c);
        if (next != Next::rest || c.phase != Phase::reading) return next;
        keep_input(c);
        server_state_.work_queue.go_on(c);
        server_state_.wake();
        return Next::passed_on;
    }
    const BlockingScope away(*this);
    try {
        if (!c.reception) {
            c.reception = std::make_unique<Reception>();
            x.begin(c);
            c.reception->sink = server_state_.service.receive(x.request());
        }
        const auto part = c.assembler.part(c.in, c.begin);
        if (c.reception->sink) c.reception->sink->take(part);
        c.assembler.took(part.size());
        c.in.drop(c.begin + c.assembler.head_size(), part.size());
    } catch (...) {
        c.reception->failure = std::current_exception();
        c.assembler.cut_short();
    }
    return Next::rest;
}

/// Reads once. `drained` when there is surely nothing more for now.
std::ptrdiff_t Worker::fill(Connection& c, bool& drained) {
    if (c.in.capacity() == 0) {
        lent_.reserve(lent_size);
        c.in.swap(lent_);
        borrower_ = &c;
    }
    if (c.begin > 0) {
        c.in.drop_front(c.begin);
        c.begin = 0;
    }
    if (c.in.room() < smallest_input)
        c.in.reserve(c.reception ? lent_size : 2 * c.in.size() + smallest_input);
    const auto room = c.in.room();
    const auto came = c.channel.read(c.in.tail(), room);
    if (came <= 0) return came;
    c.in.grew(static_cast<std::size_t>(came));
    // The next byte would be a new edge. An end of the peer's side may have come with this one,
    // though, and TLS may hold back more.
    drained =
        static_cast<std::size_t>(came) < room && !c.ownership.hung_up() && !c.channel.secure();
    return came;
}

/// Leaves the connection with as much memory as it needs, which is mostly none.
void Worker::keep_input(Connection& c) {
    if (c.begin > 0) {
        c.in.drop_front(c.begin);
        c.begin = 0;
    }
    if (borrower_ != &c) {
        if (c.in.empty()) c.in.free();
        return;
    }
    borrower_ = nullptr;
    if (c.in.capacity() > lent_size) {  // it has grown: let the connection have it
        if (c.in.empty()) c.in.free();
        return;
    }
    Buffer own;
    if (!c.in.empty()) own.append(c.in.view());
    c.in.clear();
    c.in.swap(lent_);
    c.in.swap(own);
}

void Worker::set_reading_deadline(Connection& c) {
    const auto stage = c.unread() == 0           ? Stage::idle
                       : c.assembler.head_done() ? Stage::body
                                                 : Stage::head;
    if (stage == c.stage) return;
    c.stage = stage;
    const auto& settings = server_state_.settings;
    auto patience = stage == Stage::idle   ? settings.idle_deadline
                    : stage == Stage::head ? settings.head_deadline
                                           : settings.body_deadline;
    if (stage == Stage::body && c.assembler.passes_on())
        patience += std::chrono::seconds(c.assembler.announced() / settings.slowest_body);
    server_state_.table.set_due(c, now_ms() + patience.count());
}

}  // namespace svc::http
