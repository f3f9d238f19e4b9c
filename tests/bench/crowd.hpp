#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Many streams of events held by one thread.
namespace svc::bench {

/// Lets this process and what it starts have so many sockets, and what else they need. Throws where
/// the system allows fewer.
void allow_sockets(int many);

/// Subscribers to one board, as WebSockets, SSE streams or bare sockets, or to lists by MCP. From
/// several addresses of 127.0.0.0/8, for ports are limited to each.
class Crowd {
public:
    using Clock = std::chrono::steady_clock;
    enum class Kind { web_socket, sse, mcp, bare };

    Crowd() = default;
    ~Crowd();
    Crowd(const Crowd&) = delete;
    Crowd& operator=(const Crowd&) = delete;

    /// Opens `count` streams to the server and waits until all of them miss nothing any more.
    /// `deaf` ones read nothing after that.
    void join(
        Kind kind,
        std::uint16_t port,
        const std::string& token,
        const std::string& board,
        int count,
        bool deaf = false
    );
    /// Takes over connected sockets that somebody else writes to.
    void adopt(const std::vector<int>& sockets);

    /// What was received of one event.
    struct Heard {
        std::vector<double> milliseconds;  ///< of each reader, since `since`
        int missing = 0;                   ///< readers that got nothing in time
        double span() const;               ///< between the first and the last
    };
    /// Waits until every reader that is not deaf has got one more event that holds `mark`, or the
    /// time is over.
    Heard hear(std::string_view mark, Clock::time_point since, std::chrono::milliseconds patience);
    int readers() const { return listening_; }

private:
    struct Member {
        int fd = -1;
        bool deaf = false, heard = false;
        std::string tail;  // what was read last, for a mark that comes in pieces
    };
    void watch(Member member);
    void wait_for_all(std::size_t from, std::string_view mark);
    bool read(Member& member, std::string_view mark);

    std::vector<Member> members_;
    int listening_ = 0;
    int epoll_ = -1;
};

/// A process that does what a server could do at best: holds connected sockets and sends the same
/// bytes to all of them, in a bare loop.
class BareLoop {
public:
    /// Begins it; to be called while no other thread runs.
    explicit BareLoop(int count);
    ~BareLoop();
    BareLoop(const BareLoop&) = delete;
    BareLoop& operator=(const BareLoop&) = delete;
    /// Returns at once.
    void send_all(std::string_view bytes) const;
    /// The other ends, which are a crowd's to close.
    const std::vector<int>& receivers() const { return receivers_; }

private:
    std::vector<int> receivers_;
    int commands_ = -1;
    pid_t process_ = -1;
};

}  // namespace svc::bench
