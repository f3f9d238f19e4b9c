#include "tests/support/postgres.hpp"
#include "db/database.hpp"
#include "tests/unit/bus/hub.hpp"

/// The bus over LISTEN and NOTIFY of a real PostgreSQL.
namespace svc::test {

using testing::ElementsAre;
using testing::IsEmpty;

namespace {

std::unique_ptr<db::Database> open(const std::string& url) {
    db::Settings settings;
    settings.url = url;
    settings.pool = 2;
    return std::make_unique<db::Database>(settings);
}

/// What bus-postgres does.
class Listening final : public BusDriver {
public:
    explicit Listening(const std::string& url, std::string other = "")
        : database_(open(url)), other_(std::move(other)) {}
    std::string describe() const override { return "bus-postgres"; }
    std::unique_ptr<BusConnection> connect(const std::string& channel) override {
        return database_->listen(other_, channel);
    }

private:
    const std::unique_ptr<db::Database> database_;
    const std::string other_;
};

std::vector<std::string> received(BusConnection& connection, std::size_t count) {
    std::vector<std::string> out;
    eventually(
        [&] {
            for (auto& each : connection.receive()) out.push_back(std::move(each));
            return out.size() >= count;
        },
        10s
    );
    return out;
}

}  // namespace

TEST(BusPostgres, CarriesMessagesToWhoeverListensToTheChannel) {
    const auto url = Postgres::shared().empty_database();
    Listening first(url), second(url), elsewhere(Postgres::shared().empty_database());
    const auto here = first.connect("one"), there = second.connect("one");
    const auto other_channel = second.connect("another"), other_database = elsewhere.connect("one");
    const std::string longest(BusConnection::longest_message, 'x');
    for (const std::string& each : {std::string("a'b\n\\"), longest}) here->send(each);
    for (BusConnection* each : {here.get(), there.get()})
        EXPECT_THAT(received(*each, 2), ElementsAre("a'b\n\\", longest));
    EXPECT_THAT(other_channel->receive(), IsEmpty());
    EXPECT_THAT(other_database->receive(), IsEmpty());
}

TEST(BusPostgres, MayListenElsewhereThanTheDatabaseIs) {
    const auto url = Postgres::shared().empty_database();
    Listening pooled(Postgres::shared().empty_database(), url), direct(url);
    const auto here = pooled.connect("one"), there = direct.connect("one");
    here->send("hello");
    EXPECT_THAT(received(*there, 1), ElementsAre("hello"));
    EXPECT_THROW(Listening(url, "no url").connect("one"), std::runtime_error);
}

TEST(BusPostgres, ComesBackAfterARestartOfTheDatabase) {
    Postgres postgres;
    const auto url = postgres.empty_database();
    Listening one(url), two(url);
    HearingBus first(one), second(two);
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    for (int round = 0; round < 2; ++round) {
        postgres.restart();
        ASSERT_TRUE(eventually([&] { return first.bus.load().reconnects > 0; }));
        ASSERT_TRUE(first.knows(1) && second.knows(1));
        const auto word = std::to_string(round);
        EXPECT_TRUE(eventually([&] {
            first.bus.publish("test", word);
            return std::ranges::count(second.heard(), word) > 0;
        }));
    }
}

TEST(BusPostgres, ComesBackWhenItsSessionIsEnded) {
    const auto url = Postgres::shared().empty_database();
    Listening one(url), two(url);
    HearingBus first(one), second(two);
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    Postgres::shared().run(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
        url
    );
    ASSERT_TRUE(eventually([&] {
        return first.bus.load().reconnects >= 1 && second.bus.load().reconnects >= 1;
    }));
    EXPECT_TRUE(first.knows(1) && second.knows(1));
}

TEST(BusPostgres, NoticesADatabaseThatStandsStillAndEndsPromptly) {
    Postgres postgres;
    const auto url = postgres.empty_database();
    Listening one(url), two(url);
    HearingBus first(one), second(two);
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    postgres.pause();
    EXPECT_TRUE(eventually([&] { return !first.bus.load().connected; }));
    const auto since = std::chrono::steady_clock::now();
    second.bus.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - since, 15s);
    postgres.resume();
    EXPECT_TRUE(eventually([&] { return first.bus.load().connected; }));
}

}  // namespace svc::test
