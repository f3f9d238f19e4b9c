#pragma once

#include "tests/support/server.hpp"

/// Servers that one test after the other uses.
namespace svc::test {

/// A server on an empty database, for one test. To start one takes more time than most tests, as
/// PostgreSQL's new sessions read every table's description and plan every statement anew. So the
/// one of the test before is emptied and used again where it has the same settings, unless that
/// test failed, stopped it, changed the schema or had another server on its database. What it has
/// in memory stays: counters, and what it knows of ids that are gone.
class ReusedServer {
public:
    explicit ReusedServer(std::vector<std::string> settings = {});
    ~ReusedServer();
    ReusedServer(const ReusedServer&) = delete;
    ReusedServer& operator=(const ReusedServer&) = delete;

    Server& server() const { return *held_->server; }
    const std::string& database() const { return held_->database(); }
    /// Waits until all that was done so far has its sequence: who follows from then on does not
    /// hear of it. Throws when that takes half a minute.
    void await_sequences() const;

private:
    struct Held {
        std::unique_ptr<Server> server;
        pid_t pid = 0;
        std::string schema;

        const std::string& database() const { return server->options().database_url; }
        bool is_as_started() const noexcept;
        bool empty();
    };
    static std::unique_ptr<Held>& spare();
    static std::unique_ptr<Held> start(std::vector<std::string> settings);

    std::unique_ptr<Held> held_;
};

}  // namespace svc::test
