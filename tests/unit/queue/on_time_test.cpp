// Claims that wait for what a time brings, or for room that others wait for as well: they are
// answered when it has come, and not when somebody next looks.

#include "tests/support/eventually.hpp"
#include "tests/support/metric.hpp"
#include "tests/unit/queue/queue_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <thread>

namespace svc::test {

namespace {

using std::chrono::milliseconds;

/// A further column of the board.
std::string column(QueueFixture& s, const json::value& like) {
    return expect(201, s.post("/v1/boards/" + s.board + "/columns", like)).text("/id");
}

Reply card_in(QueueFixture& s, const std::string& column) {
    return expect(
        201, s.post("/v1/boards/" + s.board + "/cards", {{"column_id", column}, {"title", "Card"}})
    );
}

Reply claim_in(QueueFixture& s, const std::string& column, const json::value& wish) {
    Client client = s.client;
    return expect(
        200,
        client.post(
            "/v1/boards/" + s.board + "/columns/" + column + ":claim-next", json::serialize(wish)
        )
    );
}

/// How much later than `due` it is; the database is on this machine.
milliseconds late_by(const std::string& due) {
    return milliseconds((Timestamp::now().micros - Timestamp::parse(due).value().micros) / 1000);
}

/// Of several, so that neither one that the machine held up nor one that was lucky decides.
milliseconds middle_of(std::vector<milliseconds> all) {
    std::ranges::sort(all);
    return all[all.size() / 2];
}

/// Three tenths of a second, and what some requests take on a machine that does other things as
/// well. Whoever looks only once a second comes after half of one, in the middle.
milliseconds promptly(QueueFixture& s) {
    std::vector<milliseconds> took;
    for (int i = 0; i < 5; ++i) {
        const auto then = std::chrono::steady_clock::now();
        Client client = s.client;
        expect(200, client.get("/v1/boards/" + s.board));
        took.push_back(
            std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - then)
        );
    }
    return milliseconds(300) + 5 * middle_of(took);
}

/// A claim that waits.
class Waiting {
public:
    Waiting(QueueFixture& s, std::string column, int seconds = 20)
        : before_(calls_waiting(s)), thread_([this, &s, column, seconds] {
              reply_ = claim_in(s, column, {{"wait_seconds", seconds}});
              answered_ = Timestamp::now();
          }) {
        // Who is looking just now is not waiting either, so this is no assertion.
        eventually([&] { return calls_waiting(s) > before_; }, std::chrono::seconds(2));
    }
    ~Waiting() {
        if (thread_.joinable()) thread_.join();
    }
    Reply& reply() {
        if (thread_.joinable()) thread_.join();
        return reply_;
    }
    milliseconds since(const Timestamp& then) {
        reply();
        return milliseconds((answered_.micros - then.micros) / 1000);
    }
    bool claimed() { return reply().json().at("claimed").as_bool(); }

private:
    static double calls_waiting(const QueueFixture& s) {
        return metric_of(s.server, "calls_waiting");
    }

    double before_;
    Reply reply_;
    Timestamp answered_;
    std::thread thread_;
};

/// No sweep comes while a test waits: what is on time is so without them. So one that is on time is
/// enough, however busy the machine is.
std::vector<std::string> rare_sweeps() { return {"queue.sweep_milliseconds=60000"}; }

}  // namespace

TEST(OnTime, ACardIsGivenToWhoeverWaitsWhenItsPauseIsOver) {
    QueueFixture s(rare_sweeps());
    std::vector<milliseconds> late;
    for (int round = 0; round < 3; ++round) {
        s.card();
        const auto claim = s.claim();
        const auto failed = expect(
            200,
            s.post(
                "/v1/leases/" + claim.text("/lease/id") + ":fail",
                {{"lease_token", claim.text("/lease_token")}, {"retry_after_seconds", 1}}
            )
        );
        const auto again = s.claim(20);
        ASSERT_TRUE(again.json().at("claimed").as_bool());
        late.push_back(late_by(failed.text("/card/queue/available_at")));
        expect(
            200,
            s.post(
                "/v1/leases/" + again.text("/lease/id") + ":complete",
                {{"lease_token", again.text("/lease_token")}}
            )
        );
    }
    EXPECT_LE(*std::ranges::min_element(late), promptly(s));
}

TEST(OnTime, APauseThatBeginsWhileAClaimWaitsIsKnownToIt) {
    QueueFixture s(rare_sweeps());
    Server second({.database_url = s.database, .settings = rare_sweeps()});
    Client there = second.client();
    there.token(s.workspace.mint("agent", "Other"));
    std::vector<milliseconds> late;
    for (int round = 0; round < 3; ++round) {
        s.card();
        const auto claim = expect(200, there.post(s.claim_path(), "{}"));
        Waiting waiting(s, s.queue);
        const auto failed = expect(
            200,
            there.post(
                "/v1/leases/" + claim.text("/lease/id") + ":fail",
                json::serialize(json::value{
                    {"lease_token", claim.text("/lease_token")}, {"retry_after_seconds", 2}})
            )
        );
        ASSERT_TRUE(waiting.claimed());
        late.push_back(
            waiting.since(Timestamp::parse(failed.text("/card/queue/available_at")).value())
        );
    }
    EXPECT_LE(*std::ranges::min_element(late), promptly(s));
}

TEST(OnTime, EachOfThoseWhoWaitHasTheCardWhosePauseEndsNext) {
    QueueFixture s(rare_sweeps());
    constexpr int count = 4;
    std::vector<Timestamp> due;
    for (int i = 0; i < count; ++i) s.card();
    for (int i = 0; i < count; ++i) {
        const auto claim = s.claim();
        const auto failed = expect(
            200,
            s.post(
                "/v1/leases/" + claim.text("/lease/id") + ":fail",
                {{"lease_token", claim.text("/lease_token")}, {"retry_after_seconds", 2 + i}}
            )
        );
        due.push_back(Timestamp::parse(failed.text("/card/queue/available_at")).value());
    }
    std::list<Waiting> waiting;
    for (int i = 0; i < count; ++i) waiting.emplace_back(s, s.queue);
    std::vector<milliseconds> late;
    int i = 0;
    for (Waiting& each : waiting) {
        ASSERT_TRUE(each.claimed());
        late.push_back(each.since(due[static_cast<std::size_t>(i++)]));
    }
    EXPECT_LE(*std::ranges::min_element(late), promptly(s));
}

/// Five leases expire, for each of which somebody waits: whether those have the cards promptly.
bool expired_leases_are_had_promptly() {
    QueueFixture s({"queue.sweep_milliseconds=2500"});
    std::vector<std::string> columns{s.queue};
    while (columns.size() < 5)
        columns.push_back(column(s, {{"name", std::to_string(columns.size())}, {"kind", "queue"}}));
    std::vector<Timestamp> due;
    std::list<Waiting> waiting;
    for (const std::string& each : columns) {
        expect(
            200,
            s.client.send(
                "PATCH",
                "/v1/boards/" + s.board + "/columns/" + each,
                R"({"queue":{"backoff_seconds":0}})"
            )
        );
        card_in(s, each);
        const auto claim = claim_in(s, each, {{"lease_ttl_seconds", 5}});
        due.push_back(Timestamp::parse(claim.text("/lease/expires_at")).value());
        waiting.emplace_back(s, each);
        std::this_thread::sleep_for(milliseconds(300));  // each ends at a moment of its own
    }
    std::vector<milliseconds> late;
    std::size_t i = 0;
    for (Waiting& each : waiting) {
        EXPECT_TRUE(each.claimed());
        late.push_back(each.since(due[i++]));
    }
    return middle_of(late) <= promptly(s);
}

TEST(OnTime, ALeaseThatExpiresIsWhoeverWaitsForTheCards) {
    // A machine that does other things as well may hold up most of one round.
    bool prompt = false;
    for (int round = 0; round < 3 && !prompt; ++round) prompt = expired_leases_are_had_promptly();
    EXPECT_TRUE(prompt);
}

// ------------------------------------------------------------------------------------- room

namespace {

struct Funnel {
    QueueFixture s;
    std::string target, second;
    explicit Funnel(json::object like) {
        like["name"] = "Few";
        like["wip_limit"] = 1;
        like["wip_policy"] = "hard";
        target = column(s, like);
        second = column(s, {{"name", "Second"}, {"kind", "queue"}});
        for (const std::string& each : {s.queue, second})
            expect(
                200,
                s.client.send(
                    "PATCH",
                    "/v1/boards/" + s.board + "/columns/" + each,
                    R"({"queue":{"on_complete_column_id":")" + target + R"("}})"
                )
            );
    }
    Timestamp archive(const Reply& card) {
        const auto then = Timestamp::now();
        expect(200, s.post("/v1/cards/" + card.text("/id") + ":archive", json::object()));
        return then;
    }
};

}  // namespace

TEST(Room, IsTheSecondColumnsWhenTheFirstHasNoCard) {
    Funnel f({{"kind", "active"}});
    std::vector<milliseconds> took;
    for (int round = 0; round < 5; ++round) {
        const auto there = card_in(f.s, f.target);
        Waiting first(f.s, f.s.queue, 2), second(f.s, f.second);
        card_in(f.s, f.second);
        std::this_thread::sleep_for(milliseconds(100 + 200 * round));
        const auto then = f.archive(there);
        ASSERT_TRUE(second.claimed());
        took.push_back(second.since(then));
    }
    EXPECT_LE(middle_of(took), promptly(f.s));
}

TEST(Room, IsForBothColumnsWhenBothHaveACard) {
    Funnel f({{"kind", "active"}});
    std::vector<milliseconds> took;
    for (int round = 0; round < 5; ++round) {
        const auto there = card_in(f.s, f.target);
        card_in(f.s, f.s.queue);
        card_in(f.s, f.second);
        Waiting first(f.s, f.s.queue), second(f.s, f.second);
        std::this_thread::sleep_for(milliseconds(100 + 200 * round));
        const auto then = f.archive(there);
        ASSERT_TRUE(first.claimed());
        ASSERT_TRUE(second.claimed());
        took.push_back(std::max(first.since(then), second.since(then)));
    }
    EXPECT_LE(middle_of(took), promptly(f.s));
}

TEST(Room, IsInTheColumnThatComesNextWhenColumnsChangePlaces) {
    QueueFixture s;
    const auto columns = "/v1/boards/" + s.board + "/columns/";
    expect(
        200, s.client.send("PATCH", columns + s.done, R"({"wip_limit": 1, "wip_policy": "hard"})")
    );
    const std::string roomy = column(s, {{"name", "Roomy"}});
    card_in(s, s.done);
    std::vector<milliseconds> took;
    for (int round = 0; round < 5; ++round) {
        s.card();
        Waiting waiting(s, s.queue);
        std::this_thread::sleep_for(milliseconds(100 + 200 * round));
        const auto then = Timestamp::now();
        const auto move = [&](const json::value& where) {
            expect(200, s.post(columns + roomy + ":move", where));
        };
        move({{"before_id", s.done}});
        ASSERT_TRUE(waiting.claimed());
        took.push_back(waiting.since(then));
        move(json::object());  // to the right of all
    }
    EXPECT_LE(middle_of(took), promptly(s));
}

// A number keeps claims from the target itself, which have nothing to do with the room in it.
TEST(Room, IsNotLostOnThoseWhoWaitInTheTarget) {
    Funnel f({{"kind", "queue"}, {"queue", {{"max_in_flight", 1}}}});
    expect(
        200,
        f.s.client.send(
            "PATCH",
            "/v1/boards/" + f.s.board + "/columns/" + f.target,
            R"({"queue":{"on_complete_column_id":")" + f.s.done + R"("}})"
        )
    );
    std::vector<milliseconds> took;
    for (int round = 0; round < 5; ++round) {
        const auto there = card_in(f.s, f.target);
        const auto claim = claim_in(f.s, f.target, json::object());
        ASSERT_TRUE(claim.json().at("claimed").as_bool());
        std::list<Waiting> in_target;
        while (in_target.size() < 4) in_target.emplace_back(f.s, f.target, 2);
        card_in(f.s, f.second);
        Waiting second(f.s, f.second);
        std::this_thread::sleep_for(milliseconds(100 + 200 * round));
        const auto then = Timestamp::now();
        expect(
            200,
            f.s.post(
                "/v1/leases/" + claim.text("/lease/id") + ":complete",
                {{"lease_token", claim.text("/lease_token")}}
            )
        );
        ASSERT_TRUE(second.claimed());
        took.push_back(second.since(then));
    }
    EXPECT_LE(middle_of(took), promptly(f.s));
}

}  // namespace svc::test
