#include "lab.hpp"
#include "log_ins.hpp"

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
        quiet.push_back(slowest_ms(herd.trot(pace, plan.seconds)));
        alone.push_back(log_ins_per_second(port, plan.seconds));
        const auto pressed = press_beside(herd, pace, port, plan.seconds);
        beside.push_back(pressed.log_ins);
        among.push_back(slowest_ms(pressed.herd));
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
