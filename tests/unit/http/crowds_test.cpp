#include "tests/unit/http/http_fixture.hpp"

#include "tests/support/memory.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <filesystem>
#include <fstream>

/// Many at once.
namespace svc::http::test {

namespace {

std::size_t threads_of_this_process() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/task"))
        ++count;
    return count;
}

/// Both ends of a connection are in this process.
bool can_open(rlim_t connections) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_max > 2 * connections + 200;
}

}  // namespace

TEST(Crowds, TwoHundredClientsAreServedByEightWorkersWhileAHundredSendHalfAHead) {
    Settings settings;
    settings.workers = 8;
    HttpFixture fixture(settings);
    std::vector<Client> slow;
    for (int each = 0; each < 100; ++each) {
        slow.push_back(fixture.client());
        slow.back().send("POST /echo HTTP/1.1\r\nHost: te");
    }
    constexpr int threads = 10, clients_each = 20, requests = 25;
    std::atomic<int> answered{0};
    std::vector<std::thread> crowd;
    for (int each = 0; each < threads; ++each)
        crowd.emplace_back([&] {
            std::vector<Client> clients;
            for (int i = 0; i < clients_each; ++i) clients.push_back(fixture.client());
            for (int turn = 0; turn < requests; ++turn) {
                for (auto& client : clients) client.send(get("/"));
                for (auto& client : clients)
                    if (const auto reply = client.read_reply(); reply && reply->body == "hello")
                        ++answered;
            }
        });
    for (auto& each : crowd) each.join();
    EXPECT_EQ(answered, threads * clients_each * requests);
    EXPECT_EQ(fixture.load().refused, 0u);
}

TEST(Crowds, IdleConnectionsCostNoThreadsAndLittleMemory) {
    constexpr std::size_t count = 3000;
    ASSERT_TRUE(can_open(count)) << "this test needs 6,200 file descriptors";
    HttpFixture fixture;
    ASSERT_TRUE(fixture.answers());
    std::vector<Client> clients;
    clients.reserve(count);
    const auto threads = threads_of_this_process();
    const auto before = mallinfo2().uordblks;
    for (std::size_t each = 0; each < count; ++each) clients.push_back(fixture.client());
    for (auto& each : clients) {
        each.send(get("/"));
        ASSERT_EQ(recv(each.socket(), std::string(500, ' ').data(), 500, 0) > 0, true);
    }
    ASSERT_TRUE(eventually([&] { return fixture.load().connections >= count; }));
    const auto after = mallinfo2().uordblks;
    EXPECT_EQ(threads_of_this_process(), threads);
    RecordProperty("bytes_per_connection", std::to_string((after - before) / count));
    if (svc::test::memory_is_given_back) {
        EXPECT_LT((after - before) / count, 400u);
    }
    EXPECT_TRUE(fixture.answers());
}

TEST(Crowds, AConnectionWaitsUntilThereIsADescriptorForIt) {
    HttpFixture fixture;
    ASSERT_TRUE(fixture.answers());
    // Its other end closes a moment later, and must not free a descriptor below.
    ASSERT_TRUE(eventually([&] { return fixture.load().connections == 0; }));
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit few = before;
    few.rlim_cur = 200;
    setrlimit(RLIMIT_NOFILE, &few);
    std::vector<int> taken;
    for (int each = dup(0); each >= 0; each = dup(0)) taken.push_back(each);
    ASSERT_GT(taken.size(), 2u);
    close(taken.back());
    taken.pop_back();
    auto client = fixture.client();  // takes the last one, so that none is left for the other end
    client.send(get("/"));
    EXPECT_FALSE(client.read_reply("GET", 100ms));
    for (const int each : taken) close(each);
    setrlimit(RLIMIT_NOFILE, &before);
    const auto reply = client.read_reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body, "hello");
}

TEST(Crowds, AFloodOnOneConnectionLeavesRoomForOthers) {
    Settings settings;
    settings.workers = 2;
    HttpFixture fixture(settings);
    std::atomic<bool> done{false};
    std::vector<std::thread> floods;
    for (int each = 0; each < 3; ++each)
        floods.emplace_back([&] {
            auto client = fixture.client();
            std::string many;
            for (int i = 0; i < 2000; ++i) many += get("/");
            std::thread reader([&] {
                char waste[64 << 10];
                while (recv(client.socket(), waste, sizeof waste, 0) > 0) {
                }
            });
            while (!done && client.send(many)) {
            }
            shutdown(client.socket(), SHUT_RDWR);
            reader.join();
        });
    int answered = 0;
    for (int each = 0; each < 50; ++each) answered += fixture.answers();
    done = true;
    for (auto& each : floods) each.join();
    EXPECT_EQ(answered, 50);
}

TEST(Crowds, ConnectionsComeAndGoInSlotsThatAreUsedAgain) {
    HttpFixture fixture;
    std::vector<std::thread> crowd;
    std::atomic<int> answered{0};
    for (int each = 0; each < 8; ++each)
        crowd.emplace_back([&, each] {
            for (int turn = 0; turn < 150; ++turn) {
                auto client = fixture.client();
                if ((turn + each) % 5 == 0) client.send("GET / HT");  // and hangs up
                else if (const auto reply = client.ask(post("/echo", std::to_string(turn))))
                    answered += reply->body == std::to_string(turn);
            }
        });
    for (auto& each : crowd) each.join();
    EXPECT_EQ(answered, 8 * 120);
    EXPECT_TRUE(eventually([&] { return fixture.load().connections == 0; }));
}

}  // namespace svc::http::test
