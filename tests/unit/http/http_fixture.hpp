#pragma once

#include "http/server.hpp"
#include "tests/unit/http/client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace svc::http::test {

/// What a test hears of a stream.
struct Listener final : StreamUser {
    std::function<void(std::string_view)> on_bytes = [](std::string_view) {};
    std::function<void()> on_drained = [] {}, on_end = [] {};
    std::function<std::shared_ptr<const std::string>(StreamEnd)> on_last = [](StreamEnd) {
        return nullptr;
    };

    void receive(std::string_view bytes) override { on_bytes(bytes); }
    void drained() override { on_drained(); }
    void ended() override { on_end(); }
    std::shared_ptr<const std::string> last_frame(StreamEnd why) const override {
        return on_last(why);
    }
};
inline void on_bytes(Stream& stream, std::function<void(std::string_view)> receive) {
    auto listener = std::make_shared<Listener>();
    listener->on_bytes = std::move(receive);
    stream.use(std::move(listener));
}
inline void on_end(Stream& stream, std::function<void()> ended) {
    auto listener = std::make_shared<Listener>();
    listener->on_end = std::move(ended);
    stream.use(std::move(listener));
}

/// Counts what it is given; a body that says "stop" is refused there.
class Counting final : public BodySink {
public:
    explicit Counting(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
    ~Counting() override { --alive_; }
    void take(std::string_view bytes) override {
        largest = std::max(largest, bytes.size());
        text += bytes;
        if (text.ends_with("stop")) throw std::runtime_error("enough");
    }
    std::string text;
    std::size_t largest = 0;

private:
    std::atomic<int>& alive_;
};

/// What the tests ask of the front end: one small function per path.
class Responder final : public Service {
public:
    static constexpr std::size_t most_body = 1000;
    static constexpr std::string_view large_path = "/large-echo";
    static constexpr std::string_view at_once_path = "/at-once";
    static constexpr std::size_t most_large_body = 4 << 20;

    Outcome serve(Exchange& x) override {
        served_.fetch_add(1);
        const Request& r = x.request();
        Answer& answer = x.answer;
        answer.content_type = "text/plain";
        if (r.path == "/echo" || r.path == large_path) answer.body = r.body;
        else if (r.path == "/whence")
            answer.body = std::string(r.client_address) + (r.secure ? " secure" : " plain");
        else if (r.path == "/target")
            answer.body = std::string(r.path) + "|" + std::string(r.query);
        else if (r.path == "/header") answer.body = r.header("x-test");
        else if (r.path == "/list") answer.body = r.header("accept");
        else if (r.path == "/empty") answer.status = 204;
        else if (r.path == "/pieces") return tell_of_pieces(x);
        else if (r.path == "/file") answer.file = file;
        else if (r.path == "/big") answer.body.assign(std::stoul(std::string(r.query)), 'x');
        else if (r.path == "/shared") answer.shared_body = shared;
        else if (r.path == "/framed") {
            answer.body = std::string(std::stoul(std::string(r.query)), '<');
            answer.shared_body = std::make_shared<const std::string>(r.header("x-test"));
            if (answer.shared_body->empty()) answer.shared_body = shared;
            answer.tail = ">>";
        }
        else if (r.path == "/sleep")
            std::this_thread::sleep_for(std::chrono::milliseconds(std::stol(std::string(r.query))));
        else if (r.path == "/held") held_.wait(true);
        else if (r.path == "/throw") throw std::runtime_error("a secret");
        else if (r.path == "/inject") answer.headers.emplace_back("X-Name", "a\r\nX-Evil: b");
        else if (r.path == "/park") return park(x);
        else if (r.path == "/park-for-ever") return park_for_ever(x);
        else if (r.path == "/resumed-at-once") return resumed_at_once(x);
        else if (r.path == "/stream") x.stream = [this](auto stream) { began(std::move(stream)); };
        else if (r.path == "/switch") {
            answer.status = 101;
            answer.headers.emplace_back("Upgrade", "test");
            x.stream = [this](auto stream) { began(std::move(stream)); };
        } else answer.body = "hello";
        return Outcome::answered;
    }

    bool serve_at_once(Exchange& x) override {
        if (x.request().path != at_once_path) return false;
        x.answer.body = "at once";
        return true;
    }
    BodyRules body_rules(std::string_view, std::string_view path) const override {
        const bool in_pieces = path == "/pieces";
        return {in_pieces || path == large_path ? most_large_body : most_body, in_pieces};
    }
    std::unique_ptr<BodySink> receive(const Request& head) override {
        if (head.query == "no") throw std::runtime_error("not you");
        return std::make_unique<Counting>(sinks);
    }
    void refuse(const Refusal& why, const Request& seen, Answer& answer) const override {
        answer.status = why.status;
        answer.content_type = "text/plain";
        answer.body = why.reason;
        if (seen.has("x-test")) answer.headers.emplace_back("X-Seen", seen.header("x-test"));
        if (!seen.path.empty()) answer.headers.emplace_back("X-Path", seen.path);
    }

    /// Resumes whoever is parked, and says how many that were.
    std::size_t wake_all() {
        std::vector<Exchange*> all;
        {
            std::lock_guard lock(mutex_);
            all.swap(parked_);
        }
        for (Exchange* each : all) each->resume();
        return all.size();
    }
    /// Requests to "/held" are answered from now on, and none is before.
    void let_go() {
        held_ = false;
        held_.notify_all();
    }
    bool any_abandoned() {
        std::lock_guard lock(mutex_);
        for (Exchange* each : parked_)
            if (each->abandoned()) return true;
        return false;
    }
    std::shared_ptr<Stream> last_stream() {
        std::lock_guard lock(mutex_);
        return stream_;
    }
    int served() const { return served_.load(); }

    /// Told of a stream before anything else is done with it.
    std::function<void(const std::shared_ptr<Stream>&)> on_stream;
    std::atomic<int> sinks{0};  ///< that are alive
    std::atomic<int> kept{0};   ///< likewise, by requests that are parked for ever
    std::shared_ptr<const FileBody> file;
    std::shared_ptr<const std::string> shared = std::make_shared<const std::string>(300'000, 's');
    std::atomic<bool> parks{true};  ///< false: a resumed exchange is answered, parked or not

private:
    static Outcome tell_of_pieces(Exchange& x) {
        if (x.sink_failure) {
            x.answer.status = 422;
            x.answer.body = "refused";
        } else if (const auto* sink = static_cast<Counting*>(x.sink)) {
            x.answer.headers.emplace_back("X-Largest", std::to_string(sink->largest));
            x.answer.headers.emplace_back("X-Left", std::to_string(x.request().body.size()));
            x.answer.body = sink->text;
        } else x.answer.body = "no body";
        return Outcome::answered;
    }
    Outcome park(Exchange& x) {
        if (x.state || !parks) {
            x.answer.body = "woken " + std::string(x.request().query);
            return Outcome::answered;
        }
        x.state = std::make_shared<int>(1);
        std::lock_guard lock(mutex_);
        parked_.push_back(&x);
        return Outcome::parked;
    }
    /// What it keeps has the others looked at once more when it ends.
    Outcome park_for_ever(Exchange& x) {
        if (x.state) return Outcome::parked;
        x.state = std::shared_ptr<void>(&x, [this](void*) {
            --kept;
            wake_all();
        });
        ++kept;
        std::lock_guard lock(mutex_);
        parked_.push_back(&x);
        return Outcome::parked;
    }
    static Outcome resumed_at_once(Exchange& x) {
        if (x.state) {
            x.answer.body = "overtaken";
            return Outcome::answered;
        }
        x.state = std::make_shared<int>(1);
        std::thread([&x] { x.resume(); }).join();
        return Outcome::parked;
    }
    void began(std::shared_ptr<Stream> stream) {
        if (on_stream) on_stream(stream);
        std::lock_guard lock(mutex_);
        stream_ = std::move(stream);
    }

    std::mutex mutex_;
    std::vector<Exchange*> parked_;
    std::shared_ptr<Stream> stream_;
    std::atomic<int> served_{0};
    std::atomic<bool> held_{true};
};

/// A running server over a Responder.
class HttpFixture {
public:
    explicit HttpFixture(const Settings& settings = {})
        : server_(on_any_port(settings), responder) {
        server_.start();
    }
    ~HttpFixture() {
        responder.let_go();
        server_.stop(2s);
    }
    Client client(int receive_buffer = 0) { return Client(server_.port(), receive_buffer); }
    Server& server() { return server_; }
    Load load() { return server_.load(); }
    /// A new connection is served.
    bool answers() {
        const auto reply = client().ask(get("/"));
        return reply && reply->status == 200 && reply->body == "hello";
    }

    Responder responder;

private:
    static Settings on_any_port(Settings settings) {
        settings.port = 0;
        return settings;
    }

    Server server_;
};

}  // namespace svc::http::test
