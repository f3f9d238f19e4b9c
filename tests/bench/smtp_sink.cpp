#include "smtp_sink.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string_view>

namespace svc::bench {

namespace {

constexpr int conversations_at_once = 8;

/// The lines of one conversation.
class Lines {
public:
    explicit Lines(int socket) : socket_(socket) {}

    void say(std::string_view text) const {
        const std::string line = std::string(text) + "\r\n";
        if (::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) < 0)
            throw std::runtime_error("the client has gone");
    }
    /// False at the end.
    bool next(std::string& line) {
        for (;;) {
            if (const auto end = read_.find("\r\n"); end != read_.npos) {
                line = read_.substr(0, end);
                read_.erase(0, end + 2);
                return true;
            }
            std::array<char, 16'384> bytes;
            const auto got = ::recv(socket_, bytes.data(), bytes.size(), 0);
            if (got <= 0) return false;
            read_.append(bytes.data(), static_cast<std::size_t>(got));
        }
    }

private:
    const int socket_;
    std::string read_;
};

}  // namespace

SmtpSink::SmtpSink() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* any = reinterpret_cast<sockaddr*>(&at);
    if (::bind(listener_, any, size) != 0 || ::listen(listener_, 128) != 0)
        throw std::runtime_error("cannot listen for mails");
    ::getsockname(listener_, any, &size);
    port_ = ntohs(at.sin_port);
    for (int i = 0; i < conversations_at_once; ++i) threads_.emplace_back([this] { serve(); });
}

SmtpSink::~SmtpSink() {
    ::shutdown(listener_, SHUT_RDWR);
    for (auto& each : threads_) each.join();
    ::close(listener_);
}

std::map<std::string, int> SmtpSink::by_recipient() const {
    const std::lock_guard lock(mutex_);
    return by_recipient_;
}

void SmtpSink::serve() {
    for (;;) {
        const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) return;
        try {
            converse(socket);
        } catch (const std::exception&) {  // it has gone; the mail counts if it was taken
        }
        ::close(socket);
    }
}

void SmtpSink::converse(int socket) {
    Lines lines(socket);
    lines.say("220 sink");
    std::string to;
    for (std::string line; lines.next(line);) {
        if (line.starts_with("RCPT TO:<")) to = line.substr(9, line.find('>') - 9);
        if (line == "QUIT") return lines.say("221 bye");
        if (line != "DATA") {
            lines.say("250 ok");
            continue;
        }
        lines.say("354 go on");
        while (lines.next(line) && line != ".") {
        }
        {
            const std::lock_guard lock(mutex_);
            ++by_recipient_[to];
        }
        ++mails_;
        lines.say("250 taken");
    }
}

}  // namespace svc::bench
