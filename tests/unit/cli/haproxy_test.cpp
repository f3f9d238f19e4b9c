#include "tests/support/count_of.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"
#include "tests/unit/cli/recipes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

/// Several servers behind HAProxy, as docs/operating.md has it.
namespace svc::test {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

Server::Options one_of(const std::string& database) {
    return {.database_url = database, .settings = {"server.drain_seconds=3"}};
}

std::string address_of(const Server& server) {
    return "127.0.0.1:" + std::to_string(server.port());
}

/// Requests through the proxy on threads of their own, and what went wrong with them.
class Callers {
public:
    ~Callers() { end(); }
    /// Calls `work` again and again; it throws when something is not as it should be.
    void add(std::function<void()> work) {
        threads_.emplace_back([this, work = std::move(work)] {
            while (!ending_) try {
                    work();
                    ++calls_;
                } catch (const std::exception& problem) {
                    const std::lock_guard lock(mutex_);
                    problems_.emplace_back(problem.what());
                }
        });
    }
    void end() {
        ending_ = true;
        for (auto& each : threads_)
            if (each.joinable()) each.join();
    }
    int calls() const { return calls_; }
    std::vector<std::string> problems() const {
        const std::lock_guard lock(mutex_);
        return problems_;
    }

private:
    std::atomic<bool> ending_{false};
    std::atomic<int> calls_{0};
    mutable std::mutex mutex_;
    std::vector<std::string> problems_;
    std::vector<std::thread> threads_;
};

class Haproxy : public testing::Test {
protected:
    Haproxy() {
        auto config = recipe("haproxy");
        replace(
            config,
            "bind :443 ssl crt /etc/ssl/boards.pem",
            "bind 127.0.0.1:" + std::to_string(port)
        );
        replace(config, "10.0.0.11:8080", address_of(first));
        replace(config, "10.0.0.12:8080", address_of(second));
        write_file(folder.path() / "haproxy.cfg", config);
        proxy = std::make_unique<Program>(Program::Start{
            .command = {"/usr/sbin/haproxy", "-db", "-f", folder.path() / "haproxy.cfg"},
            .environment = {},
            .folder = {},
            .output = folder.path() / "proxy.log",
        });
        const bool is_up = eventually([&] {
            try {
                return Client(port).get("/readyz").status == 200;
            } catch (const ConnectionError&) {
                return false;
            }
        });
        if (!is_up) throw std::runtime_error(read_file(folder.path() / "proxy.log"));
        token = workspace.mint("agent", "Worker");
        const auto made = expect(
            201,
            client().post(
                "/v1/boards",
                json::value{
                    {"name", "Shop"},
                    {"columns",
                     {{{"name", "Do"}, {"kind", "queue"}}, {{"name", "Done"}, {"kind", "done"}}}}}
            )
        );
        board = "/v1/boards/" + made.text("/id");
        queue = made.text("/column_ids/0");
    }
    Client client() const {
        Client made(port);
        made.token(token);
        return made;
    }
    /// While the other works: told to stop, gone, there again, and known to the proxy.
    void restart(Server& server) const {
        EXPECT_EQ(server.end(SIGTERM), 0) << server.output();
        server.start();
        std::this_thread::sleep_for(2'500ms);  // the proxy looks every second
        std::string log;
        EXPECT_TRUE(eventually([&] {
            log = read_file(folder.path() / "proxy.log");
            return count_of(log, " is UP") >= count_of(log, " is DOWN");
        })) << log;
    }

    const std::string database = Postgres::shared().fresh_database();
    Server first{one_of(database)}, second{one_of(database)};
    TempFolder folder{"workboard-haproxy"};
    const std::uint16_t port = free_port();
    std::unique_ptr<Program> proxy;
    Workspace workspace = make_workspace(first);
    std::string token, board, queue;
};

}  // namespace

TEST_F(Haproxy, NoRequestFailsWhileEachServerIsRestarted) {
    std::atomic<int> made{0}, claimed{0};
    Callers callers;
    for (int i = 0; i < 2; ++i)
        callers.add([caller = client()]() mutable {
            expect(200, caller.get("/v1/me"));
            std::this_thread::sleep_for(5ms);
        });
    callers.add([&, maker = client()]() mutable {
        expect(
            201, maker.post(board + "/cards", json::value{{"column_id", queue}, {"title", "Card"}})
        );
        ++made;
        std::this_thread::sleep_for(20ms);
    });
    callers.add([&, worker = client()]() mutable {
        const auto claim = expect(
            200,
            worker.post(
                board + "/columns/" + queue + ":claim-next", json::value{{"wait_seconds", 20}}
            )
        );
        if (claim.json().at("claimed").as_bool()) ++claimed;
    });
    restart(first);
    restart(second);
    callers.end();
    EXPECT_THAT(callers.problems(), testing::IsEmpty());
    EXPECT_GT(callers.calls(), 100);
    for (Client worker = client(); claimed < made; ++claimed)
        if (!expect(
                 200,
                 worker.post(
                     board + "/columns/" + queue + ":claim-next", json::value{{"wait_seconds", 0}}
                 )
            )
                 .json()
                 .at("claimed")
                 .as_bool())
            break;
    EXPECT_EQ(claimed, made) << "each card is claimed, and once";
    for (const Server* each : {&first, &second})
        EXPECT_NE(each->output().find("draining"), std::string::npos);
    EXPECT_EQ(Client(port).get("/metrics").status, 401);
}

// Without a word, as a machine that loses its power.
TEST_F(Haproxy, TheOtherServerAnswersWhenOneIsGone) {
    Client reader = client();
    EXPECT_EQ(second.end(SIGKILL), 128 + SIGKILL);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(reader.get("/v1/me").status, 200) << i;
}

}  // namespace svc::test
