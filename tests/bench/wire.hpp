#pragma once

#include "tests/support/program.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace svc::bench {

/// A unix socket that passes everything on to PostgreSQL's and counts round trips from outside: how
/// often the server speaks again after it was answered. So the server's own count can be checked
/// by somebody who has no part in it. Connections on which a job holds its lock are left out.
class Wire {
public:
    /// `url` as Postgres::fresh_database() gives it.
    explicit Wire(const std::string& url);
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    /// The same database by way of this wire.
    const std::string& url() const { return url_; }
    long round_trips() const { return round_trips_; }

private:
    struct Pair {
        int server, database;  // sockets to each
        bool answered = true;  // the database spoke last
        bool job = false;      // asked for an advisory lock: a background job's own connection
    };
    void run();
    void accept();
    bool pass(Pair& pair, int from);  // false when that end has closed

    test::TempFolder folder_{"workboard-wire"};
    std::string url_, target_;
    int listener_ = -1, stop_ = -1;
    std::atomic<long> round_trips_{0};
    std::vector<Pair> pairs_;
    std::thread thread_;
};

}  // namespace svc::bench
