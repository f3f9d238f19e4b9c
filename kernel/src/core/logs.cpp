#include "core/logs.hpp"

#include "svc/types.hpp"

#include <Poco/AutoPtr.h>
#include <Poco/Channel.h>
#include <Poco/Logger.h>
#include <Poco/Message.h>

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>

namespace svc::core {

namespace {

constexpr std::array<std::string_view, 9> levels{
    "none", "fatal", "critical", "error", "warning", "notice", "information", "debug", "trace"};

/// Writes each message with one call, so that lines of several threads do not mix.
class LineChannel final : public Poco::Channel {
public:
    explicit LineChannel(LogFormat format) : format_(format) {}

    void log(const Poco::Message& message) override {
        const auto level = levels[static_cast<std::size_t>(message.getPriority())];
        const auto line = log_line(format_, level, message.getSource(), message.getText());
        std::fwrite(line.data(), 1, line.size(), stderr);
    }

private:
    LogFormat format_;
};

void append_number(std::string& out, auto number) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

std::size_t stripe_of_this_thread() {
    static std::atomic<std::size_t> next{0};
    thread_local const std::size_t mine = next++;
    return mine;
}

}  // namespace

std::string log_line(
    LogFormat format, std::string_view level, std::string_view source, std::string_view message
) {
    std::string line;
    if (format == LogFormat::text) {
        Timestamp::now().append_to(line);
        ((line += ' ') += level) += ' ';
        ((line += source) += ": ") += message;
        return line + '\n';
    }
    line += R"({"time":")";
    Timestamp::now().append_to(line);
    line += R"(","level":)";
    write_text(level, line);
    line += R"(,"source":)";
    write_text(source, line);
    line += R"(,"message":)";
    write_text(message, line);
    return line + "}\n";
}

void open_logs(LogFormat format, std::string_view level) {
    Poco::AutoPtr<Poco::Channel> channel(new LineChannel(format));
    Poco::Logger::root();  // POCO sets nothing while there is no logger at all
    Poco::Logger::setChannel("", channel);
    Poco::Logger::setLevel("", Poco::Logger::parseLevel(std::string(level)));
}

AccessLog::AccessLog(int fd, LogFormat format) : fd_(fd), format_(format) {}

AccessLog::~AccessLog() { flush(); }

void AccessLog::append(const AccessLine& line, std::string& out) const {
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(line.took).count();
    if (format_ == LogFormat::text) {
        Timestamp::now().append_to(out);
        for (auto each : {line.method, line.target, line.operation}) (out += ' ') += each;
        out += ' ';
        append_number(out, line.status);
        out += ' ';
        append_number(out, micros);
        ((out += "us ") += line.client) += ' ';
        (out += line.principal.empty() ? "-" : line.principal) += ' ';
        (out += line.request_id) += '\n';
        return;
    }
    // Ids, names and addresses of our own making need no escapes; what the client wrote does.
    const auto plain = [&](std::string_view name, std::string_view value) {
        (((out += ",\"") += name) += "\":\"") += value;
        out += '"';
    };
    const auto written = [&](std::string_view name, std::string_view value) {
        ((out += ",\"") += name) += "\":";
        write_text(value, out);
    };
    const auto number = [&](std::string_view name, auto value) {
        (out += ",\"") += name;
        out += "\":";
        append_number(out, value);
    };
    out += R"({"time":")";
    Timestamp::now().append_to(out);
    out += '"';
    plain("request_id", line.request_id);
    written("method", line.method);
    written("target", line.target);
    if (!line.operation.empty()) plain("operation", line.operation);
    number("status", line.status);
    number("bytes", line.bytes);
    number("us", micros);
    number("round_trips", line.round_trips);
    plain("client", line.client);
    if (!line.principal.empty()) plain("principal", line.principal);
    if (!line.org.empty()) plain("org", line.org);
    out += "}\n";
}

void AccessLog::write(const AccessLine& line) {
    if (fd_ < 0) return;
    Stripe& stripe = stripes_[stripe_of_this_thread() % stripes];
    std::lock_guard lock(stripe.mutex);
    if (stripe.text.size() > buffer_size - 4096) flush(stripe);
    if (stripe.text.size() > 2 * buffer_size) {
        ++dropped_;
        return;
    }
    append(line, stripe.text);
}

void AccessLog::flush() {
    for (Stripe& stripe : stripes_) {
        std::lock_guard lock(stripe.mutex);
        flush(stripe);
    }
}

void AccessLog::go_on_in(int fd) {
    flush();
    {
        std::lock_guard writing(writing_);
        ::dup3(fd, fd_, O_CLOEXEC);
    }
    ::close(fd);
}

void AccessLog::flush(Stripe& stripe) {
    if (stripe.text.empty() || fd_ < 0) return;
    std::unique_lock writing(writing_, std::try_to_lock);
    if (!writing) return;  // somebody is at it; ours goes next time
    const ssize_t written = ::write(fd_, stripe.text.data(), stripe.text.size());
    stripe.text.erase(0, written > 0 ? static_cast<std::size_t>(written) : 0);
}

}  // namespace svc::core
