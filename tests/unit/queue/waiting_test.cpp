// Claims that wait for a card, and what ends their wait.

#include "tests/support/timing.hpp"
#include "tests/unit/queue/queue_fixture.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace svc::test {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How long after `wake` a claim that was waiting for a card has it.
template <class Wake>
milliseconds time_to_claim(QueueFixture& s, Wake wake) {
    Clock::time_point woken, answered;
    std::string claimed;
    std::thread waiter([&] {
        Client waiting = s.client;
        const auto reply =
            expect(200, waiting.post(s.claim_path(), json::value{{"wait_seconds", 20}}));
        answered = Clock::now();
        claimed = reply.text("/card/title");
    });
    std::this_thread::sleep_for(milliseconds(300));
    woken = Clock::now();
    wake();
    waiter.join();
    EXPECT_FALSE(claimed.empty());
    return std::chrono::duration_cast<milliseconds>(answered - woken);
}

/// A claim that is not woken looks for a card again one second after it began to wait: 700 ms after
/// it should have been woken.
constexpr milliseconds prompt{500};

/// The queue that tests share, once nothing is left to be claimed in it.
QueueFixture& empty_queue() {
    QueueFixture& s = one_queue();
    while (s.claim().json().at("claimed").as_bool()) {
    }
    return s;
}

}  // namespace

TEST(Waiting, ACardThatArrivesIsClaimedAtOnce) {
    QueueFixture& s = one_queue();
    const auto took = quickest(5, prompt, [&] { return time_to_claim(s, [&] { s.card(); }); });
    EXPECT_LE(took, prompt);
}

TEST(Waiting, ACardThatIsReleasedIsClaimedAtOnce) {
    QueueFixture& s = one_queue();
    const auto took = quickest(5, prompt, [&] {
        s.card();
        const auto claim = s.claim();
        return time_to_claim(s, [&] {
            expect(
                200,
                s.post(
                    "/v1/leases/" + claim.text("/lease/id") + ":release",
                    {{"lease_token", claim.text("/lease_token")}}
                )
            );
        });
    });
    EXPECT_LE(took, prompt);
}

TEST(Waiting, ACardThatWaitsForAnotherNoLongerIsClaimedAtOnce) {
    QueueFixture& s = one_queue();
    const auto took = quickest(5, prompt, [&] {
        const auto backlog =
            s.post("/v1/boards/" + s.board + "/columns", {{"name", "Before"}, {"kind", "backlog"}});
        const auto blocker = expect(
            201,
            s.post(
                "/v1/boards/" + s.board + "/cards",
                {{"column_id", backlog.text("/id")}, {"title", "First"}}
            )
        );
        expect(
            201,
            s.post(
                "/v1/boards/" + s.board + "/cards",
                {{"column_id", s.queue},
                 {"title", "Second"},
                 {"blocked_by", json::array{json::value(blocker.text("/id"))}}}
            )
        );
        return time_to_claim(s, [&] {
            expect(200, s.post("/v1/cards/" + blocker.text("/id") + ":archive", json::object()));
        });
    });
    EXPECT_LE(took, prompt);
}

TEST(Waiting, ALeaseThatEndsMakesRoomForTheNextAtOnce) {
    QueueFixture s;
    expect(
        200,
        s.client.send(
            "PATCH",
            "/v1/boards/" + s.board + "/columns/" + s.queue,
            R"({"queue":{"max_in_flight":1}})"
        )
    );
    const auto took = quickest(3, prompt, [&] {
        s.card();
        s.card();
        const auto held = s.claim();
        const auto once = time_to_claim(s, [&] {
            expect(
                200,
                s.post(
                    "/v1/leases/" + held.text("/lease/id") + ":complete",
                    {{"lease_token", held.text("/lease_token")}}
                )
            );
        });
        Postgres::shared().run("DELETE FROM cards", s.database);
        return once;
    });
    EXPECT_LE(took, prompt);
}

TEST(Waiting, AHigherNumberOfLeasesMakesRoomAtOnce) {
    QueueFixture s;
    for (int i = 0; i < 4; ++i) s.card();
    int most = 1;
    const auto limit = [&] {
        expect(
            200,
            s.client.send(
                "PATCH",
                "/v1/boards/" + s.board + "/columns/" + s.queue,
                R"({"queue":{"max_in_flight":)" + std::to_string(most++) + "}}"
            )
        );
    };
    limit();
    ASSERT_TRUE(s.claim().json().at("claimed").as_bool());
    EXPECT_LE(quickest(3, prompt, [&] { return time_to_claim(s, limit); }), prompt);
}

TEST(Waiting, AColumnThatIsNoLongerPausedIsClaimedFromAtOnce) {
    QueueFixture s;
    const auto pause = [&](const char* paused) {
        expect(
            200,
            s.client.send(
                "PATCH",
                "/v1/boards/" + s.board + "/columns/" + s.queue,
                std::string(R"({"queue":{"paused":)") + paused + "}}"
            )
        );
    };
    const auto took = quickest(3, prompt, [&] {
        pause("true");
        s.card();
        return time_to_claim(s, [&] { pause("false"); });
    });
    EXPECT_LE(took, prompt);
}

TEST(Waiting, RoomInAFullColumnIsUsedAtOnce) {
    QueueFixture s;
    const auto columns = "/v1/boards/" + s.board + "/columns";
    const auto target = expect(
        201,
        s.post(
            columns, {{"name", "Few"}, {"kind", "active"}, {"wip_limit", 1}, {"wip_policy", "hard"}}
        )
    );
    const auto set_target =
        R"({"queue":{"on_complete_column_id":")" + target.text("/id") + R"("}})";
    expect(200, s.client.send("PATCH", columns + "/" + s.queue, set_target));
    const auto cards = "/v1/boards/" + s.board + "/cards";
    const auto took = quickest(3, prompt, [&] {
        const auto there = expect(
            201, s.post(cards, {{"column_id", target.text("/id")}, {"title", "In the way"}})
        );
        s.card();
        return time_to_claim(s, [&] {
            expect(200, s.post("/v1/cards/" + there.text("/id") + ":archive", json::object()));
        });
    });
    EXPECT_LE(took, prompt);
}

TEST(Waiting, AClaimOverTheBoardHearsOfEachColumn) {
    QueueFixture s;
    const auto second =
        expect(
            201, s.post("/v1/boards/" + s.board + "/columns", {{"name", "Two"}, {"kind", "queue"}})
        ).text("/id");
    for (const std::string& column : {s.queue, second}) {
        const auto took = quickest(3, prompt, [&] {
            Clock::time_point woken, answered;
            std::thread waiter([&] {
                Client waiting = s.client;
                const auto reply = expect(
                    200,
                    waiting.post("/v1/boards/" + s.board + ":claim-next", R"({"wait_seconds":20})")
                );
                answered = Clock::now();
                EXPECT_EQ(reply.text("/lease/column_id"), column);
            });
            std::this_thread::sleep_for(milliseconds(300));
            woken = Clock::now();
            expect(
                201,
                s.post(
                    "/v1/boards/" + s.board + "/cards", {{"column_id", column}, {"title", "Card"}}
                )
            );
            waiter.join();
            return std::chrono::duration_cast<milliseconds>(answered - woken);
        });
        EXPECT_LE(took, prompt);
    }
}

TEST(Waiting, EndsWhenTheTimeIsOver) {
    QueueFixture& s = empty_queue();
    const auto from = Clock::now();
    const auto reply = s.claim(1);
    EXPECT_GE(Clock::now() - from, milliseconds(900));
    EXPECT_FALSE(reply.json().at("claimed").as_bool());
}

TEST(Waiting, SomeWaitersGetACardEachAndTheOthersGoOnWaiting) {
    QueueFixture& s = empty_queue();
    std::atomic<int> served{0}, empty{0};
    std::vector<std::thread> waiters;
    for (int i = 0; i < 6; ++i)
        waiters.emplace_back([&] {
            Client waiting = s.client;
            const auto reply =
                expect(200, waiting.post(s.claim_path(), json::value{{"wait_seconds", 10}}));
            (reply.json().at("claimed").as_bool() ? served : empty) += 1;
        });
    std::this_thread::sleep_for(milliseconds(300));
    for (int i = 0; i < 4; ++i) s.card();
    for (auto& waiter : waiters) waiter.join();
    EXPECT_EQ(served, 4);
    EXPECT_EQ(empty, 2);
}

TEST(Sweeping, ALeaseThatIsNotRenewedComesBackByItself) {
    QueueFixture& s = empty_queue();
    const auto made = s.card("left alone");
    const auto claim = expect(200, s.post(s.claim_path(), {{"lease_ttl_seconds", 5}}));
    ASSERT_EQ(claim.text("/card/id"), made.text("/id"));
    // It is expired and then kept back for the column's pause, which shows on the card.
    const auto until = Clock::now() + std::chrono::seconds(60);
    std::string state;
    while (Clock::now() < until && state != "backoff") {
        std::this_thread::sleep_for(milliseconds(200));
        state = s.client.get("/v1/cards/" + made.text("/id")).text("/queue/state");
    }
    EXPECT_EQ(state, "backoff");
    const auto late = s.post(
        "/v1/leases/" + claim.text("/lease/id") + ":complete",
        {{"lease_token", claim.text("/lease_token")}}
    );
    EXPECT_EQ(late.status, 409);
}

}  // namespace svc::test
