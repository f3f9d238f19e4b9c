#include "lab.hpp"
#include "load.hpp"

#include <future>

/// Who is asking: what it costs to say, and what those who are only signing in cost the others.
namespace svc::bench {

namespace {

constexpr int connections = 32;

std::string asking(const std::string& path, const std::string& token = {}) {
    std::string script = "wrk.headers['X-Board-Version'] = '2026-06-19'\n";
    if (!token.empty()) script += "wrk.headers['Authorization'] = 'Bearer " + token + "'\n";
    return script + "function request() return wrk.format('GET', '" + path + "') end\n";
}

/// get_me, which asks the database who the token stands for and what there is to say of them,
/// against an answer that asks nobody anything.
void measure_me(Lab& lab, const Plan& plan, Report& report) {
    const auto me = asking("/v1/me", lab.token()), health = asking("/healthz");
    const auto port = lab.server().port();
    report.note("get_me with a token, 32 connections");
    const std::vector<Variant> variants{
        {"me", [&] { return wrk(port, connections, plan.seconds, "/", me).per_second; }},
        {"healthz", [&] { return wrk(port, connections, plan.seconds, "/", health).per_second; }},
    };
    const auto values = alternate(variants, plan.rounds);
    report.figure(
        "me/healthz",
        median(values[0]) / median(values[1]),
        boost::json::object{{"per_second", rounds_of(variants, values)}}
    );
}

/// As many log-ins as the server will take, each by somebody who knows the password.
double log_ins_per_second(std::uint16_t port, double seconds) {
    constexpr int people = 4;
    const auto log_in = request_text(
        "POST",
        "/v1/auth/login",
        {},
        R"({"email":"ada@example.com","password":"correct horse battery"})"
    );
    return press(people, seconds, [&](int) {
        auto presser = std::make_shared<Presser>(port);
        return [presser, &log_in] { presser->ask(log_in); };
    });
}

/// Herd and log-ins for that long, both at once; how many logged in a second, and the herd's times.
struct Beside {
    double log_ins = 0;
    Herd::Trot herd;
};

Beside press_beside(
    Herd& herd, std::chrono::milliseconds pace, std::uint16_t port, double seconds
) {
    auto storm = std::async(std::launch::async, [&] { return log_ins_per_second(port, seconds); });
    Beside beside;
    beside.herd = herd.trot(pace, seconds);
    beside.log_ins = storm.get();
    return beside;
}

/// People at work, alone and beside those who log in. `pace` is how often each of 64 asks.
void measure_log_ins(
    Lab& lab,
    const Plan& plan,
    Report& report,
    const std::string& figure,
    std::chrono::milliseconds pace,
    Bar bar
) {
    const auto port = lab.server().port();
    Herd herd(port, 64, request_text("GET", "/v1/me", lab.token()));
    press_beside(herd, pace, port, 2);
    std::vector<double> quiet, among, alone, beside;
    int unanswered = 0;
    for (int round = 0; round < plan.rounds; ++round) {
        quiet.push_back(quantile(herd.trot(pace, plan.seconds).milliseconds, 0.99));
        alone.push_back(log_ins_per_second(port, plan.seconds));
        const auto pressed = press_beside(herd, pace, port, plan.seconds);
        beside.push_back(pressed.log_ins);
        among.push_back(quantile(pressed.herd.milliseconds, 0.99));
        unanswered += pressed.herd.unanswered;
    }
    report.figure(figure + "-unanswered", unanswered, at_most(0));
    report.figure(
        figure + "-p99/quiet",
        median(among) / median(quiet),
        bar,
        {{"quiet_ms", boost::json::value_from(quiet)}, {"among_ms", boost::json::value_from(among)}}
    );
    report.figure(
        figure + "/alone",
        median(beside) / median(alone),
        at_least(0.4),
        {{"alone_per_second", boost::json::value_from(alone)},
         {"beside_per_second", boost::json::value_from(beside)}}
    );
}

}  // namespace

void measure_people(Lab& lab, const Plan& plan, Report& report) {
    lab.token();
    measure_me(lab, plan, report);
    using std::chrono::milliseconds;
    measure_log_ins(lab, plan, report, "log-ins-me", milliseconds(250), at_most(2));
    measure_log_ins(lab, plan, report, "log-ins-busy-me", milliseconds(50), at_most(2));
}

}  // namespace svc::bench
