// Many changes of cards in one call.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

#include <future>
#include <set>

namespace svc::test {

using testing::ElementsAre;

namespace {

using boost::json::array;
using boost::json::object;

struct Bench {
    BoardFixture fixture;
    std::string a = fixture.card(fixture.backlog, {{"title", "a"}}).text("/id"),
                b = fixture.card(fixture.backlog, {{"title", "b"}}).text("/id");

    Bench() { in_process().forget_events(); }

    object create(const std::string& title, object more = {}) {
        more["board_id"] = fixture.board.str();
        more["column_id"] = fixture.backlog.str();
        more["title"] = title;
        return {{"create", more}};
    }
    object update(const std::string& card, object more) {
        more["card_id"] = card;
        return {{"update", more}};
    }
    object move(const std::string& card, const Uuid& column) {
        return {{"move", {{"card_id", card}, {"column_id", column.str()}}}};
    }
    static object remove(const std::string& card) { return {{"delete", {{"card_id", card}}}}; }

    Answer run(array operations, object how = {}) {
        how["operations"] = std::move(operations);
        return in_process().ask(fixture.owner, "batch_cards", how);
    }
    std::string title(const std::string& card) {
        return fixture.get(*Uuid::parse(card)).text("/title");
    }
    std::string cards() {
        return in_process().run(
            "SELECT count(*) || ' ' || sum(version) FROM cards WHERE board_id = '" +
            fixture.board.str() + "'"
        );
    }
};

}  // namespace

TEST(Batches, DoAllInOrderAndWhatOneDoesTheNextFinds) {
    Bench bench;
    const Answer done = bench.run(
        {bench.create("c", {{"external_key", "k"}}),
         bench.update(bench.a, {{"title", "A"}}),
         bench.update(bench.a, {{"priority", "high"}}),
         bench.move(bench.b, bench.fixture.done),
         object{{"archive", {{"card_id", "DES-1"}}}},
         Bench::remove(bench.b)}
    );
    ASSERT_EQ(done.status, 200) << boost::json::serialize(done.body);
    EXPECT_EQ(done.number("/succeeded_count"), 6);
    EXPECT_EQ(done.number("/results/0/status"), 201);
    EXPECT_EQ(done.text("/results/0/card/key"), "DES-3");
    EXPECT_EQ(done.text("/results/1/changes/title"), "A");
    EXPECT_EQ(done.text("/results/1/previous/title"), "a");
    EXPECT_EQ(done.number("/results/4/card/version"), 4);
    EXPECT_TRUE(done.body.at_pointer("/results/5/card/in_trash").as_bool());
    EXPECT_THAT(
        in_process().emitted(),
        ElementsAre(
            "card.created",
            "card.updated",
            "card.updated",
            "card.moved",
            "card.archived",
            "card.deleted"
        )
    );
}

TEST(Batches, EventsHaveOneCauseInCommon) {
    Bench bench;
    const Answer done = bench.run({bench.create("c"), bench.update(bench.a, {{"title", "A"}})});
    EXPECT_EQ(
        in_process().run("SELECT count(DISTINCT cause::json ->> 'event_id') || ' ' ||"
                         " min(cause::json ->> 'event_id') FROM event_log"),
        "1 " + done.text("/cause_id")
    );
}

TEST(Batches, OneRefusalUndoesAll) {
    Bench bench;
    const std::string before = bench.cards();
    const Answer refused = bench.run(
        {bench.create("c"),
         bench.update(bench.a, {{"title", "A"}}),
         bench.update(new_uuid().str(), {{"title", "No"}}),
         bench.create("d")}
    );
    EXPECT_EQ(refused.status, 404);
    EXPECT_EQ(refused.text("/additional_data/index"), "2");
    EXPECT_EQ(bench.cards(), before);
    EXPECT_TRUE(in_process().emitted().empty());
}

TEST(Batches, OneByOneEachStandsForItself) {
    Bench bench;
    const Answer done = bench.run(
        {bench.create("c"),
         bench.update(bench.a, {{"assignees", {new_uuid().str()}}}),
         bench.create("no", {{"labels", {new_uuid().str()}}}),
         bench.update(bench.b, {{"title", "B"}}),
         bench.move(new_uuid().str(), bench.fixture.done),
         bench.create("d")},
        {{"atomic", false}}
    );
    ASSERT_EQ(done.status, 200);
    std::vector<std::int64_t> statuses;
    for (const value& each : done.body.at("results").as_array())
        statuses.push_back(each.at("status").to_number<std::int64_t>());
    EXPECT_THAT(statuses, ElementsAre(201, 422, 422, 200, 404, 201));
    EXPECT_EQ(done.number("/succeeded_count"), 3);
    EXPECT_EQ(done.number("/failed_count"), 3);
    EXPECT_EQ(done.text("/results/1/error/code"), "validation_error");
    EXPECT_TRUE(done.body.at_pointer("/results/1/card").is_null());
    EXPECT_EQ(bench.title(bench.b), "B");
    EXPECT_EQ(done.text("/results/5/card/key"), "DES-4") << "what was refused took no number";
    const Answer board = in_process().must(
        bench.fixture.owner, "get_board", {{"board_id", bench.fixture.board.str()}}
    );
    EXPECT_EQ(board.number("/card_count"), 4);
}

TEST(Batches, ADryRunShowsTheDifferencesAndChangesNothing) {
    Bench bench;
    const std::string before = bench.cards();
    const Answer shown = bench.run(
        {bench.create("c"),
         bench.update(bench.a, {{"title", "A"}}),
         bench.update(new_uuid().str(), {{"title", "No"}}),
         Bench::remove(bench.a)},
        {{"dry_run", true}}
    );
    ASSERT_EQ(shown.status, 200) << boost::json::serialize(shown.body);
    EXPECT_TRUE(shown.body.at("dry_run").as_bool());
    EXPECT_EQ(shown.text("/results/0/changes/title"), "c");
    EXPECT_EQ(shown.text("/results/1/previous/title"), "a");
    EXPECT_EQ(shown.number("/results/2/status"), 404);
    EXPECT_TRUE(shown.body.at_pointer("/results/3/changes/in_trash").as_bool());
    EXPECT_EQ(bench.cards(), before);
    EXPECT_TRUE(in_process().emitted().empty());
}

TEST(Batches, AVersionIsTheOneBeforeTheBatch) {
    Bench bench;
    object first = bench.update(bench.a, {{"title", "A"}}),
           second = bench.update(bench.a, {{"priority", "low"}});
    first["version"] = second["version"] = 1;
    EXPECT_EQ(bench.run({first, second}).status, 200);
    const Answer stale = bench.run({first});
    EXPECT_EQ(stale.status, 412);
    EXPECT_EQ(stale.text("/additional_data/current_version"), "3");
}

TEST(Batches, AVersionTellsStrangersNothing) {
    Bench bench;
    InProcessServer& w = in_process();
    const Caller stranger = w.person(bench.fixture.owner, OrgRole::member, "Sam Stranger");
    w.must(
        bench.fixture.owner,
        "update_board",
        {{"board_id", bench.fixture.board.str()}, {"visibility", "private"}}
    );
    object known = Bench::remove(bench.a), unknown = Bench::remove(new_uuid().str());
    known["version"] = unknown["version"] = 99;
    const auto ask = [&](const object& item) {
        return w.ask(stranger, "batch_cards", {{"operations", array{item}}});
    };
    EXPECT_EQ(ask(known).status, 404);
    EXPECT_EQ(ask(known).text("/message"), ask(unknown).text("/message"));
}

TEST(Batches, ThatMakeCardsBehindOthersDoNotHoldUpThoseWhoChangeThese) {
    Bench bench;
    const auto at_once = [&](auto&& work) {
        return std::async(std::launch::async, [&work] {
            int refused = 0;
            for (int i = 0; i < 15; ++i) refused += work(i) >= 300;
            return refused;
        });
    };
    const auto batch = [&](int i) {
        const auto behind = bench.create("b" + std::to_string(i), {{"blocked_by", array{bench.a}}});
        return bench.run({bench.create("a" + std::to_string(i)), behind}).status;
    };
    const auto edit = [&](int i) {
        const array labels{"l" + std::to_string(i)};
        return in_process()
            .ask(bench.fixture.owner, "update_card", {{"card_id", bench.a}, {"labels", labels}})
            .status;
    };
    auto one = at_once(batch), other = at_once(edit);
    EXPECT_EQ(one.get(), 0);
    EXPECT_EQ(other.get(), 0);
}

TEST(Batches, AnItemIsExactlyOneOperation) {
    Bench bench;
    object both = bench.create("c");
    both["archive"] = {{"card_id", bench.a}};
    for (const object& item : {both, object{}}) {
        const Answer refused = bench.run({bench.create("first"), item});
        EXPECT_EQ(refused.status, 422);
        EXPECT_EQ(refused.body.at_pointer("/detail/0/loc"), (value{"arguments", "operations", 1}));
    }
    EXPECT_EQ(bench.run({}).status, 422);
    EXPECT_EQ(bench.run(array(101, bench.create("c"))).status, 422);
    EXPECT_EQ(bench.run({bench.update(bench.a, {{"column_id", "x"}})}).status, 422);
}

TEST(Batches, AHundredAreDoneAtOnce) {
    Bench bench;
    const Answer done = bench.run(array(100, bench.create("c")));
    EXPECT_EQ(done.number("/succeeded_count"), 100);
    std::set<std::string> keys;
    for (const value& each : done.body.at("results").as_array())
        keys.emplace(each.at_pointer("/card/key").as_string());
    EXPECT_EQ(keys.size(), 100u);
}

TEST(Batches, OfManyAtOnceInAnyOrderAllSucceed) {
    Bench bench;
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 4; ++worker)
        workers.emplace_back([&bench, worker] {
            for (int i = 0; i < 5; ++i) {
                array operations{
                    bench.update(bench.a, {{"estimate", worker * 10 + i}}),
                    bench.update(bench.b, {{"estimate", worker * 10 + i}})};
                if (worker % 2) std::swap(operations[0], operations[1]);
                EXPECT_EQ(bench.run(operations).status, 200);
            }
        });
    for (auto& worker : workers) worker.join();
    EXPECT_EQ(
        bench.fixture.get(*Uuid::parse(bench.a)).body.at("estimate"),
        bench.fixture.get(*Uuid::parse(bench.b)).body.at("estimate")
    );
}

/// How long two batches take that share a board's lock and then want it alone, while somebody else
/// shares it for a moment.
std::chrono::milliseconds time_of_two_that_share_and_then_want(Bench& bench, int round) {
    using Clock = std::chrono::steady_clock;
    const std::string board = bench.fixture.board.str();
    const std::string label = in_process()
                                  .must(
                                      bench.fixture.owner,
                                      "create_label",
                                      {{"board_id", board}, {"name", std::to_string(round)}}
                                  )
                                  .text("/id");
    std::thread sharer([&] {
        in_process().run(
            "BEGIN; SELECT FROM board_counters WHERE board_id = '" + board +
            "' FOR KEY SHARE; SELECT pg_sleep(0.4); COMMIT"
        );
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    const auto begun = Clock::now();
    std::vector<std::thread> workers;
    for (const std::string& card : {bench.a, bench.b})
        workers.emplace_back([&bench, card, label, name = card.substr(0, 30) + label] {
            const Answer done = bench.run(
                {bench.update(card, {{"labels", {label}}}),
                 bench.update(card, {{"labels", {name.substr(0, 60)}}})}
            );
            EXPECT_EQ(done.status, 200);
        });
    for (auto& worker : workers) worker.join();
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
    sharer.join();
    return took;
}

/// If they held each other up, PostgreSQL would notice after a second (deadlock_timeout). A busy
/// machine may be as slow by itself, but not every time.
TEST(Batches, ThatShareABoardAndThenWantItAloneDoNotHoldEachOtherUp) {
    Bench bench;
    auto shortest = std::chrono::milliseconds::max();
    for (int round = 0; round < 4 && shortest.count() >= 900; ++round)
        shortest = std::min(shortest, time_of_two_that_share_and_then_want(bench, round));
    EXPECT_LT(shortest.count(), 900);
}

TEST(Batches, WhoMayOnlyLookChangesNothing) {
    Bench bench;
    const Caller viewer = in_process().person(bench.fixture.owner, OrgRole::viewer, "Vi");
    const Answer refused = in_process().ask(
        viewer, "batch_cards", {{"operations", array{bench.update(bench.a, {{"title", "No"}})}}}
    );
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(bench.title(bench.a), "a");
}

}  // namespace svc::test
