#include "lab.hpp"
#include "load.hpp"
#include "process.hpp"

#include <sys/resource.h>

#include <thread>

/// Clients that are connected and say nothing, and clients that say half a word.
namespace svc::bench {

namespace {

constexpr int many = 9000;

void allow_sockets() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < many + 1000)
        throw std::runtime_error(
            "9,000 connections need `ulimit -Hn` of 10000 or more; here it is " +
            std::to_string(limit.rlim_max)
        );
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string note() { return request_text("GET", "/v1/bench-note", ""); }

void measure_herd(Lab& lab, const Plan& plan, Report& report) {
    const auto& server = lab.restart();
    constexpr int requests = 4000;
    Herd few(server.port(), 32, note());
    few.stroll(requests);
    const int threads_before = threads_of(server.pid());
    const double memory_before = own_memory(server.pid());
    std::vector<double> quiet, among;
    int threads_more = 0;
    double memory_more = 0;
    for (int round = 0; round < plan.rounds; ++round) {
        quiet.push_back(quantile(few.stroll(requests), 0.99));
        Herd herd(server.port(), many, note());
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        if (round == 0) {
            threads_more = threads_of(server.pid()) - threads_before;
            memory_more = own_memory(server.pid()) - memory_before;
        }
        among.push_back(quantile(herd.stroll(requests), 0.99));
    }
    report.figure("idle-9000-threads-more", threads_more, at_most(4));
    report.figure("idle-9000-bytes-each", memory_more / many, at_most(1024));
    report.figure(
        "idle-9000-p99/quiet",
        median(among) / median(quiet),
        at_most(2),
        {{"quiet_ms", boost::json::value_from(quiet)}, {"among_ms", boost::json::value_from(among)}}
    );
}

/// Connections that send the first half of a head and stop; again when they are closed for it.
class HalfHeads {
public:
    HalfHeads(std::uint16_t port, int count) {
        for (int i = 0; i < count; ++i) {
            connections_.emplace_back(port);
            connections_.back().write("GET /v1/bench-note HTTP/1.1\r\nHost: be");
        }
    }

private:
    std::vector<test::Connection> connections_;
};

void measure_half_heads(Lab& lab, const Plan& plan, Report& report) {
    const auto& server = lab.restart({"server.workers=8"});
    Herd herd(server.port(), 200, note());
    const auto pace = std::chrono::milliseconds(50);
    std::vector<double> without, with, answered_without, answered_with;
    int unanswered = 0;
    herd.trot(pace, 1);
    for (int round = 0; round < plan.rounds; ++round) {
        const auto quiet = herd.trot(pace, plan.seconds);
        without.push_back(quantile(quiet.milliseconds, 0.99));
        answered_without.push_back(static_cast<double>(quiet.milliseconds.size()));
        const HalfHeads stuck(server.port(), 100);
        const auto pressed = herd.trot(pace, plan.seconds);
        with.push_back(quantile(pressed.milliseconds, 0.99));
        answered_with.push_back(static_cast<double>(pressed.milliseconds.size()));
        unanswered += quiet.unanswered + pressed.unanswered;
    }
    report.figure("half-heads-unanswered", unanswered, at_most(0));
    report.figure(
        "half-heads-answers/without",
        median(answered_with) / median(answered_without),
        at_least(0.98)
    );
    report.figure(
        "half-heads-p99/without",
        median(with) / median(without),
        at_most(1.5),
        {{"without_ms", boost::json::value_from(without)},
         {"with_ms", boost::json::value_from(with)}}
    );
}

}  // namespace

void measure_idle(Lab& lab, const Plan& plan, Report& report) {
    allow_sockets();
    measure_herd(lab, plan, report);
    measure_half_heads(lab, plan, report);
}

}  // namespace svc::bench
