#pragma once

#include "db/connector.hpp"
#include "db/rows.hpp"
#include "db/watchdog.hpp"

#include <array>
#include <cstdint>
#include <unordered_map>

namespace svc::db {

/// A statement on one connection.
struct Prepared {
    std::array<char, 12> name{};  ///< how the server calls it
    bool ready = false;           ///< the server has it
    Bindings bindings;
};

/// What a connection did, readable by other threads while it goes on.
struct Counts {
    std::atomic<std::uint64_t> round_trips{0}, statements{0}, prepared{0}, reconnects{0};
};

/// One session with what we know about it. Used by one thread at a time, counts() by any.
class Connection {
public:
    /// Connects; throws Lost. A server that keeps silent for longer than `patience` (and up to
    /// half a second) while we wait for it counts as lost; without a watchdog we wait for ever.
    Connection(Connector& connector, Watchdog* watchdog, std::chrono::milliseconds patience);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    PGconn* native() const { return native_; }

    /// True once anything went wrong that makes the session's state unknown.
    bool lost() const { return lost_; }
    /// Gives the session up; a statement that still runs in it is rolled back by the server.
    void lose() noexcept;
    /// One look at the socket: false when the server has closed it.
    bool stands();
    /// Makes a session anew in place of a lost one; throws Lost.
    void renew();

    Prepared& prepared(const Sql& sql);
    /// It is sent anew before its next use.
    void forget(Prepared& statement);
    void forget_all();

    /// Sends what libpq holds back; throws Lost.
    void flush();
    /// The next result of the pipeline, null at the end of each statement; throws Lost.
    ResultPtr next();

    /// Runs text of several statements by the simple protocol, outside of any pipeline.
    ResultPtr run_script(const std::string& text);

    Counts& counts() { return counts_; }
    std::uint64_t seen_losses = 0;  ///< the pool's own mark

private:
    void set_up();
    void leave_watchdog() noexcept;
    void wait(short events);
    [[noreturn]] void throw_lost();

    Connector& connector_;
    std::unique_ptr<Connector::Session> session_;
    PGconn* native_;
    Watchdog* watchdog_;
    Watchdog::Watched watched_;
    bool is_watched_ = false;
    bool lost_ = false;
    std::unordered_map<const char*, Prepared> statements_;
    unsigned last_name_ = 0;
    Counts counts_;
};

}  // namespace svc::db
