// What only a request can ask for: waiting, versions, leases and joins named in headers.

#include "tests/unit/queue/queue_fixture.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace svc::test {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

QueueFixture& fixture() {
    static QueueFixture here;
    return here;
}

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

/// The quickest of a few: the machine may be busy, but a poll of a second would always show.
template <class Once>
milliseconds quickest(int times, Once once) {
    auto best = milliseconds::max();
    for (int i = 0; i < times; ++i) best = std::min(best, once());
    return best;
}

}  // namespace

TEST(Waiting, ACardThatArrivesIsClaimedAtOnce) {
    QueueFixture& s = fixture();
    const auto took = quickest(5, [&] { return time_to_claim(s, [&] { s.card(); }); });
    EXPECT_LE(took, milliseconds(100));
}

TEST(Waiting, ACardThatIsReleasedIsClaimedAtOnce) {
    QueueFixture& s = fixture();
    const auto took = quickest(5, [&] {
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
    EXPECT_LE(took, milliseconds(100));
}

TEST(Waiting, ACardThatWaitsForAnotherNoLongerIsClaimedAtOnce) {
    QueueFixture& s = fixture();
    const auto took = quickest(5, [&] {
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
    EXPECT_LE(took, milliseconds(100));
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
    const auto took = quickest(3, [&] {
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
    EXPECT_LE(took, milliseconds(100));
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
    EXPECT_LE(quickest(3, [&] { return time_to_claim(s, limit); }), milliseconds(100));
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
    const auto took = quickest(3, [&] {
        pause("true");
        s.card();
        return time_to_claim(s, [&] { pause("false"); });
    });
    EXPECT_LE(took, milliseconds(100));
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
    const auto took = quickest(3, [&] {
        const auto there = expect(
            201, s.post(cards, {{"column_id", target.text("/id")}, {"title", "In the way"}})
        );
        s.card();
        return time_to_claim(s, [&] {
            expect(200, s.post("/v1/cards/" + there.text("/id") + ":archive", json::object()));
        });
    });
    EXPECT_LE(took, milliseconds(100));
}

TEST(Waiting, AClaimOverTheBoardHearsOfEachColumn) {
    QueueFixture s;
    const auto second =
        expect(
            201, s.post("/v1/boards/" + s.board + "/columns", {{"name", "Two"}, {"kind", "queue"}})
        )
            .text("/id");
    for (const std::string& column : {s.queue, second}) {
        const auto took = quickest(3, [&] {
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
        EXPECT_LE(took, milliseconds(100));
    }
}

TEST(Waiting, EndsWhenTheTimeIsOver) {
    QueueFixture& s = fixture();
    const auto from = Clock::now();
    const auto reply = s.claim(1);
    EXPECT_GE(Clock::now() - from, milliseconds(900));
    EXPECT_FALSE(reply.json().at("claimed").as_bool());
}

TEST(Waiting, SomeWaitersGetACardEachAndTheOthersGoOnWaiting) {
    QueueFixture& s = fixture();
    std::atomic<int> served{0}, empty{0};
    std::vector<std::thread> waiters;
    for (int i = 0; i < 6; ++i)
        waiters.emplace_back([&] {
            Client waiting = s.client;
            const auto reply =
                expect(200, waiting.post(s.claim_path(), json::value{{"wait_seconds", 4}}));
            (reply.json().at("claimed").as_bool() ? served : empty) += 1;
        });
    std::this_thread::sleep_for(milliseconds(300));
    for (int i = 0; i < 4; ++i) s.card();
    for (auto& waiter : waiters) waiter.join();
    EXPECT_EQ(served, 4);
    EXPECT_EQ(empty, 2);
}

// One statement claims them and COMMIT goes along; then they are looked at, and written.
TEST(RoundTrips, OfManyCardsAreAsManyAsOfOne) {
    QueueFixture& s = fixture();
    const auto round_trips = [&] {
        int sum = 0;
        const auto metrics = s.server.client().get("/metrics").body;
        for (const char* operation : {"claim_next_card", "complete_leases"}) {
            const std::string name =
                std::string("\nworkboard_request_round_trips_total{operation=\"") + operation +
                "\"} ";
            const auto at = metrics.find(name);
            if (at != metrics.npos) sum += std::stoi(metrics.substr(at + name.size()));
        }
        return sum;
    };
    const auto claim_and_complete = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) s.card();
        const auto claim = expect(200, s.post(s.claim_path(), {{"max_cards", count}}));
        json::array leases{{{"lease_token", claim.text("/lease_token")}}};
        const auto claimed = claim.json();
        for (const auto& each : claimed.at("additional_claims").as_array())
            leases.push_back({{"lease_token", each.at("lease_token")}});
        EXPECT_EQ(leases.size(), count);
        const auto batch = expect(200, s.post("/v1/leases:complete", {{"leases", leases}}));
        EXPECT_EQ(batch.json().at("succeeded_count").as_int64(), static_cast<std::int64_t>(count));
    };
    claim_and_complete(1);  // known from here on
    const int before = round_trips();
    claim_and_complete(1);
    const int one = round_trips() - before;
    claim_and_complete(25);
    EXPECT_EQ(round_trips() - before - one, one);
    EXPECT_LE(one, 3);
}

TEST(Headers, AStaleVersionIsRefusedWithTheCurrentOne) {
    QueueFixture& s = fixture();
    const std::string path = "/v1/cards/" + s.card().text("/id");
    const auto patch = [&](const std::string& version, const char* title) {
        return s.client.send(
            "PATCH", path, json::serialize(json::value{{"title", title}}), {{"If-Match", version}}
        );
    };
    EXPECT_EQ(s.client.get(path).header("etag"), "\"1\"");
    const auto changed = expect(200, patch("\"1\"", "two"));
    EXPECT_EQ(changed.header("etag"), "\"2\"");
    const auto stale = patch("\"1\"", "three");
    EXPECT_EQ(stale.status, 412);
    EXPECT_EQ(stale.text("/code"), "version_conflict");
    EXPECT_EQ(stale.text("/additional_data/current_version"), "2");
    EXPECT_EQ(patch("*", "four").status, 200);
}

TEST(Headers, PreferMergePropertiesJoinsLists) {
    QueueFixture& s = fixture();
    const std::string path = "/v1/cards/" + s.card().text("/id");
    const auto patch = [&](const json::value& body, const Headers& headers) {
        return expect(200, s.client.send("PATCH", path, json::serialize(body), headers));
    };
    patch({{"labels", {"a"}}}, {});
    const auto joined =
        patch({{"labels", {"b"}}}, {{"Prefer", "return=minimal, Merge-Properties"}});
    EXPECT_EQ(joined.json().at("labels").as_array().size(), 2U);
    EXPECT_EQ(joined.header("preference-applied"), "merge-properties");
    const auto replaced = patch({{"labels", {"b"}}}, {});
    EXPECT_EQ(replaced.json().at("labels").as_array().size(), 1U);
}

TEST(Headers, AWriteUnderALeaseThatIsOverIsRefused) {
    QueueFixture& s = fixture();
    s.card();
    const auto claim = s.claim();
    const std::string path = "/v1/cards/" + claim.text("/card/id");
    const Headers under{{"X-Svc-Lease", claim.text("/lease_token")}};
    const auto patch = [&](const char* title) {
        return s.client.send("PATCH", path, json::serialize(json::value{{"title", title}}), under);
    };
    EXPECT_EQ(patch("while it is mine").status, 200);
    expect(
        200,
        s.post(
            "/v1/leases/" + claim.text("/lease/id") + ":complete",
            {{"lease_token", claim.text("/lease_token")}}
        )
    );
    const auto late = patch("too late");
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(late.text("/code"), "lease_lost");
    EXPECT_EQ(late.text("/additional_data/outcome"), "completed");
    const auto empty = s.client.send("PATCH", path, R"({"title":"x"})", {{"X-Svc-Lease", ""}});
    EXPECT_EQ(expect(422, empty).text("/detail/0/loc/1"), "x-svc-lease");
    EXPECT_EQ(s.client.get(path).text("/title"), "while it is mine");
}

TEST(Headers, ALeaseMayBeNamedByTheCallThatEndsIt) {
    QueueFixture& s = fixture();
    s.card("one");
    s.card("two");
    const auto first = s.claim(), second = s.claim();
    const auto under = [&](const std::string& path, const json::value& body) {
        return s.client.post(
            path, json::serialize(body), {{"X-Svc-Lease", first.text("/lease_token")}}
        );
    };
    const json::value both{
        {"leases",
         {{{"lease_token", first.text("/lease_token")}, {"comment", "Done"}},
          {{"lease_token", second.text("/lease_token")}, {"comment", "Done"}}}}
    };
    const auto batch = expect(200, under("/v1/leases:complete", both));
    EXPECT_EQ(batch.json().at("succeeded_count").as_int64(), 2) << batch.body;
    s.card("three");
    const auto third = s.claim();
    const auto done = s.client.post(
        "/v1/leases/" + third.text("/lease/id") + ":complete",
        json::serialize(
            json::value{{"lease_token", third.text("/lease_token")}, {"comment", "**Done**"}}
        ),
        {{"X-Svc-Lease", third.text("/lease_token")}}
    );
    EXPECT_EQ(done.status, 200) << done.body;
}

TEST(Headers, AClaimUnderAKeyIsGivenAgainNotTwice) {
    QueueFixture& s = fixture();
    s.card("one");
    s.card("two");
    const Headers key{{"Idempotency-Key", "claim-1"}};
    const auto first = expect(200, s.client.post(s.claim_path(), "{}", key));
    const auto again = expect(200, s.client.post(s.claim_path(), "{}", key));
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(again.header("idempotency-replayed"), "true");
    EXPECT_NE(s.claim().text("/card/id"), first.text("/card/id"));
}

TEST(Sweeping, ALeaseThatIsNotRenewedComesBackByItself) {
    QueueFixture& s = fixture();
    while (s.claim().json().at("claimed").as_bool()) {
    }
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
