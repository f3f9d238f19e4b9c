#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace svc::test {

/// Stands between a program and PostgreSQL, counts what goes by and breaks connections at chosen
/// places. Both sides are unix sockets.
class PostgresProxy {
public:
    /// `url` as Postgres::fresh_database() gives it.
    explicit PostgresProxy(std::string_view url);
    ~PostgresProxy();
    PostgresProxy(const PostgresProxy&) = delete;
    PostgresProxy& operator=(const PostgresProxy&) = delete;

    /// The same database by way of the proxy.
    const std::string& url() const { return url_; }

    /// Times that a client asked the server to answer now: what it can wait for.
    int round_trips() const { return round_trips_; }
    int connections() const { return connections_; }

    enum class Fault {
        none,
        cut_before,  ///< the connection breaks instead of the request being passed on
        cut_after,   ///< the server does all of it, then the connection breaks unanswered
        stall,       ///< the answer never comes, the connection stands
    };
    /// What happens to the request that is the `nth` from now (1: the next), over all
    /// connections; once.
    void plan(Fault fault, int nth);

private:
    class Link;
    void accept();
    void serve(int client);
    Fault next_request();

    std::filesystem::path folder_;
    std::string server_, url_;
    int listener_;
    std::atomic<int> round_trips_{0}, connections_{0};
    std::mutex mutex_;
    Fault fault_ = Fault::none;
    int until_fault_ = 0;
    std::vector<std::thread> threads_;
    std::atomic<bool> closing_{false};
    std::thread acceptor_;
};

}  // namespace svc::test
