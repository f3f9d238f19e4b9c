#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Clients that press the server.
namespace svc::bench {

/// What wrk reports.
struct Pressed {
    double per_second = 0;
    double requests = 0;
    double p99_ms = 0;
};
/// Runs wrk with one thread against 127.0.0.1. `script` is Lua; empty: GET of `path`. Throws when
/// an answer was not 2xx or a connection failed, for then the figure means nothing.
Pressed wrk(
    std::uint16_t port,
    int connections,
    double seconds,
    const std::string& path,
    const std::string& script = {}
);

/// A keep-alive connection that waits for each answer: as little work per request as can be, for
/// it shares the machine with what it measures.
class Presser {
public:
    explicit Presser(std::uint16_t port);
    ~Presser();
    Presser(Presser&& other) noexcept;
    Presser& operator=(Presser&&) = delete;
    /// Sends a request and returns the body of the answer, valid until the next call. Throws when
    /// the status is not 2xx.
    std::string_view ask(std::string_view request);
    /// Bytes of the last answer, its head included.
    std::size_t received() const { return received_; }

private:
    int fd_;
    std::string buffer_;  // used from its beginning, and kept
    std::size_t received_ = 0;
};

struct WorkedOff {
    long done = 0;
    double seconds = 0;  ///< from the start to the end of the last piece of work
};
/// Calls what `worker(i)` gives again and again on each of `threads` threads for `seconds`. The
/// first exception of any of them is thrown.
WorkedOff work_for(
    int threads, double seconds, const std::function<std::function<void()>(int)>& worker
);
/// The same until each has said, by returning false, that nothing is left.
WorkedOff work_off(int threads, const std::function<std::function<bool()>(int)>& worker);

/// How often work_for() does it in a second.
double press(int threads, double seconds, const std::function<std::function<void()>(int)>& worker);

/// A request as the bytes of HTTP/1.1.
std::string request_text(
    std::string_view method,
    std::string_view path,
    std::string_view token,
    std::string_view body = {}
);

/// Many keep-alive connections held by one thread.
class Herd {
public:
    /// Opens them and has each send `request` once and read the answer, so that all of them have
    /// been served. From several addresses of 127.0.0.0/8, for ports are limited to each.
    Herd(std::uint16_t port, int connections, std::string request);
    ~Herd();
    Herd(const Herd&) = delete;
    Herd& operator=(const Herd&) = delete;

    /// One request after another, each on the next connection of the herd; milliseconds each.
    std::vector<double> stroll(int requests);

    struct Trot {
        std::vector<double> milliseconds;  ///< of each answered request
        int unanswered = 0;                ///< connections that got no answer at all
    };
    /// Every connection sends one request each `pace`, for `seconds`.
    Trot trot(std::chrono::milliseconds pace, double seconds);

private:
    bool receive(std::size_t index);  ///< true when an answer is complete

    struct Member {
        int fd = -1;
        std::size_t got = 0;
        std::chrono::steady_clock::time_point sent{};
        bool waiting = false;
        int answers = 0;
    };
    std::vector<Member> members_;
    std::string request_;
    std::size_t answer_size_ = 0;
    std::size_t next_ = 0;
    int epoll_ = -1;
};

}  // namespace svc::bench
