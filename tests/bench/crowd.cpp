#include "crowd.hpp"

#include "mcp_request.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace svc::bench {

namespace {

constexpr std::size_t per_address = 20'000;
constexpr std::chrono::seconds patience{120};

sockaddr_in loopback(std::uint16_t port, std::size_t number = 0) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_port = htons(port);
    out.sin_addr.s_addr = htonl(INADDR_LOOPBACK + static_cast<std::uint32_t>(number));
    return out;
}

void write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) throw std::runtime_error("a stream was closed while it was opened");
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

int dial_loopback(std::uint16_t port, std::size_t number, bool deaf) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (deaf) {
        const int small = 4096;
        ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    }
    const auto from = loopback(0, 1 + number / per_address), to = loopback(port);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
        ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
        throw std::runtime_error(fmt::format("cannot connect stream {}", number));
    return fd;
}

/// A short text frame, masked with zeros.
std::string frame(std::string_view text) {
    std::string out = "\x81";
    if (text.size() < 126) out += static_cast<char>(0x80 | text.size());
    else {
        out += static_cast<char>(0x80 | 126);
        out += static_cast<char>(text.size() >> 8);
        out += static_cast<char>(text.size());
    }
    return out.append(4, '\0').append(text);
}

std::string opening(Crowd::Kind kind, const std::string& token, const std::string& board) {
    if (kind == Crowd::Kind::mcp)
        return mcp_request(
            token,
            "subscriptions/listen",
            R"("notifications":{"toolsListChanged":true,"resourcesListChanged":true},)"
        );
    const bool web_socket = kind == Crowd::Kind::web_socket;
    std::string head = fmt::format(
        "GET {} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\n",
        web_socket ? "/v1/ws" : "/v1/sse?board_id=" + board,
        token
    );
    if (!web_socket) return head + "\r\n";
    head +=
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    return head + frame(fmt::format(R"({{"type":"subscribe","id":"s","board_id":"{}"}})", board));
}

/// What says that a stream misses nothing any more.
std::string_view mark_of(Crowd::Kind kind) {
    switch (kind) {
        case Crowd::Kind::web_socket: return R"("subscribed")";
        case Crowd::Kind::mcp: return "subscriptions/acknowledged";
        default: return "\nid: ";
    }
}

}  // namespace

void allow_sockets(int many) {
    const auto needed = static_cast<rlim_t>(many) + 1'000;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < needed)
        throw std::runtime_error(fmt::format(
            "{} streams need `ulimit -Hn` of {} or more; here it is {}",
            many,
            needed,
            limit.rlim_max
        ));
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

double Crowd::Heard::span() const {
    if (milliseconds.empty()) return 0;
    const auto [first, last] = std::ranges::minmax(milliseconds);
    return last - first;
}

Crowd::~Crowd() {
    for (const Member& each : members_) ::close(each.fd);
    if (epoll_ >= 0) ::close(epoll_);
}

void Crowd::watch(Member member) {
    if (epoll_ < 0) epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (!member.deaf) {
        epoll_event event{.events = EPOLLIN, .data = {.u64 = members_.size()}};
        ::epoll_ctl(epoll_, EPOLL_CTL_ADD, member.fd, &event);
        ++listening_;
    }
    members_.push_back(std::move(member));
}

void Crowd::join(
    Kind kind,
    std::uint16_t port,
    const std::string& token,
    const std::string& board,
    int count,
    bool deaf
) {
    const auto before = members_.size();
    const std::string text = opening(kind, token, board);
    // A few at a time, for a queue of connections is only so long.
    constexpr int at_once = 100;
    for (int done = 0; done < count;) {
        const auto from = members_.size();
        for (int i = 0; i < at_once && done < count; ++i, ++done) {
            const int fd = dial_loopback(port, members_.size(), deaf);
            write_all(fd, text);
            watch({.fd = fd});
        }
        wait_for_all(from, mark_of(kind));
    }
    if (!deaf) return;
    for (auto i = before; i < members_.size(); ++i) {
        ::epoll_ctl(epoll_, EPOLL_CTL_DEL, members_[i].fd, nullptr);
        members_[i].deaf = true;
        --listening_;
    }
}

void Crowd::adopt(const std::vector<int>& sockets) {
    for (const int each : sockets) watch({.fd = each});
}

void Crowd::wait_for_all(std::size_t from, std::string_view mark) {
    const auto end = Clock::now() + patience;
    for (auto i = from; i < members_.size(); ++i) {
        Member& each = members_[i];
        each.heard = false;
        while (!read(each, mark)) {
            pollfd ready{.fd = each.fd, .events = POLLIN, .revents = 0};
            if (Clock::now() > end || ::poll(&ready, 1, 1'000) < 0)
                throw std::runtime_error("a stream was not attached in time: " + each.tail);
        }
        each.tail.clear();
    }
}

/// True when the mark has come now.
bool Crowd::read(Member& member, std::string_view mark) {
    std::array<char, 16'384> bytes;
    for (;;) {
        const auto got = ::recv(member.fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got == 0) throw std::runtime_error("a stream was closed: " + member.tail);
        if (got < 0) return false;
        member.tail.append(bytes.data(), static_cast<std::size_t>(got));
        if (member.tail.find(mark) != member.tail.npos) return true;
        constexpr std::size_t kept = 4'096;
        if (member.tail.size() > kept) member.tail.erase(0, member.tail.size() - kept);
    }
}

Crowd::Heard Crowd::hear(
    std::string_view mark, Clock::time_point since, std::chrono::milliseconds at_most
) {
    Heard heard;
    for (Member& each : members_) each.heard = each.deaf;
    heard.missing = listening_;
    std::array<epoll_event, 256> events;
    while (heard.missing > 0 && Clock::now() - since < at_most) {
        const int ready = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 100);
        for (int i = 0; i < ready; ++i) {
            Member& each = members_[events[static_cast<std::size_t>(i)].data.u64];
            if (!read(each, mark) || each.heard) continue;
            each.heard = true;
            each.tail.clear();
            --heard.missing;
            const std::chrono::duration<double, std::milli> took = Clock::now() - since;
            heard.milliseconds.push_back(took.count());
        }
    }
    return heard;
}

namespace {

/// The other process: nothing but system calls.
[[noreturn]] void run_bare_loop(int listener, int count, int commands) {
    std::vector<int> sockets;
    const int on = 1;
    while (static_cast<int>(sockets.size()) < count) {
        const int each = ::accept(listener, nullptr, nullptr);
        if (each < 0) ::_exit(1);
        ::setsockopt(each, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        sockets.push_back(each);
    }
    std::array<char, 4'096> bytes;
    for (;;) {
        const auto size = ::read(commands, bytes.data(), bytes.size());
        if (size <= 0) ::_exit(0);
        for (const int each : sockets)
            ::send(each, bytes.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

}  // namespace

BareLoop::BareLoop(int count) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = loopback(0);
    socklen_t size = sizeof address;
    int ends[2];
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::listen(listener, 128) != 0 || ::pipe2(ends, O_CLOEXEC) != 0)
        throw std::runtime_error("cannot listen");
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    process_ = ::fork();
    if (process_ == 0) {
        ::close_range(3, static_cast<unsigned>(std::min(listener, ends[0])) - 1, 0);
        ::close(ends[1]);
        run_bare_loop(listener, count, ends[0]);
    }
    ::close(ends[0]);
    ::close(listener);
    commands_ = ends[1];
    for (int i = 0; i < count; ++i)
        receivers_.push_back(
            dial_loopback(ntohs(address.sin_port), static_cast<std::size_t>(i), false)
        );
}

BareLoop::~BareLoop() {
    ::close(commands_);
    ::waitpid(process_, nullptr, 0);
}

void BareLoop::send_all(std::string_view bytes) const {
    if (::write(commands_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        throw std::runtime_error("the bare loop has ended");
}

}  // namespace svc::bench
