#include "load.hpp"

#include "tests/support/program.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <random>
#include <regex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace svc::bench {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

/// The `index`th client address gets its own range of ports.
int dial(std::uint16_t port, int index = 0) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) throw std::runtime_error("no more sockets: raise `ulimit -n`");
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    if (index > 0) {
        ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + static_cast<unsigned>(index) / 5000);
        ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
    }
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
    ::close(fd);
    throw std::runtime_error("cannot connect: " + std::string(std::strerror(errno)));
}

/// Where the answer in `bytes`, behind which there is a NUL, ends; 0 while it is not whole.
std::size_t answer_end(std::string_view bytes) {
    const auto head = bytes.find("\r\n\r\n");
    if (head == std::string_view::npos) return 0;
    constexpr std::string_view name = "content-length:", last_chunk = "\r\n0\r\n\r\n";
    const auto* found = ::strcasestr(bytes.data(), name.data());
    if (!found || found > bytes.data() + head) {
        const auto* chunked = ::strcasestr(bytes.data(), "transfer-encoding: chunked");
        if (!chunked || chunked > bytes.data() + head)
            throw std::runtime_error("an answer without length");
        const auto end = bytes.find(last_chunk, head + 2);
        return end == std::string_view::npos ? 0 : end + last_chunk.size();
    }
    const auto size = std::strtoul(found + name.size(), nullptr, 10);
    return bytes.size() >= head + 4 + size ? head + 4 + size : 0;
}

double milliseconds_of(const std::string& number, const std::string& unit) {
    const double factor = unit == "us" ? 1e-3 : unit == "ms" ? 1 : unit == "s" ? 1e3 : 6e4;
    return std::stod(number) * factor;
}

}  // namespace

Pressed wrk(
    std::uint16_t port,
    int connections,
    double seconds,
    const std::string& path,
    const std::string& script
) {
    test::TempFolder folder("workboard-wrk");
    std::vector<std::string> command{
        "wrk",
        "-t1",
        "-c" + std::to_string(connections),
        "-d" + std::to_string(static_cast<int>(seconds)) + "s",
        "--latency",
        "--timeout",
        "5s"};
    const auto file = folder.path() / "load.lua";
    if (!script.empty()) {
        test::write_file(file, script);
        command.insert(command.end(), {"-s", file.string()});
    }
    command.push_back("http://127.0.0.1:" + std::to_string(port) + path);
    const auto finished = test::run(command);
    const auto& text = finished.output;
    const bool bad = text.find("Non-2xx") != std::string::npos ||
                     text.find("Socket errors") != std::string::npos;
    std::smatch requests, rate, p99;
    if (finished.code != 0 || bad ||
        !std::regex_search(text, requests, std::regex(R"((\d+) requests in)")) ||
        !std::regex_search(text, rate, std::regex(R"(Requests/sec:\s+([\d.]+))")) ||
        !std::regex_search(text, p99, std::regex(R"(99%\s+([\d.]+)(us|ms|s|m))")))
        throw std::runtime_error("wrk did not go well:\n" + text);
    return {std::stod(rate[1]), std::stod(requests[1]), milliseconds_of(p99[1], p99[2])};
}

Presser::Presser(std::uint16_t port) : fd_(dial(port)) {}

Presser::~Presser() {
    if (fd_ >= 0) ::close(fd_);
}

Presser::Presser(Presser&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)),
      received_(other.received_) {}

std::string_view Presser::ask(std::string_view request) {
    if (::send(fd_, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size()))
        throw std::runtime_error("cannot send");
    constexpr std::size_t least_room = 64 << 10;
    std::string_view answer;
    for (std::size_t end = 0; end == 0; end = answer_end(answer)) {
        if (buffer_.size() < answer.size() + least_room)
            buffer_.resize(2 * buffer_.size() + least_room);
        const auto got =
            ::recv(fd_, buffer_.data() + answer.size(), buffer_.size() - answer.size() - 1, 0);
        if (got <= 0) throw std::runtime_error("the server closed the connection");
        answer = {buffer_.data(), answer.size() + static_cast<std::size_t>(got)};
        buffer_[answer.size()] = '\0';
    }
    received_ = answer.size();
    if (answer[9] != '2') throw std::runtime_error("refused: " + std::string(answer));
    return answer.substr(answer.find("\r\n\r\n") + 4);
}

namespace {

using Workers = std::function<void(int)>;

/// Each of them on a thread of its own, with `meanwhile` on this one.
void run_all(int threads, const Workers& work, const std::function<void()>& meanwhile) {
    std::exception_ptr problem;
    std::mutex guard;
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
        running.emplace_back([&, i] {
            try {
                work(i);
            } catch (...) {
                const std::lock_guard lock(guard);
                problem = std::current_exception();
            }
        });
    }
    meanwhile();
    for (auto& thread : running) thread.join();
    if (problem) std::rethrow_exception(problem);
}

}  // namespace

WorkedOff work_for(
    int threads, double seconds, const std::function<std::function<void()>(int)>& worker
) {
    std::vector<std::function<void()>> workers;
    for (int i = 0; i < threads; ++i) workers.push_back(worker(i));
    std::atomic<bool> over{false};
    std::atomic<long> done{0};
    const auto start = Clock::now();
    run_all(
        threads,
        [&](int i) {
            long mine = 0;
            for (; !over; ++mine) workers[static_cast<std::size_t>(i)]();
            done += mine;
        },
        [&] {
            std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
            over = true;
        }
    );
    return {done, milliseconds(Clock::now() - start) / 1000};
}

double press(int threads, double seconds, const std::function<std::function<void()>(int)>& worker) {
    const auto worked = work_for(threads, seconds, worker);
    return static_cast<double>(worked.done) / worked.seconds;
}

WorkedOff work_off(int threads, const std::function<std::function<bool()>(int)>& worker) {
    std::vector<std::function<bool()>> workers;
    for (int i = 0; i < threads; ++i) workers.push_back(worker(i));
    std::mutex guard;
    long done = 0;
    const auto start = Clock::now();
    auto end = start;
    run_all(
        threads,
        [&](int i) {
            long mine = 0;
            auto last = start;
            for (; workers[static_cast<std::size_t>(i)](); ++mine) last = Clock::now();
            const std::lock_guard lock(guard);
            done += mine;
            end = std::max(end, last);
        },
        [] {}
    );
    return {done, milliseconds(end - start) / 1000};
}

std::string request_text(
    std::string_view method, std::string_view path, std::string_view token, std::string_view body
) {
    std::string out;
    out.append(method).append(" ").append(path).append(" HTTP/1.1\r\nHost: bench\r\n");
    out.append("X-Board-Version: 2026-06-19\r\n");
    if (!token.empty()) out.append("Authorization: Bearer ").append(token).append("\r\n");
    if (!body.empty()) out.append("Content-Type: application/json\r\n");
    if (method != "GET")
        out.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    return out.append("\r\n").append(body);
}

Herd::Herd(std::uint16_t port, int connections, std::string request)
    : request_(std::move(request)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    Presser first(port);
    first.ask(request_);
    answer_size_ = first.received();
    members_.reserve(static_cast<std::size_t>(connections));
    for (int i = 0; i < connections; ++i) {
        Member member;
        member.fd = dial(port, i + 1);
        members_.push_back(member);
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u32 = static_cast<unsigned>(i);
        ::epoll_ctl(epoll_, EPOLL_CTL_ADD, member.fd, &event);
    }
    stroll(connections);
}

Herd::~Herd() {
    for (const auto& member : members_) ::close(member.fd);
    ::close(epoll_);
}

bool Herd::receive(std::size_t index) {
    auto& member = members_[index];
    char bytes[16384];
    const auto got = ::recv(member.fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got <= 0) throw std::runtime_error("the server closed a connection of the herd");
    if (member.got == 0 &&
        std::string_view(bytes, static_cast<std::size_t>(got)).substr(9, 1) != "2")
        throw std::runtime_error("refused: " + std::string(bytes, static_cast<std::size_t>(got)));
    // The same question: every answer is as long as the first.
    member.got += static_cast<std::size_t>(got);
    if (member.got < answer_size_) return false;
    member.waiting = false;
    member.got = 0;
    ++member.answers;
    return true;
}

std::vector<double> Herd::stroll(int requests) {
    std::vector<double> took;
    for (int i = 0; i < requests; ++i) {
        auto& member = members_[next_];
        const auto start = Clock::now();
        member.waiting = true;
        if (::send(member.fd, request_.data(), request_.size(), MSG_NOSIGNAL) < 0)
            throw std::runtime_error("the server closed a connection of the herd");
        epoll_event event{};
        do {
            if (::epoll_wait(epoll_, &event, 1, 10'000) != 1)
                throw std::runtime_error("no answer in ten seconds");
        } while (event.data.u32 != next_ || !receive(next_));
        took.push_back(milliseconds(Clock::now() - start));
        next_ = (next_ + 7) % members_.size();  // not the one whose buffers are still warm
    }
    return took;
}

Herd::Trot Herd::trot(std::chrono::milliseconds pace, double seconds) {
    Trot trot;
    for (auto& member : members_) member.answers = 0;
    const auto start = Clock::now();
    const auto end =
        start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    // Spread over the pace, as clients are.
    const auto step =
        std::chrono::duration_cast<Clock::duration>(pace) / static_cast<long>(members_.size());
    auto due = start;
    std::size_t turn = 0;
    epoll_event events[128];
    for (auto now = start; now < end; now = Clock::now()) {
        for (; due <= now; due += step, turn = (turn + 1) % members_.size()) {
            auto& member = members_[turn];
            if (member.waiting) continue;  // still owed an answer: it asks no more
            member.waiting = true;
            member.sent = now;
            if (::send(member.fd, request_.data(), request_.size(), MSG_NOSIGNAL) < 0)
                throw std::runtime_error("the server closed a connection of the herd");
        }
        const int ready = ::epoll_wait(epoll_, events, 128, 1);
        for (int i = 0; i < ready; ++i) {
            const auto index = events[i].data.u32;
            if (receive(index))
                trot.milliseconds.push_back(milliseconds(Clock::now() - members_[index].sent));
        }
    }
    for (const auto& member : members_) trot.unanswered += member.answers == 0 ? 1 : 0;
    return trot;
}

}  // namespace svc::bench
