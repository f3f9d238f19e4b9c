#pragma once

#include "modules/lib/http_client/answer_parser.hpp"
#include "modules/lib/http_client/http_loop.hpp"
#include "modules/lib/http_client/loop_socket.hpp"

namespace svc {

/// One request and its answer on their way: what of it is sent and read so far. The loop's alone.
class Exchange {
public:
    using Clock = std::chrono::steady_clock;

    Exchange(HttpLoop::Post what, HttpLoop::Done told, const HttpLoop::Settings& settings);

    enum class Next { read, write, over };
    /// Sends over the connection, from the beginning.
    void begin(std::unique_ptr<LoopSocket> socket, bool was_idle);
    /// Forgets the kept connection over which nothing came, for another: once.
    void start_over();
    /// Goes on as far as it goes; what it waits for then. The socket is there until it is over.
    Next go_on();

    /// Nothing came over a connection that had been kept: its server had closed it, as a rule, and
    /// the request may be sent once more over another.
    bool may_repeat() const { return was_idle_ && !answered_ && !error_.empty(); }
    /// The connection, when it is good for another request.
    std::unique_ptr<LoopSocket> reusable_socket();

    bool connected() const { return connected_; }
    void fail(const std::string& why) { error_ = why; }
    /// As it stands when its time is over.
    void end_of_time();
    HttpLoop::Outcome outcome() const;

    const HttpLoop::Post post;
    const HttpLoop::Done done;
    const Clock::time_point begun = Clock::now();
    std::vector<Poco::Net::IPAddress> addresses;  ///< still to be tried
    std::unique_ptr<LoopSocket> socket;
    /// When it ends by itself; connecting ends before, and so does what comes behind the head.
    Clock::time_point until() const;

private:
    Next wait_for(LoopSocket::Step step);
    Next read();

    const HttpLoop::Settings& settings_;
    const std::string head_;
    AnswerParser parser_{AnswerParser::Bounds{}};
    std::size_t sent_ = 0;  // of head and body
    bool connected_ = false, was_idle_ = false, answered_ = false;
    Clock::time_point dialled_ = begun;
    std::optional<Clock::time_point> body_until_;
    std::string error_;
};

}  // namespace svc
