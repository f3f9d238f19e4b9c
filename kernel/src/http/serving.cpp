#include "http/blocking_scope.hpp"
#include "http/clock.hpp"
#include "http/glimpse.hpp"

#include <utility>

/// From whole requests to answers.
namespace svc::http {

namespace {

// Up to this it is cheaper to copy a body behind its head than to send two pieces.
constexpr std::size_t small_body = 16 << 10;
constexpr std::size_t stream_read = 16 << 10;
// After so many reads of one stream the others get their turn.
constexpr int most_stream_reads = 16;

}  // namespace

LiveExchange& Worker::exchange() {
    if (!exchange_) exchange_ = &server_state_.exchanges.take();
    return *exchange_;
}

Outcome Worker::call_service(LiveExchange& x) {
    x.run();
    const BlockingScope away(*this);
    try {
        return server_state_.service.serve(x);
    } catch (...) {
        x.reset();
        x.answer = refusal({500, "Something went wrong here."}, x.request());
        return Outcome::answered;
    }
}

/// Serves the request that `x` holds; its answer is in `out_` or on its way.
Worker::Next Worker::answer_one(Connection& c, LiveExchange& x) {
    while (call_service(x) == Outcome::parked) {
        const Next next = park(c, x);
        if (next != Next::rest) return next;
    }
    x.give_room_back();
    if (x.stream && x.head.method != "HEAD") return begin_stream(c, x);
    return complete(c, x);
}

/// A whole request whose turn has come.
Worker::Next Worker::serve_waiting(Connection& c) {
    LiveExchange& x = exchange();
    c.phase = Phase::reading;
    server_state_.held.fetch_sub(c.unread(), std::memory_order_relaxed);
    c.assembler.step(c.in, c.begin, server_state_.limits, x.head);
    x.begin(c);
    const Next next = answer_one(c, x);
    if (next != Next::rest || c.phase != Phase::reading) return next;
    return converse(c);
}

/// Rests only when a resume has overtaken the park.
Worker::Next Worker::park(Connection& c, LiveExchange& x) {
    push(c);  // a peer that is gone will be noticed when it is resumed
    keep_input(c);
    c.phase = Phase::parked;
    c.assembler.step(c.in, c.begin, server_state_.limits, x.head);
    x.begin(c);
    server_state_.table.set_due(c, ConnectionTable::never);
    x.hold_room();  // what is parked is another's at once
    server_state_.parked.fetch_add(1, std::memory_order_relaxed);
    exchange_ = nullptr;
    if (x.park()) return Next::passed_on;
    server_state_.parked.fetch_sub(1, std::memory_order_relaxed);
    exchange_ = &x;
    c.phase = Phase::reading;
    return Next::rest;
}

Worker::Next Worker::resume(LiveExchange& x) {
    server_state_.parked.fetch_sub(1, std::memory_order_relaxed);
    if (exchange_) server_state_.exchanges.give_back(*exchange_);
    exchange_ = &x;
    Connection& c = x.connection();
    c.phase = Phase::reading;
    if (x.abandoned()) {  // what it waited for is for those who are still there
        x.give_room_back();
        x.reset();
        return close(c);
    }
    const Next next = answer_one(c, x);
    if (next != Next::rest || c.phase != Phase::reading) return next;
    return converse(c);
}

/// Puts what is small of a body behind its head, and gives what is not.
LargeBody Worker::take_body(Answer& answer) {
    if (answer.size() == 0) return {};
    if (answer.file) return {.file = std::move(answer.file)};
    if (answer.size() > small_body && !answer.shared_body) {
        answer.body += answer.tail;
        return {.text = std::make_shared<const std::string>(std::move(answer.body))};
    }
    out_ += answer.body;
    if (answer.size() > small_body)
        return {.text = std::move(answer.shared_body), .tail = std::move(answer.tail)};
    if (answer.shared_body) out_ += *answer.shared_body;
    out_ += answer.tail;
    return {};
}

Worker::Next Worker::complete(Connection& c, LiveExchange& x) {
    const bool stopping = server_state_.stopping.load(std::memory_order_relaxed);
    const bool cut_short = c.reception && c.reception->failure;
    if (stopping || cut_short || !x.head.keep_alive) c.closing = true;
    if (stopping || cut_short) c.lingers = true;
    const SendOptions options{
        .newer = x.head.newer,
        .head_only = x.head.method == "HEAD",
        .after = c.closing ? After::close : After::keep,
    };
    write_head(x.answer, options, out_);
    c.begin += static_cast<std::uint32_t>(c.assembler.size());
    c.assembler.reset();
    c.stage = Stage::fresh;
    c.reception.reset();
    LargeBody large;
    if (sends_body(x.answer, options)) large = take_body(x.answer);
    x.reset();
    return large ? send(c, std::move(large)) : Next::rest;
}

/// Too many wait: this one is told to come back.
Worker::Next Worker::decline(Connection& c, LiveExchange& x) {
    server_state_.refused.fetch_add(1, std::memory_order_relaxed);
    x.answer = refusal({503, "More requests are waiting than the server takes."}, x.request());
    return complete(c, x);
}

Answer Worker::refusal(const Refusal& why, const Request& seen) const {
    Answer answer;
    answer.status = why.status;
    try {
        server_state_.service.refuse(why, seen, answer);
    } catch (...) {
        answer = {.status = why.status};
    }
    if (why.status == 503) answer.headers.emplace_back("Retry-After", "1");
    return answer;
}

/// Answers what never became a request, and reads nothing more as one.
Worker::Next Worker::refuse(Connection& c, const Refusal& why) {
    server_state_.refused.fetch_add(1, std::memory_order_relaxed);
    const Glimpse seen(c.in.view().substr(c.begin));
    const auto answer = refusal(why, seen.request());
    write_head(answer, {.after = After::close}, out_);
    out_ += answer.body;
    c.closing = c.lingers = true;
    return send(c);
}

Worker::Next Worker::begin_stream(Connection& c, LiveExchange& x) {
    const auto started = std::move(x.stream);
    write_head(x.answer, {.newer = x.head.newer, .after = After::stream}, out_);
    c.begin += static_cast<std::uint32_t>(c.assembler.size());
    c.assembler.reset();
    x.reset();
    std::string head = std::exchange(out_, {});
    if (c.out) head.insert(0, std::string_view(c.out->bytes).substr(c.out->sent));
    c.out.reset();
    server_state_.table.set_due(c, ConnectionTable::never);
    server_state_.streams.fetch_add(1, std::memory_order_relaxed);
    c.phase = Phase::streaming;
    c.stream = std::make_shared<StreamConnection>(server_state_, c);
    c.stream->begin(std::move(head));
    call_back(*c.stream, [&] {
        started(c.stream);
        if (c.unread() > 0) c.stream->deliver(c.in.view().substr(c.begin));
    });
    c.begin = static_cast<std::uint32_t>(c.in.size());
    return pump(c);
}

/// Moves a stream's bytes both ways as far as they go.
Worker::Next Worker::pump(Connection& c) {
    if (role_ == Role::watcher) {
        server_state_.work_queue.go_on(c);
        server_state_.wake();
        return Next::passed_on;
    }
    if (server_state_.stopping.load(std::memory_order_acquire)) c.stream->end(StreamEnd::stopping);
    keep_input(c);
    lent_.reserve(stream_read);
    for (int reads = 0; reads < most_stream_reads; ++reads) {
        if (!c.stream->flush()) return end_stream(c);
        if (c.stream->has_drained()) call_back(*c.stream, [&] { c.stream->tell_drained(); });
        const auto came = c.stream->read(lent_.data(), lent_.capacity());
        if (came == io::gone) return end_stream(c);
        if (came == io::later) return Next::rest;
        const std::string_view bytes(lent_.data(), static_cast<std::size_t>(came));
        call_back(*c.stream, [&] { c.stream->deliver(bytes); });
    }
    return Next::later;
}

Worker::Next Worker::end_stream(Connection& c) {
    const auto stream = std::exchange(c.stream, nullptr);
    const bool dropped = stream->dropped();
    server_state_.streams.fetch_sub(1, std::memory_order_relaxed);
    call_back(*stream, [&] { stream->finish(); });
    if (dropped) c.channel.reset();
    if (dropped || c.ownership.hung_up()) return close(c);
    c.lingers = true;
    return finish(c);
}

}  // namespace svc::http
