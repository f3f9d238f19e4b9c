#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// How the servers of one database wake each other
/// (docs/decisions/0048-servers-wake-each-other.md).
namespace svc {

/// Short messages from one server to all others, on named channels. Offered by the kernel; without
/// a driver, and without another server, publishing does nothing.
///
/// A message says that it is worth a look and not what there is to see: it arrives at most once,
/// perhaps late, perhaps never, in no order that counts. Whoever listens polls as well, as slowly
/// as the loss of a message may hold somebody up.
class Bus {
public:
    static constexpr std::string_view name = "kernel.Bus";
    /// Bytes of a payload at most.
    static constexpr std::size_t longest_payload = 200;

    /// Called on the bus's thread with the payload: must not block. What it throws is logged.
    using Listener = std::function<void(std::string_view payload)>;

    virtual ~Bus() = default;

    /// While modules open: calls `listener` for what other servers publish on `channel`, a word of
    /// lower-case letters, digits, dots and underscores. Several may listen to one channel.
    virtual void subscribe(std::string_view channel, Listener listener) = 0;

    /// Once what it is about is committed, never inside the transaction. Any thread; never blocks.
    /// What is published again before it was sent is sent once. The payload is text without control
    /// characters; a longer one than `longest_payload` is a std::logic_error.
    virtual void publish(std::string_view channel, std::string_view payload = {}) = 0;

    /// Other servers that were heard of late. Any thread.
    virtual std::size_t peers() const = 0;
};

/// A connection to whatever carries the messages. Used by one thread. Every function throws
/// std::exception when the connection is of no use any more; it is then dropped and made again.
class BusConnection {
public:
    /// Bytes of a message at most.
    static constexpr std::size_t longest_message = 4096;

    virtual ~BusConnection() = default;

    /// A file descriptor that is readable when something has come. It stays the same.
    virtual int descriptor() const = 0;
    /// To everybody connected to the channel, this connection included. Waits for seconds at most.
    virtual void send(std::string_view message) = 0;
    /// Some of what has come, without waiting; nothing when that was all. Messages of others may be
    /// anything; those longer than `longest_message` may be left out.
    virtual std::vector<std::string> receive() = 0;
};

/// What a plugin offers that carries messages between servers. Called on the bus's thread, and by
/// `workboard doctor`.
class BusDriver {
public:
    static constexpr std::string_view name = "kernel.BusDriver";

    virtual ~BusDriver() = default;

    /// As it is called in the log: "bus-redis at 10.0.0.1:6379".
    virtual std::string describe() const = 0;
    /// Connects to that channel, a word of lower-case letters, digits and underscores of 63
    /// characters at most. Throws std::exception, after seconds at most.
    virtual std::unique_ptr<BusConnection> connect(const std::string& channel) = 0;
};

/// LISTEN and NOTIFY. Offered by the kernel, which alone knows how to talk to PostgreSQL.
class Notifications {
public:
    static constexpr std::string_view name = "kernel.Notifications";

    virtual ~Notifications() = default;

    /// A session of its own, outside the pool. `url` as in `database.url`; empty: that database.
    /// Throws std::runtime_error when the server cannot be reached.
    virtual std::unique_ptr<BusConnection> listen(
        const std::string& url, const std::string& channel
    ) = 0;
};

}  // namespace svc
