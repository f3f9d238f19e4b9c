#pragma once

#include "db/database.hpp"

#include <Poco/Data/PostgreSQL/SessionHandle.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

/// From a libpq URL to POCO's sessions.
namespace svc::db {

/// What a connection is for; it decides the timeouts.
enum class Use { work, migration };

/// Opens sessions, all alike. Any thread.
///
/// These are POCO's session handles and not its Session objects, which connect in their
/// constructor, cut the connection string at every blank, and lose a PGconn when it fails.
class Connector {
public:
    using Session = Poco::Data::PostgreSQL::SessionHandle;

    /// Throws std::runtime_error when the URL is none.
    Connector(const Settings& settings, Use use);
    ~Connector();

    /// Throws Lost with what libpq said.
    std::unique_ptr<Session> open();
    /// Takes back a session that is no longer needed.
    void close(std::unique_ptr<Session> session) noexcept;

    /// In libpq's keyword form, with the settings that every session starts with.
    const std::string& text() const { return text_; }

private:
    std::unique_ptr<Session> take_broken();

    std::string text_;
    std::mutex mutex_;
    // POCO frees a PGconn only while it stands: those that broke are mended for the next who asks.
    std::vector<std::unique_ptr<Session>> broken_;
};

}  // namespace svc::db
