#include "lab.hpp"
#include "load.hpp"

#include <fmt/format.h>

#include <atomic>
#include <thread>

/// Several servers on one database: how soon one hears of what happened on another.
namespace svc::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int writes_a_second = 500, writers = 8;

/// Makes cards at that pace on one server, until it is gone.
class Writing {
public:
    Writing(std::uint16_t port, const std::string& create) {
        for (int i = 0; i < writers; ++i)
            threads_.emplace_back([this, port, create] {
                Presser presser(port);
                const auto pace = std::chrono::microseconds(1'000'000 * writers / writes_a_second);
                for (auto next = Clock::now(); !ending_; next += pace) {
                    std::this_thread::sleep_until(next);
                    presser.ask(create);
                    ++made_;
                }
            });
    }
    ~Writing() {
        ending_ = true;
        for (auto& each : threads_) each.join();
    }
    double per_second() const {
        return static_cast<double>(made_) /
               std::chrono::duration<double>(Clock::now() - since_).count();
    }

private:
    const Clock::time_point since_ = Clock::now();
    std::atomic<bool> ending_{false};
    std::atomic<long> made_{0};
    std::vector<std::thread> threads_;
};

/// A board of its own with a queue that is empty, and a column to write into.
struct Place {
    std::string board, queue, other;

    explicit Place(Lab& lab, const std::string& name) {
        auto client = lab.server().client();
        client.token(lab.token());
        const auto made = client.post(
            "/v1/boards",
            boost::json::value{
                {"name", name},
                {"columns",
                 {{{"name", "Do"}, {"kind", "queue"}}, {{"name", "Other"}, {"kind", "backlog"}}}}
            }
        );
        board = made.text("/id");
        queue = made.text("/column_ids/0");
        other = made.text("/column_ids/1");
    }
    std::string create_in(const std::string& column, const std::string& token) const {
        return request_text(
            "POST",
            "/v1/boards/" + board + "/cards",
            token,
            R"({"title": "Card", "column_id": ")" + column + "\"}"
        );
    }
    std::string claim(const std::string& token) const {
        return request_text(
            "POST",
            "/v1/boards/" + board + "/columns/" + queue + ":claim-next",
            token,
            R"({"wait_seconds": 20})"
        );
    }
};

/// From the answer to a create on one server to that of a claim that has waited on another.
std::vector<double> wakes(
    const Place& place,
    const std::string& token,
    std::uint16_t waiting,
    std::uint16_t writing,
    double seconds
) {
    std::vector<double> milliseconds;
    Presser worker(waiting), writer(writing);
    const auto claim = place.claim(token), create = place.create_in(place.queue, token);
    for (const auto end = Clock::now() + std::chrono::duration<double>(seconds);
         Clock::now() < end;) {
        Clock::time_point answered;
        std::thread waits([&] {
            worker.ask(claim);
            answered = Clock::now();
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(40));  // so that it waits
        writer.ask(create);
        const auto made = Clock::now();
        waits.join();
        milliseconds.push_back(std::chrono::duration<double, std::milli>(answered - made).count());
    }
    return milliseconds;
}

/// Of claims that wait on the server that puts events in order, and on a third one.
struct Wakes {
    std::vector<double> leader, third;
};

Wakes measure(
    Lab& lab, const Place& place, const Plan& plan, const std::string& plugins, Report& report
) {
    const auto token = lab.token();
    const auto& leader = lab.restart({plugins});
    auto options = lab.options({plugins});
    options.var.clear();
    const test::Server writing(options), third(options);
    std::this_thread::sleep_for(std::chrono::seconds(2));  // they know of each other
    const Writing load(writing.port(), place.create_in(place.other, token));
    Wakes out;
    for (int round = 0; round < plan.rounds; ++round) {
        const auto add = [&](std::vector<double>& to, std::uint16_t waiting) {
            const auto some = wakes(place, token, waiting, writing.port(), plan.seconds);
            to.insert(to.end(), some.begin(), some.end());
        };
        add(out.leader, leader.port());
        add(out.third, third.port());
    }
    report.note(fmt::format("{}: {:.0f} cards a second", plugins, load.per_second()));
    return out;
}

boost::json::object part(const std::vector<double>& values) {
    return {{"p99_ms", quantile(values, 0.99)}, {"count", values.size()}};
}

}  // namespace

void measure_servers(Lab& lab, const Plan& plan, Report& report) {
    const Place place(lab, "Servers");
    const std::string others = "plugins=mail-file,store-local";
    const auto woken = measure(lab, place, plan, others + ",bus-postgres", report);
    const auto polling = measure(lab, place, plan, others, report);
    report.figure("wake-leader-p50-ms", median(woken.leader), at_most(20), part(woken.leader));
    report.figure("wake-third-p50-ms", median(woken.third), at_most(20), part(woken.third));
    report.figure("wake-third-p99-ms", quantile(woken.third, 0.99), at_most(100));
    report.figure(
        "wake-third-p50/polling",
        median(woken.third) / median(polling.third),
        at_most(0.5),
        {{"polling", part(polling.third)}, {"polling_p50_ms", median(polling.third)}}
    );
    lab.restart();
}

}  // namespace svc::bench
