#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace svc::core {

enum class LogFormat { json, text };

/// Sends every Poco::Logger to standard error, a line an event, as JSON or for people.
void open_logs(LogFormat format, std::string_view level);

/// A line in the form of the log, such as open_logs() writes.
std::string log_line(
    LogFormat format, std::string_view level, std::string_view source, std::string_view message
);

/// One answered request.
struct AccessLine {
    std::string_view request_id, method, target, operation, client;
    std::string_view principal, org;  ///< ids as text; empty when there is none
    int status = 0;
    std::size_t bytes = 0;
    std::chrono::nanoseconds took{};
    int round_trips = 0;
};

/// The access log: lines gather in bounded buffers and reach the file in few writes. What does
/// not fit is dropped and counted, never waited for. Any thread.
class AccessLog {
public:
    /// To a file descriptor that stays open: 1 is standard output. Negative: off.
    AccessLog(int fd, LogFormat format);
    ~AccessLog();
    void write(const AccessLine& line);
    void flush();
    /// Goes on in another file, under the same descriptor; takes `fd`.
    void go_on_in(int fd);
    std::uint64_t dropped() const { return dropped_.load(); }

private:
    static constexpr std::size_t stripes = 8, buffer_size = 64 << 10;
    struct alignas(64) Stripe {
        std::mutex mutex;
        std::string text;
    };
    void flush(Stripe& stripe);
    void append(const AccessLine& line, std::string& out) const;

    int fd_;
    LogFormat format_;
    std::array<Stripe, stripes> stripes_;
    std::mutex writing_;
    std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace svc::core
