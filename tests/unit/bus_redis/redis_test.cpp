#include "tests/support/redis.hpp"
#include "modules/lib/http_client/dial.hpp"
#include "plugins/bus-redis/lib/redis_connection.hpp"
#include "tests/support/certificate.hpp"
#include "tests/unit/bus/hub.hpp"

#include <Poco/Net/ServerSocket.h>

/// The bus over a real Redis.
namespace svc::test {

using bus_redis::RedisConnection;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// What bus-redis does.
class RedisDriver final : public BusDriver {
public:
    explicit RedisDriver(std::uint16_t port, bus_redis::Settings given = {})
        : settings(std::move(given)) {
        settings.host = settings.tls ? "localhost" : "127.0.0.1";
        settings.port = port;
        if (settings.tls) context_ = tls_context(settings.ca_file);
    }
    std::string describe() const override { return "bus-redis"; }
    std::unique_ptr<BusConnection> connect(const std::string& channel) override {
        return std::make_unique<RedisConnection>(settings, context_, channel);
    }
    bus_redis::Settings settings;

private:
    Poco::Net::Context::Ptr context_;
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

std::string why_not(RedisDriver driver) {
    try {
        driver.connect("one");
    } catch (const std::exception& problem) {
        return problem.what();
    }
    return "it connected";
}

}  // namespace

TEST(BusRedis, CarriesMessagesToWhoeverListensToTheChannel) {
    const RedisServer redis;
    RedisDriver driver(redis.port());
    const auto here = driver.connect("one"), there = driver.connect("one");
    const auto elsewhere = driver.connect("another");
    const std::string longest(BusConnection::longest_message, 'x');
    for (const std::string& each : {std::string("a\r\n b"), longest}) here->send(each);
    for (BusConnection* each : {here.get(), there.get()})
        EXPECT_THAT(received(*each, 2), ElementsAre("a\r\n b", longest));
    EXPECT_THAT(elsewhere->receive(), IsEmpty());
}

TEST(BusRedis, LogsIn) {
    const RedisServer redis({"--requirepass", "a long password"});
    EXPECT_THAT(why_not(RedisDriver(redis.port())), testing::HasSubstr("NOAUTH"));
    EXPECT_THAT(
        why_not(RedisDriver(redis.port(), {.password = "another"})), testing::HasSubstr("WRONGPASS")
    );
    EXPECT_EQ(why_not(RedisDriver(redis.port(), {.password = "a long password"})), "it connected");
    EXPECT_EQ(
        why_not(RedisDriver(redis.port(), {.username = "default", .password = "a long password"})),
        "it connected"
    );
}

// docs/operating.md says that these are all that is needed.
TEST(BusRedis, NeedsFewRights) {
    const RedisServer redis;
    redis.ask(
        {"ACL",
         "SETUSER",
         "board",
         "on",
         ">a long password",
         "resetchannels",
         "&workboard_*",
         "-@all",
         "+publish",
         "+subscribe"}
    );
    RedisDriver driver(redis.port(), {.username = "board", .password = "a long password"});
    const auto connection = driver.connect("workboard_one");
    connection->send("hello");
    EXPECT_THAT(received(*connection, 1), ElementsAre("hello"));
    EXPECT_THROW(driver.connect("one"), std::runtime_error);
}

TEST(BusRedis, SpeaksTlsToWhoeverAnAuthorityVouchesFor) {
    const http::test::Certificate files;
    const auto port = std::to_string(free_port());
    const RedisServer redis(
        {"--tls-port",
         port,
         "--tls-cert-file",
         files.certificate(),
         "--tls-key-file",
         files.key(),
         "--tls-auth-clients",
         "no"}
    );
    const auto number = static_cast<std::uint16_t>(std::stoi(port));
    RedisDriver driver(number, {.tls = true, .ca_file = files.certificate()});
    const auto here = driver.connect("one"), there = driver.connect("one");
    std::vector<std::string> all;
    for (int i = 0; i < 200; ++i)
        here->send(all.emplace_back(std::to_string(i) + std::string(999, 'x')));
    EXPECT_EQ(received(*there, 200), all);
    EXPECT_THAT(why_not(RedisDriver(number, {.tls = true})), testing::HasSubstr("ertificate"));
}

TEST(BusRedis, SaysWhatIsWrong) {
    EXPECT_THAT(why_not(RedisDriver(free_port())), testing::HasSubstr("refused"));
    Poco::Net::ServerSocket silent(Poco::Net::SocketAddress("127.0.0.1", 0));
    EXPECT_THAT(
        why_not(RedisDriver(silent.address().port(), {.timeout_seconds = 1})),
        testing::HasSubstr("takes too long")
    );
}

TEST(BusRedis, ComesBackWhenRedisDoes) {
    RedisServer redis;
    RedisDriver one(redis.port()), two(redis.port());
    HearingBus first(one), second(two);
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    for (int round = 0; round < 3; ++round) {
        redis.stop();
        ASSERT_TRUE(eventually([&] { return !first.bus.load().connected; }));
        redis.start();
        ASSERT_TRUE(first.knows(1) && second.knows(1));
        const auto word = std::to_string(round);
        EXPECT_TRUE(eventually([&] {
            first.bus.publish("test", word);
            return std::ranges::count(second.heard(), word) > 0;
        }));
    }
}

TEST(BusRedis, NoticesARedisThatStandsStill) {
    const RedisServer redis;
    RedisDriver one(redis.port()), two(redis.port());
    HearingBus first(one), second(two);
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    redis.pause();
    EXPECT_TRUE(eventually([&] { return !first.bus.load().connected; }));
    const auto since = std::chrono::steady_clock::now();
    second.bus.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - since, 10s);
    redis.resume();
    EXPECT_TRUE(eventually([&] { return first.bus.load().connected; }));
}

// Anybody who may use a shared Redis can publish on the channel.
TEST(BusRedis, OutlivesWhateverOthersPublish) {
    const RedisServer redis;
    RedisDriver one(redis.port()), two(redis.port());
    HearingBus first(one), second(two);
    ASSERT_TRUE(first.knows(1) && second.knows(1));
    redis.ask(
        {"EVAL",
         "local big = string.rep('x', 3000000)\n"
         "for i = 1, 5 do redis.call('PUBLISH', 'workboard_test', big) end",
         "0"}
    );
    EXPECT_TRUE(eventually([&] {
        first.bus.publish("test", "through");
        return std::ranges::count(second.heard(), "through") > 0;
    }));
    // Who reads too slowly is sent away by Redis and misses some of it.
    EXPECT_TRUE(eventually([&] {
        redis.ask(
            {"EVAL",
             "for i = 1, 600 do redis.call('PUBLISH', 'workboard_test', 'garbage ' .. i) end",
             "0"}
        );
        return second.bus.load().rejected > 500;
    }));
    EXPECT_EQ(std::ranges::count(second.heard(), "through"), std::ssize(second.heard()));
}

}  // namespace svc::test
