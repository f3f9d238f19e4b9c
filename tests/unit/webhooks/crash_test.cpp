// Servers that are killed in the middle of a delivery, at one point after the other: what was
// committed is received.

#include "tests/support/database_role.hpp"
#include "tests/unit/webhooks/webhooks_fixture.hpp"

#include <csignal>
#include <set>

namespace svc::test {
namespace {

/// How often each point is gone through; more by WORKBOARD_WEBHOOK_CRASHES.
int rounds() {
    const char* given = std::getenv("WORKBOARD_WEBHOOK_CRASHES");
    return given ? std::atoi(given) : 2;
}

class WebhookCrashes : public WebhooksTest {
protected:
    /// Boards that were made: a 201 was answered.
    void make_boards(int count) {
        for (int i = 0; i < count; ++i)
            committed.insert(make_board("Board " + std::to_string(committed.size())));
    }
    std::set<std::string> received() {
        std::set<std::string> out;
        for (const Received& each : receiver.at())
            out.emplace(json::parse(each.body).at("data").at("id").as_string());
        return out;
    }
    bool all_received() { return std::ranges::includes(received(), committed); }

    /// Ends the server the hard way while somebody waits for what `locker` holds, and starts it
    /// again.
    void kill_while_waiting() {
        EXPECT_TRUE(becomes(
            "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
            "AND datname = current_database()",
            "t"
        ));
        server.end(SIGKILL);
        locker.must("ROLLBACK");
        restart();
    }
    void restart() {
        server.start();
        // As if the time were over for which the killed server had leased its endpoints.
        ask("UPDATE webhook_endpoints SET due_at = now() WHERE lease IS NOT NULL RETURNING 1");
    }

    std::set<std::string> committed;
    DatabaseRole locker{Postgres::shared().superuser_url(database)};
};

TEST_F(WebhookCrashes, WhatWasCommittedIsReceivedWhereverAServerIsKilled) {
    make_webhook(receiver.url(), {{"events", {"board.created"}}});
    make_boards(1);
    ASSERT_TRUE(eventually([&] { return all_received(); }));
    for (int round = 0; round < rounds(); ++round) {
        // The events are there, and nobody has recorded for whom.
        locker.must("BEGIN");
        locker.must("SELECT FROM webhook_endpoints FOR UPDATE");
        make_boards(3);
        kill_while_waiting();
        ASSERT_TRUE(eventually([&] { return all_received(); })) << "recorded by nobody";

        // Received, and not answered.
        std::atomic<bool> hangs{true};
        receiver.answer("/", [&](int socket, const Received&) {
            while (hangs && !receiver.stopping()) std::this_thread::sleep_for(5ms);
            return write_all(socket, http_answer(200));
        });
        const auto before = receiver.count();
        make_boards(3);
        ASSERT_TRUE(eventually([&] { return receiver.count() > before; }));
        server.end(SIGKILL);
        hangs = false;
        restart();
        ASSERT_TRUE(eventually([&] { return all_received(); })) << "received, not answered";
        receiver.answer("/", 200);

        // Answered, and not written down.
        ASSERT_TRUE(becomes("SELECT count(*) FROM webhook_endpoints WHERE lease IS NULL", "1"));
        receiver.answer("/", [&](int socket, const Received&) {
            locker.must("BEGIN");
            locker.must("SELECT FROM webhook_endpoints FOR UPDATE");
            return write_all(socket, http_answer(200));
        });
        make_boards(1);
        kill_while_waiting();
        receiver.answer("/", 200);
        ASSERT_TRUE(
            becomes("SELECT count(*) FROM webhook_deliveries WHERE status <> 'succeeded'", "0")
        ) << "it is sent once more, for nobody knows what became of it";
        ASSERT_TRUE(eventually([&] { return all_received(); })) << "answered, not written down";

        // Anywhere, once it has committed something.
        std::atomic<bool> has_begun{false};
        auto writer = std::async(std::launch::async, [&] {
            for (int i = 0; i < 20; ++i) try {
                    make_boards(1);
                    has_begun = true;
                } catch (const std::exception&) {
                    return;  // the server is gone
                }
        });
        ASSERT_TRUE(eventually([&] { return has_begun.load(); }));
        std::this_thread::sleep_for(std::chrono::milliseconds(random_bits() % 200));
        server.end(SIGKILL);
        writer.get();
        ada = client();
        restart();
        log_in(ada, "ada@example.com");
        ada.always("X-Svc-Org", org);
        ASSERT_TRUE(eventually([&] { return all_received(); })) << "killed anywhere";
    }
    EXPECT_GE(committed.size(), 1u + 8u * static_cast<unsigned>(rounds()));
}

}  // namespace
}  // namespace svc::test
