// Names whose servers do not answer, or not twice the same.

#include "modules/lib/http_client/resolver.hpp"
#include "modules/lib/http_client/dial.hpp"
#include "modules/lib/http_client/http_client.hpp"
#include "modules/lib/http_client/http_loop.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/listener.hpp"
#include "tests/support/webhook_receiver.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <future>

namespace svc::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Addresses = std::vector<Poco::Net::IPAddress>;
using testing::HasSubstr;

/// A resolver that answers once it is let to. What is asked outlives whoever asks.
struct Slow {
    std::atomic<bool> answers{false};
    std::atomic<int> asked{0}, answered{0};

    static Resolver::Lookup lookup(const std::shared_ptr<Slow>& slow) {
        return [slow](const std::string&) {
            ++slow->asked;
            while (!slow->answers) std::this_thread::sleep_for(2ms);
            ++slow->answered;
            return Addresses{Poco::Net::IPAddress("127.0.0.1")};
        };
    }
};

TEST(Resolvers, WhoeverDialsWaitsForANameNoLongerThanThereIsTime) {
    const auto slow = std::make_shared<Slow>();
    Resolver resolver(Slow::lookup(slow), {}, 1);
    const auto begin = Clock::now();
    EXPECT_THROW(look_up_until(resolver, "slow.example", begin + 100ms), std::runtime_error);
    EXPECT_LT(Clock::now() - begin, 3s);
    const Addresses here{Poco::Net::IPAddress("127.0.0.1")};
    EXPECT_EQ(look_up_until(resolver, "127.1", Clock::now() + 3s), here) << "which is no name";
    slow->answers = true;
    EXPECT_EQ(look_up_until(resolver, "slow.example", Clock::now() + 30s), here);
}

TEST(Resolvers, WhoeverAsksAServerWaitsForItsNameNoLongerThanThereIsTime) {
    const auto slow = std::make_shared<Slow>();
    Resolver resolver(Slow::lookup(slow), {}, 1);
    const HttpClient client({.time = 2s, .resolver = &resolver});
    const auto begin = Clock::now();
    try {
        client.run({.to = WebAddress::parse("http://slow.example/")});
        ADD_FAILURE() << "nobody answers there";
    } catch (const HttpError& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("slow.example was not found in time"));
    }
    EXPECT_LT(Clock::now() - begin, 10s);
    EXPECT_EQ(slow->asked, 1);
    slow->answers = true;
}

TEST(Resolvers, NamesOfUsersThatHangKeepNobodyFromThoseOfTheOperator) {
    const auto slow = std::make_shared<Slow>();
    const Addresses here{Poco::Net::IPAddress("127.0.0.1")};
    const auto hangs = Slow::lookup(slow);
    Resolver resolver(
        [=](const std::string& host) { return host == "store.internal" ? here : hangs(host); },
        {},
        8
    );
    std::vector<std::thread> users;
    for (int i = 0; i < 16; ++i)
        users.emplace_back([&, i] {
            EXPECT_THROW(
                look_up_until(
                    resolver,
                    "name" + std::to_string(i) + ".example",
                    Clock::now() + 1s,
                    AddressRules::public_and({})
                ),
                std::runtime_error
            );
        });
    ASSERT_TRUE(eventually([&] { return slow->asked == 2; }));
    EXPECT_EQ(look_up_until(resolver, "store.internal", Clock::now() + 30s), here);
    for (auto& each : users) each.join();
    slow->answers = true;
}

TEST(Resolvers, AQuestionThatNobodyGotToInTimeIsForgotten) {
    const auto slow = std::make_shared<Slow>();
    std::atomic<int> told{0};
    const auto tell = [&](const Resolver::Answer&) { ++told; };
    Resolver resolver(Slow::lookup(slow), {}, 4);  // of which a group has one thread
    resolver.ask("a.example", "group", Clock::now() + 1min, tell);
    ASSERT_TRUE(eventually([&] { return slow->asked == 1; }));
    for (int i = 0; i < 100; ++i) resolver.ask("b.example", "group", Clock::now() + 20ms, tell);
    resolver.ask("c.example", "group", Clock::now() + 1min, tell);
    std::this_thread::sleep_for(50ms);
    slow->answers = true;
    ASSERT_TRUE(eventually([&] { return told == 2; }));
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(slow->asked, 2);
    EXPECT_EQ(told, 2);
}

TEST(Resolvers, EndAtOnceWhoeverDoesNotAnswer) {
    const auto slow = std::make_shared<Slow>();
    std::atomic<int> told{0};
    auto resolver = std::make_unique<Resolver>(Slow::lookup(slow), AddressRules(), 8);
    for (int i = 0; i < 8; ++i)
        resolver->ask("a.example", std::to_string(i), Clock::now() + 1min, [&](const auto&) {
            ++told;
        });
    ASSERT_TRUE(eventually([&] { return slow->asked == 8; }));
    const auto begun = Clock::now();
    resolver.reset();
    EXPECT_LT(Clock::now() - begun, 1s);
    slow->answers = true;
    ASSERT_TRUE(eventually([&] { return slow->answered == 8; }));
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(told, 0) << "whoever asked is gone";
}

TEST(Resolvers, ThatDoNotAnswerHoldUpNoLoopThatEnds) {
    const auto slow = std::make_shared<Slow>();
    auto loop = std::make_unique<HttpLoop>(
        HttpLoop::Settings{.connect_time = 30s, .time = 30s, .lookup = Slow::lookup(slow)}
    );
    for (int i = 0; i < 100; ++i)
        loop->post(
            {.to = WebAddress::parse("http://a.example/"),
             .body = std::make_shared<const std::string>(),
             .lane = std::to_string(i),
             .group = std::to_string(i)},
            [](const auto&) {}
        );
    ASSERT_TRUE(eventually([&] { return slow->asked == 16; }));
    const auto begun = Clock::now();
    loop.reset();
    EXPECT_LT(Clock::now() - begun, 1s);
    slow->answers = true;
    EXPECT_TRUE(eventually([&] { return slow->answered == 16; }));
}

/// A name of which the answers change, where 127.0.0.2 counts as public and 127.0.0.1 does not.
class Rebinding : public testing::Test {
protected:
    HttpLoop::Outcome post() {
        std::promise<HttpLoop::Outcome> promise;
        loop.post(
            {.to = WebAddress::parse("http://rebinds.example:" + inner.port() + "/"),
             .body = std::make_shared<const std::string>("{}"),
             .lane = "a",
             .group = "a"},
            [&](HttpLoop::Outcome outcome) { promise.set_value(std::move(outcome)); }
        );
        return promise.get_future().get();
    }
    static void answer(int socket) {
        char bytes[4096];
        if (::recv(socket, bytes, sizeof bytes, 0) > 0) write_all(socket, http_answer(200));
    }
    static Poco::Net::IPAddress address(const char* text) { return Poco::Net::IPAddress(text); }

    const Poco::Net::IPAddress allowed = address("127.0.0.2"), refused = address("127.0.0.1");
    std::vector<Addresses> answers;
    std::atomic<std::size_t> asked{0};
    const Listener inner{answer, "127.0.0.1"}, outer{answer, "127.0.0.2", inner.port()};
    HttpLoop loop{{
        .time = 5s,
        .rules = AddressRules::public_and({"127.0.0.2/32"}),
        .lookup = [this](const std::string&) { return answers.at(asked++); },
    }};
};

TEST_F(Rebinding, WhatIsDialledIsTheAddressThatWasJudged) {
    // Whoever asked twice would be told another the second time.
    answers = {{allowed}, {refused}, {refused}};
    const auto first = post();
    EXPECT_EQ(first.status, 200) << first.error;
    EXPECT_EQ(asked, 1u) << "it is asked once";
    EXPECT_EQ(outer.connections(), 1);
    const auto second = post();
    EXPECT_EQ(second.status, 0);
    EXPECT_THAT(second.error, HasSubstr("not on the public internet"));
    EXPECT_EQ(inner.connections(), 0);
}

TEST_F(Rebinding, ANameWithAnAddressThatIsRefusedBesideOthersIsRefused) {
    answers = {{allowed, refused}, {refused, allowed}};
    for (int i = 0; i < 2; ++i) EXPECT_THAT(post().error, HasSubstr("not on the public internet"));
    EXPECT_EQ(inner.connections() + outer.connections(), 0);
}

}  // namespace
}  // namespace svc::test
