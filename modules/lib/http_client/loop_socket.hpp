#pragma once

#include <Poco/Net/Context.h>
#include <Poco/Net/SocketAddress.h>

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

struct bio_st;
struct ssl_st;

namespace svc {

/// A connection that never blocks, with TLS or without. One thread's.
class LoopSocket {
public:
    /// Bytes that are read in one turn, and in one exchange, handshakes and whatever else TLS
    /// carries included; who sends more in an exchange has failed.
    static constexpr std::size_t most_in_a_turn = 32 << 10, most_in_an_exchange = 1 << 20;

    /// Begins to connect. With a context it speaks TLS, to a server that proves to be `host`.
    /// Throws std::runtime_error.
    LoopSocket(
        const Poco::Net::SocketAddress& address,
        const std::string& host,
        const Poco::Net::Context::Ptr& tls
    );
    ~LoopSocket();
    LoopSocket(const LoopSocket&) = delete;
    LoopSocket& operator=(const LoopSocket&) = delete;

    int fd() const { return fd_; }

    /// Before others have had their turn no more is read than that much, however fast the other
    /// side sends: what is left waits to be read.
    void begin_turn() { left_in_turn_ = most_in_a_turn; }
    void begin_exchange() { left_in_exchange_ = most_in_an_exchange; }

    enum class Step {
        done,        ///< some of it, or all
        wait_read,   ///< go on when there is something to read,
        wait_write,  ///< or room to write
        closed,      ///< by the other side, in order
        failed,      ///< error() says why
    };
    /// Goes on with connecting and with the handshake; done once both are over.
    Step connect();
    Step write(std::string_view bytes, std::size_t& written);
    Step read(std::string& into);
    const std::string& error() const { return error_; }

private:
    struct Bio;
    ssize_t receive(char* into, std::size_t size);
    Step begin_tls();
    Step judge(int result);
    Step fail(const std::string& why);

    int fd_ = -1;
    bool connected_ = false, shaken_ = false, ended_ = false;
    std::size_t left_in_turn_ = most_in_a_turn, left_in_exchange_ = most_in_an_exchange;
    const std::string host_;
    const Poco::Net::Context::Ptr tls_;
    std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
    std::string error_;
};

}  // namespace svc
