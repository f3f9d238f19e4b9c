#include "crowd.hpp"
#include "lab.hpp"
#include "load.hpp"
#include "process.hpp"

#include <fmt/format.h>

#include <atomic>
#include <fstream>
#include <thread>

/// Streams of events: what one costs, how fast an event reaches all of them, and whether those who
/// do not read hold up the others.
namespace svc::bench {

namespace {

using namespace std::chrono_literals;
using Clock = Crowd::Clock;

constexpr int many = 9'000;
constexpr int writes_per_second = 500;

/// Makes cards whose titles can be recognised in what streams send.
class Writer {
public:
    explicit Writer(Lab& lab)
        : presser_(lab.server().port()), token_(lab.token()), board_(lab.boards().front()) {}

    /// The title of the card; the answer has come.
    std::string write() {
        const auto title = fmt::format("mark-{}-{}", static_cast<const void*>(this), ++number_);
        presser_.ask(request_text(
            "POST",
            "/v1/boards/" + board_.id + "/cards",
            token_,
            fmt::format(R"({{"column_id":"{}","title":"{}"}})", board_.columns[0], title)
        ));
        return title + '"';
    }

private:
    Presser presser_;
    const std::string token_;
    const QueueBoard board_;
    int number_ = 0;
};

std::vector<std::string> settings() {
    return {"live.streams_per_principal=100000", "server.max_connections=40000"};
}

/// Pages of kernel memory that TCP uses on the machine, in bytes.
double tcp_memory() {
    std::ifstream file("/proc/net/sockstat");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("TCP:")) {
            const auto at = line.find(" mem ");
            return std::stod(line.substr(at + 5)) * 4096;
        }
    return 0;
}

void measure_memory(Lab& lab, Report& report) {
    auto& server = lab.restart(settings());
    Writer writer(lab);
    const auto& board = lab.boards().front().id;
    {
        // What is made once for the first ones is not theirs.
        Crowd first;
        first.join(Crowd::Kind::web_socket, server.port(), lab.token(), board, 100);
        first.join(Crowd::Kind::sse, server.port(), lab.token(), board, 100);
        const auto mark = writer.write();
        first.hear(mark, Clock::now(), 10s);
    }
    std::this_thread::sleep_for(2s);
    const double before = own_memory(server.pid());
    Crowd crowd;
    crowd.join(Crowd::Kind::web_socket, server.port(), lab.token(), board, many);
    std::this_thread::sleep_for(6s);  // until memory is given back that was free anyway
    const double with_web_sockets = own_memory(server.pid());
    crowd.join(Crowd::Kind::sse, server.port(), lab.token(), board, many);
    std::this_thread::sleep_for(6s);
    const double with_both = own_memory(server.pid());
    report.figure(
        "live-18000-bytes-each",
        (with_both - before) / (2 * many),
        at_most(400),
        {{"web_socket", (with_web_sockets - before) / many},
         {"sse", (with_both - with_web_sockets) / many}}
    );
    const auto since = Clock::now();
    const auto heard = crowd.hear(writer.write(), since, 20s);
    report.figure(
        "live-18000-last-ms",
        heard.milliseconds.empty() ? 0 : quantile(heard.milliseconds, 1),
        {{"missing", heard.missing}}
    );
}

/// The time from the first reader to the last, beside that of a bare loop over as many sockets, in
/// the same rounds.
void measure_fan_out(Lab& lab, const Plan& plan, Report& report) {
    auto& server = lab.restart(settings());
    Writer writer(lab);
    Crowd crowd, bare;
    crowd.join(Crowd::Kind::web_socket, server.port(), lab.token(), lab.boards().front().id, many);
    const BareLoop loop(many);
    bare.adopt(loop.receivers());
    std::vector<double> ours, theirs;
    int missing = 0;
    const auto events = 4 * plan.rounds;
    for (int i = 0; i < events; ++i) {
        const auto title = writer.write();
        const auto heard = crowd.hear(title, Clock::now(), 20s);
        ours.push_back(heard.span());
        missing += heard.missing;

        const auto mark = fmt::format("bare-{}\"", i);
        std::string frame(1'100, '.');
        frame += mark;
        loop.send_all(frame);
        const auto received = bare.hear(mark, Clock::now(), 20s);
        theirs.push_back(received.span());
        missing += received.missing;
    }
    report.figure("live-9000-missing", missing, at_most(0));
    report.figure(
        "live-9000-span/bare-loop",
        median(ours) / median(theirs),
        at_most(1.25),
        {{"server_ms", boost::json::value_from(ours)}, {"bare_ms", boost::json::value_from(theirs)}}
    );
}

/// Of those who read, the median time to an event, without and with a quarter more who do not.
void measure_dead(Lab& lab, const Plan& plan, Report& report) {
    constexpr int readers = 3'000, dead = 1'000;
    auto& server = lab.restart(settings());
    Writer writer(lab);
    const auto& board = lab.boards().front().id;
    Crowd crowd;
    crowd.join(Crowd::Kind::web_socket, server.port(), lab.token(), board, readers);
    const auto round = [&] {
        std::vector<double> medians;
        for (int i = 0; i < 10 * plan.rounds; ++i) {
            const auto title = writer.write();
            const auto heard = crowd.hear(title, Clock::now(), 20s);
            if (heard.missing > 0) throw std::runtime_error("a reader missed an event");
            medians.push_back(quantile(heard.milliseconds, 0.5));
        }
        return medians;
    };
    round();
    const auto without = round();
    const double memory_before = tcp_memory();
    crowd.join(Crowd::Kind::web_socket, server.port(), lab.token(), board, dead, true);
    const auto with = round();
    double most = 0;
    // Until they are dropped: what the kernel holds for them rises with each event.
    for (int i = 0; i < 400; ++i) {
        crowd.hear(writer.write(), Clock::now(), 20s);
        most = std::max(most, tcp_memory() - memory_before);
    }
    const auto figures = [](const std::vector<double>& values) {
        return boost::json::value_from(values);
    };
    report.figure(
        "live-dead-quarter-p50/without",
        median(with) / median(without),
        at_most(1.3),
        {{"without_ms", figures(without)}, {"with_ms", figures(with)}}
    );
    report.figure("live-dead-kernel-bytes-each", most / dead, at_most(150 << 10));
}

/// From the answer of a write, which comes once it is committed, to the socket of a subscriber of
/// the server at `port`.
void measure_latency(
    Lab& lab, const Plan& plan, Report& report, std::uint16_t port, const std::string& name, Bar bar
) {
    constexpr int writers = 4;
    Crowd crowd;
    crowd.join(Crowd::Kind::web_socket, port, lab.token(), lab.boards().front().id, 1);
    std::atomic<bool> done{false};
    std::atomic<long> written{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < writers; ++i)
        threads.emplace_back([&] {
            Writer writer(lab);
            auto next = Clock::now();
            while (!done) {
                next += std::chrono::microseconds(1'000'000 * writers / writes_per_second);
                std::this_thread::sleep_until(next);
                writer.write();
                ++written;
            }
        });
    std::vector<double> took;
    const auto began = Clock::now();
    const auto end = began + std::chrono::seconds(plan.seconds * plan.rounds);
    Writer probe(lab);
    while (Clock::now() < end) {
        const auto title = probe.write();
        const auto heard = crowd.hear(title, Clock::now(), 5s);
        if (heard.missing == 0) took.push_back(heard.milliseconds.front());
        std::this_thread::sleep_for(7ms);
    }
    done = true;
    for (auto& each : threads) each.join();
    const std::chrono::duration<double> seconds = Clock::now() - began;
    report.figure(
        name,
        quantile(took, 0.5),
        bar,
        {{"p99_ms", quantile(took, 0.99)},
         {"writes_per_second", static_cast<double>(written) / seconds.count()},
         {"measured", took.size()}}
    );
}

/// On the server that is written to, and on another one of the same database.
void measure_latencies(Lab& lab, const Plan& plan, Report& report) {
    auto all = settings();
    all.emplace_back("plugins=mail-file,store-local,bus-postgres");
    const auto own = lab.restart(all).port();
    measure_latency(lab, plan, report, own, "live-commit-to-socket-p50-ms", at_most(5));
    auto options = lab.options(all);
    options.var.clear();
    const test::Server other(options);
    std::this_thread::sleep_for(2s);  // they know of each other
    measure_latency(
        lab, plan, report, other.port(), "live-commit-to-other-server-p50-ms", at_most(20)
    );
}

}  // namespace

void measure_live(Lab& lab, const Plan& plan, Report& report) {
    allow_sockets(2 * many);
    lab.boards();
    measure_memory(lab, report);
    measure_fan_out(lab, plan, report);
    measure_dead(lab, plan, report);
    measure_latencies(lab, plan, report);
    lab.restart();
}

}  // namespace svc::bench
