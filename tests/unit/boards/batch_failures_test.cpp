#include "tests/support/in_process_server.hpp"

#include <gtest/gtest.h>

/// Items of a batch that the database refuses, though all that is asked of them before was right.
namespace svc::test {

namespace {

using boost::json::array;
using boost::json::object;

object rename(const std::string& card, const std::string& title) {
    return {{"update", {{"card_id", card}, {"title", title}}}};
}

/// Makes the database refuse a title, as it would a value beyond its type.
struct Overflow {
    Overflow() {
        in_process().run(
            "CREATE OR REPLACE FUNCTION refuse_overflow() RETURNS trigger LANGUAGE plpgsql AS $$"
            " BEGIN RAISE EXCEPTION SQLSTATE '22003' USING MESSAGE = 'out of range'; END $$"
        );
        in_process().run(
            "CREATE OR REPLACE TRIGGER refuse_overflow BEFORE UPDATE ON cards FOR EACH ROW"
            " WHEN (NEW.title = 'overflow') EXECUTE FUNCTION refuse_overflow()"
        );
    }
    ~Overflow() { in_process().run("DROP TRIGGER refuse_overflow ON cards"); }
};

}  // namespace

TEST(BatchFailures, LeaveTheOtherItemsAsTheyAre) {
    BoardFixture fixture;
    const auto a = fixture.card(fixture.backlog, {{"title", "a"}}).text("/id"),
               b = fixture.card(fixture.backlog, {{"title", "b"}}).text("/id");
    const Overflow overflow;
    const Answer done = in_process().ask(
        fixture.owner,
        "batch_cards",
        object{{"atomic", false}, {"operations", array{rename(a, "overflow"), rename(b, "fine")}}}
    );
    ASSERT_EQ(done.status, 200) << boost::json::serialize(done.body);
    EXPECT_EQ(done.number("/results/0/status"), 422);
    EXPECT_EQ(done.number("/results/1/status"), 200);
    EXPECT_EQ(fixture.get(*Uuid::parse(a)).text("/title"), "a");
    EXPECT_EQ(fixture.get(*Uuid::parse(b)).text("/title"), "fine");
}

/// Makes the database too busy for a title.
struct TooBusy {
    TooBusy() {
        in_process().run(
            "CREATE OR REPLACE FUNCTION be_too_busy() RETURNS trigger LANGUAGE plpgsql AS $$"
            " BEGIN RAISE EXCEPTION SQLSTATE '53200' USING MESSAGE = 'out of memory'; END $$"
        );
        in_process().run(
            "CREATE OR REPLACE TRIGGER be_too_busy BEFORE UPDATE ON cards FOR EACH ROW"
            " WHEN (NEW.title = 'busy') EXECUTE FUNCTION be_too_busy()"
        );
    }
    ~TooBusy() { in_process().run("DROP TRIGGER be_too_busy ON cards"); }
};

TEST(BatchFailures, OfTheServersEndTheWholeCallAndNothingIsDone) {
    BoardFixture fixture;
    const auto a = fixture.card(fixture.backlog, {{"title", "a"}}).text("/id"),
               b = fixture.card(fixture.backlog, {{"title", "b"}}).text("/id");
    const TooBusy too_busy;
    const Answer refused = in_process().ask(
        fixture.owner,
        "batch_cards",
        object{{"atomic", false}, {"operations", array{rename(a, "fine"), rename(b, "busy")}}}
    );
    EXPECT_EQ(refused.status, 503) << boost::json::serialize(refused.body);
    EXPECT_EQ(fixture.get(*Uuid::parse(a)).text("/title"), "a");
}

TEST(BatchFailures, NameTheirPlaceInTheRequest) {
    BoardFixture fixture;
    const auto card = fixture.card(fixture.backlog).text("/id");
    object labels = rename(card, "fine");
    labels["update"].as_object()["labels"] = array{new_uuid().str()};
    const Answer done = in_process().ask(
        fixture.owner,
        "batch_cards",
        object{{"atomic", false}, {"operations", array{rename(card, "fine"), labels}}}
    );
    EXPECT_EQ(
        done.body.at_pointer("/results/1/error/detail/0/loc"),
        (value{"arguments", "operations", 1, "update", "labels", 0})
    );
}

}  // namespace svc::test
