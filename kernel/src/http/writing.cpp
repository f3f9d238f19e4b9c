#include "http/clock.hpp"
#include "http/worker.hpp"

#include <utility>

/// From answers to bytes on the wire, and the end of a connection.
namespace svc::http {

namespace {

// A peer that goes on sending after it was refused is heard out while it sends, but not for ever:
// it may look for the answer only when all of its body is gone.
constexpr std::int64_t linger_ms = 2000;  // since it last sent something
constexpr std::int64_t longest_linger_ms = 30'000;
constexpr std::int64_t linger_while_stopping_ms = 300;
constexpr std::size_t most_discarded_at_once = 1 << 20;
constexpr std::size_t most_kept = 256 << 10;

/// What is to be sent: text, and behind it more of it or a file.
struct Pieces {
    std::string_view head;
    const LargeBody& body;

    std::uint64_t size() const {
        if (body.file) return head.size() + body.file->size();
        return head.size() + (body.text ? body.text->size() : 0) + body.tail.size();
    }
    /// Writes something of what is behind the first `sent` bytes.
    std::ptrdiff_t write(Socket& channel, std::uint64_t sent) const {
        Socket::Texts texts{head, body.text ? std::string_view(*body.text) : "", body.tail};
        for (auto& each : texts) {
            const auto before = std::min<std::uint64_t>(sent, each.size());
            each.remove_prefix(before);
            sent -= before;
        }
        if (!body.file || !texts.front().empty()) return channel.write(texts);
        const auto& file = *body.file;
        const auto left = static_cast<std::size_t>(file.size() - sent);
        return channel.write(file.descriptor(), file.offset() + sent, left);
    }
};

/// Writes until the peer takes no more, counting in `sent`; false when the connection broke.
bool write_from(Socket& channel, const Pieces& pieces, std::uint64_t& sent) {
    while (sent < pieces.size()) {
        const auto moved = pieces.write(channel, sent);
        if (moved == io::gone) return false;
        if (moved == io::later) break;
        sent += static_cast<std::uint64_t>(moved);
    }
    return true;
}

}  // namespace

/// Sends `out_` and `body` behind whatever still waits. What the peer does not take stays with
/// the connection; `out_` is empty afterwards.
Worker::Pushed Worker::push(Connection& c, LargeBody body) {
    if (c.out) {
        c.out->due += milliseconds_for(out_.size() + Pieces{{}, body}.size());
        c.out->bytes += out_;
        c.out->body = std::move(body);
        out_.clear();
        return push_pending(c);
    }
    const Pieces pieces{out_, body};
    std::uint64_t sent = 0;
    const bool stands = write_from(c.channel, pieces, sent);
    if (!stands || sent == pieces.size()) {
        out_.clear();
        if (out_.capacity() > most_kept) out_.shrink_to_fit();
        return stands ? Pushed::all : Pushed::gone;
    }
    const auto patience = server_state_.settings.write_deadline.count();
    const auto due = now_ms() + patience + milliseconds_for(pieces.size() - sent);
    c.out = std::make_unique<Pending>(Pending{std::exchange(out_, {}), std::move(body), sent});
    c.out->due = due;
    if (!std::exchange(c.watches_writes, true)) server_state_.watch_writes(c);
    return Pushed::some;
}

Worker::Pushed Worker::push_pending(Connection& c) {
    Pending& pending = *c.out;
    const Pieces pieces{pending.bytes, pending.body};
    if (!write_from(c.channel, pieces, pending.sent)) return Pushed::gone;
    if (pending.sent < pieces.size()) return Pushed::some;
    c.out.reset();
    return Pushed::all;
}

Worker::Next Worker::send(Connection& c, LargeBody body) {
    switch (push(c, std::move(body))) {
        case Pushed::gone: return close(c);
        case Pushed::some:
            c.phase = Phase::writing;
            await_reader(c);
            return Next::rest;
        case Pushed::all: break;
    }
    return c.closing ? finish(c) : Next::rest;
}

void Worker::await_reader(Connection& c) {
    c.out->untaken = c.channel.untaken();
    const auto soon = now_ms() + server_state_.settings.write_deadline.count();
    server_state_.table.set_due(c, std::min(soon, c.out->due));
}

/// How long the slowest reader that is borne with takes for so many bytes.
std::int64_t Worker::milliseconds_for(std::uint64_t bytes) const {
    return static_cast<std::int64_t>(bytes * 1000 / server_state_.settings.slowest_reader);
}

/// The peer did not take enough for more to be sent. One that takes a little has more time, as long
/// as all of it is taken in time.
Worker::Next Worker::give_up_reader(Connection& c) {
    if (c.channel.untaken() < c.out->untaken && now_ms() < c.out->due) {
        await_reader(c);
        return Next::rest;
    }
    c.channel.reset();
    return close(c);
}

/// The peer may take more of what waits.
Worker::Next Worker::drain(Connection& c) {
    const auto before = c.out->sent;
    switch (push_pending(c)) {
        case Pushed::gone: return close(c);
        case Pushed::some:
            if (c.out->sent > before) await_reader(c);
            return Next::rest;
        case Pushed::all: break;
    }
    if (c.closing) return finish(c);
    c.phase = Phase::reading;
    c.stage = Stage::fresh;
    return converse(c);
}

/// All is said. Closing with bytes unread would reset the connection, and the peer might lose
/// the answer: so one that may still be sending is heard out first.
Worker::Next Worker::finish(Connection& c) {
    if (!c.lingers && c.unread() == 0) {
        const auto more = c.channel.discard();
        if (more <= 0) {
            c.channel.end_writing();
            return close(c);
        }
    }
    c.channel.end_writing();
    c.begin = static_cast<std::uint32_t>(c.in.size());
    c.phase = Phase::lingering;
    const auto now = now_ms();
    c.heard_out_by = now + longest_linger_ms;
    server_state_.table.set_due(c, now + linger_ms);
    return linger(c);
}

/// Somebody waits for the end of all connections.
void Worker::hurry(Connection& c) {
    c.heard_out_by = std::min(c.heard_out_by, now_ms() + linger_while_stopping_ms);
    server_state_.table.set_due(c, std::min(c.heard_out_by, server_state_.table.due(c)));
}

Worker::Next Worker::linger(Connection& c) {
    for (std::size_t discarded = 0; discarded < most_discarded_at_once;) {
        const auto came = c.channel.discard();
        if (came == io::gone) return close(c);
        if (came == io::later) return Next::rest;
        discarded += static_cast<std::size_t>(came);
        server_state_.table.set_due(c, std::min(now_ms() + linger_ms, c.heard_out_by));
    }
    return Next::later;
}

Worker::Next Worker::close(Connection& c) {
    c.begin = static_cast<std::uint32_t>(c.in.size());
    keep_input(c);
    c.in.free();
    c.out.reset();
    c.stream.reset();
    c.reception.reset();
    c.assembler.reset();
    c.channel.close();
    out_.clear();
    server_state_.table.give_back(c);
    return Next::gone;
}

}  // namespace svc::http
