#include "modules/lib/http_client/exchange.hpp"

#include <algorithm>

namespace svc {

namespace {

std::string head_of(const HttpLoop::Post& post) {
    require_lines(post.to, post.headers);
    std::string head =
        "POST " + post.to.target + " HTTP/1.1\r\nHost: " + post.to.authority() +
        "\r\nUser-Agent: workboard\r\nContent-Length: " + std::to_string(post.body->size()) +
        "\r\n";
    for (const auto& [name, value] : post.headers) head += name + ": " + value + "\r\n";
    return head += "\r\n";
}

}  // namespace

Exchange::Exchange(HttpLoop::Post what, HttpLoop::Done told, const HttpLoop::Settings& settings)
    : post(std::move(what)), done(std::move(told)), settings_(settings), head_(head_of(post)) {}

void Exchange::begin(std::unique_ptr<LoopSocket> over, bool was_idle) {
    socket = std::move(over);
    connected_ = was_idle_ = was_idle;
    sent_ = 0;
    error_.clear();
    parser_ = AnswerParser{AnswerParser::Bounds{}};
    socket->begin_exchange();
}

void Exchange::start_over() {
    socket.reset();
    connected_ = was_idle_ = false;
    error_.clear();
    dialled_ = Clock::now();
}

Exchange::Clock::time_point Exchange::until() const {
    if (body_until_) return *body_until_;
    const auto end = begun + settings_.time;
    return connected_ ? end : std::min(end, dialled_ + settings_.connect_time);
}

Exchange::Next Exchange::wait_for(LoopSocket::Step step) {
    if (step == LoopSocket::Step::wait_read) return Next::read;
    if (step == LoopSocket::Step::wait_write) return Next::write;
    error_ = step == LoopSocket::Step::closed ? "the connection was closed" : socket->error();
    return Next::over;
}

Exchange::Next Exchange::go_on() {
    socket->begin_turn();
    if (!connected_) {
        const auto step = socket->connect();
        if (step != LoopSocket::Step::done) return wait_for(step);
        connected_ = true;
    }
    while (sent_ < head_.size() + post.body->size()) {
        const bool in_head = sent_ < head_.size();
        const std::string_view left =
            in_head ? std::string_view(head_).substr(sent_)
                    : std::string_view(*post.body).substr(sent_ - head_.size());
        std::size_t written = 0;
        const auto step = socket->write(left, written);
        // Whoever answers before the end of a request and closes has answered.
        if (step == LoopSocket::Step::failed || step == LoopSocket::Step::closed) {
            wait_for(step);
            const std::string why = error_;
            if (read() == Next::over && error_.empty()) return Next::over;
            error_ = why;
            return Next::over;
        }
        if (step != LoopSocket::Step::done) return wait_for(step);
        sent_ += written;
    }
    return read();
}

Exchange::Next Exchange::read() {
    using State = AnswerParser::State;
    for (;;) {
        std::string bytes;
        const auto step = socket->read(bytes);
        const bool ended = step == LoopSocket::Step::closed || step == LoopSocket::Step::failed;
        if (!ended && step != LoopSocket::Step::done) return wait_for(step);
        answered_ |= !bytes.empty();
        const State state = ended ? parser_.end() : parser_.read(bytes);
        if (state == State::done) return error_.clear(), Next::over;
        if (state == State::invalid) {
            if (ended && !answered_) return wait_for(step);
            error_ = ended ? "the answer broke off" : "this is no HTTP answer";
            return Next::over;
        }
        if (state == State::body && !body_until_)
            body_until_ = std::min(Clock::now() + settings_.body_time, begun + settings_.time);
    }
}

std::unique_ptr<LoopSocket> Exchange::reusable_socket() {
    return error_.empty() && parser_.reusable() && sent_ == head_.size() + post.body->size()
               ? std::move(socket)
               : nullptr;
}

void Exchange::end_of_time() {
    if (parser_.state() != AnswerParser::State::body)
        error_ = connected_ ? "no answer in time" : "no connection in time";
}

HttpLoop::Outcome Exchange::outcome() const {
    using std::chrono::milliseconds;
    return {
        .status = error_.empty() ? parser_.status() : 0,
        .error = error_,
        .body = error_.empty() ? parser_.body() : std::string(),
        .retry_after = parser_.retry_after(),
        .took = std::chrono::duration_cast<milliseconds>(Clock::now() - begun),
    };
}

}  // namespace svc
