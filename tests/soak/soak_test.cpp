#include "tests/soak/people.hpp"
#include "tests/support/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <thread>

/// Forty clients that mean harm beside two that work: the two notice little of it.
///
/// WORKBOARD_SOAK_SECONDS says for how long: `./test` takes a short time, in which no answer may be
/// wrong and no memory be lost; `./test long` an hour, in which nobody may be held up either.
namespace svc::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

constexpr int hostile_clients = 40;
constexpr double most_times_quiet = 3;
constexpr std::size_t most_resident = std::size_t{400} << 20;

seconds soak_time() {
    const char* said = std::getenv("WORKBOARD_SOAK_SECONDS");
    return seconds(said ? std::atoi(said) : 60);
}

/// Long enough for times to mean something, on a machine that does nothing else.
bool times_count() { return soak_time() >= seconds(3600); }

/// 99 of 100 answers came at least as quickly, in milliseconds.
double p99(std::vector<double> times) {
    if (times.empty()) return 0;
    const auto at = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 99 / 100);
    std::ranges::nth_element(times, at);
    return *at;
}

std::vector<double> times_of(std::vector<std::unique_ptr<HonestClient>>& all) {
    std::vector<double> times;
    for (auto& each : all) {
        const auto more = each->take_times();
        times.insert(times.end(), more.begin(), more.end());
    }
    return times;
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values.empty() ? 0 : values[values.size() / 2];
}

/// Does harm in its way until `stop`. Whatever it is answered, it goes on; after a refusal it
/// waits a moment, as it would have to on a machine of its own.
void harm(const Server& server, const Prey& prey, const Harm& way, std::stop_token stop) {
    Client client = prey.workspace.client;
    for (int round = 0; !stop.stop_requested(); ++round) {
        try {
            way.once(server, prey, client, round);
        } catch (const std::exception&) {
            // Cut off, refused or too slow: all of that is as it should be.
        }
        std::this_thread::sleep_for(10ms);
    }
}

}  // namespace

TEST(Soak, TwoWorkWhileFortyMeanHarm) {
    const Server server({});
    std::vector<std::unique_ptr<HonestClient>> honest;
    for (const char* name : {"ada", "bea"})
        honest.push_back(std::make_unique<HonestClient>(server, name));
    // Four workspaces of ten clients each: nobody is alone with what is allowed.
    std::vector<std::future<Prey>> filled;
    for (int i = 0; i < 4; ++i)
        filled.push_back(std::async(
            std::launch::async,
            fill_workspace,
            std::cref(server),
            "harm" + std::to_string(i) + "@example.com"
        ));
    std::vector<Prey> prey;
    for (auto& each : filled) prey.push_back(each.get());

    std::vector<std::jthread> workers;
    for (auto& each : honest) workers.emplace_back([&](std::stop_token stop) { each->work(stop); });
    std::vector<double> quiet;
    if (times_count()) {
        std::this_thread::sleep_for(5s);  // that warm connections and caches
        times_of(honest);
        for (int i = 0; i < 3; ++i) {
            std::this_thread::sleep_for(6s);
            quiet.push_back(p99(times_of(honest)));
        }
    }

    std::vector<std::jthread> hostile;
    const auto& ways = ways_of_harm();
    for (int i = 0; i < hostile_clients; ++i)
        hostile.emplace_back([&, i](std::stop_token stop) {
            harm(
                server,
                prey[static_cast<std::size_t>(i) % prey.size()],
                ways[static_cast<std::size_t>(i) % ways.size()],
                stop
            );
        });
    std::vector<double> beside;
    std::size_t resident = 0;
    const auto end = std::chrono::steady_clock::now() + soak_time();
    while (std::chrono::steady_clock::now() < end) {
        const auto pause = std::chrono::steady_clock::now() + 20s;
        while (std::chrono::steady_clock::now() < std::min(pause, end)) {
            std::this_thread::sleep_for(200ms);
            resident = std::max(resident, resident_bytes(server.pid()));
        }
        beside.push_back(p99(times_of(honest)));
    }
    for (auto& each : hostile) each.request_stop();  // all at once: each may take seconds to end
    hostile.clear();
    workers.clear();

    std::size_t writes = 0;
    for (auto& each : honest) {
        each->check_all();
        writes += each->writes();
        for (const auto& fault : each->faults()) ADD_FAILURE() << fault;
    }
    RecordProperty("p99_beside_ms", std::to_string(median(beside)));
    RecordProperty("resident_mib", std::to_string(resident >> 20));
    std::printf(
        "%zu writes; p99 beside them %.1f ms; resident at most %zu MiB\n",
        writes,
        median(beside),
        resident >> 20
    );
    EXPECT_GT(writes, 100u);
    if (times_count()) {
        RecordProperty("p99_quiet_ms", std::to_string(median(quiet)));
        std::printf("p99 quiet %.1f ms, %.2f x\n", median(quiet), median(beside) / median(quiet));
        EXPECT_LE(median(beside), most_times_quiet * median(quiet));
    }
    if (memory_is_given_back) {
        EXPECT_LE(resident, most_resident);
    }
}

}  // namespace svc::test
