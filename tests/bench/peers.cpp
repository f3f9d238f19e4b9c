#include "costs.hpp"
#include "rest_queue.hpp"
#include "tests/support/places.hpp"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <thread>

/// Claim + complete over REST, beside queues on PostgreSQL that people use: on the same cluster,
/// each with sixteen workers that take one piece of work at a time.
namespace svc::bench {

namespace {

constexpr int jobs_of_a_second = 1000;
constexpr int warming_jobs = 400;
constexpr int batch = 25;

/// Installs the packages of tests/bench/peers as its lock file names them.
void install_peers() {
    const auto done = test::run(
        {"node",
         test::in_source("tests/clients/support/install.mjs"),
         test::in_source("tests/bench/peers")}
    );
    if (done.code != 0) throw std::runtime_error("the peers are not installed:\n" + done.output);
}

/// A queue that people use: a process of its own, on a database of its own.
class Peer {
public:
    Peer(const std::string& name, const std::string& url)
        : folder_("workboard-peer"),
          port_(test::free_port()),
          program_(test::Program::Start{
              .command = {"node", "queue.mjs", name, url, std::to_string(port_)},
              .environment = {},
              .folder = test::in_source("tests/bench/peers"),
              .output = folder_.path() / "output",
          }) {
        for (int i = 0; i < 1200 && program_.running(); ++i) {
            if (output().find("ready") != std::string::npos) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(25));
        }
        throw std::runtime_error(name + " does not start:\n" + output());
    }
    ~Peer() {
        program_.signal(SIGTERM);
        program_.wait(std::chrono::seconds(5));
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    void fill(int jobs) { ask("fill", jobs); }
    /// Works them all off; the seconds it took.
    double work_off(int jobs) { return ask("work", jobs).at("seconds").to_number<double>(); }

private:
    std::string output() const {
        const auto file = folder_.path() / "output";
        return std::filesystem::exists(file) ? test::read_file(file) : std::string();
    }
    boost::json::value ask(const char* what, int jobs) try {
        Presser presser(port_);
        const auto path = fmt::format("/{}/{}", what, jobs);
        return boost::json::parse(std::string(presser.ask(request_text("GET", path, {}))));
    } catch (const std::exception& problem) {
        throw std::runtime_error(problem.what() + ("\n" + output()));
    }

    test::TempFolder folder_;
    std::uint16_t port_;
    test::Program program_;
};

/// Cards that are claimed and completed over REST. A job of the peers goes nowhere when it is done,
/// and neither does a card where no column comes behind the queue.
struct Queues {
    explicit Queues(Lab& lab)
        : stays(lab, "Jobs that stay", RestQueue::Completed::stays), goes_on(lab, "Jobs") {}
    RestQueue stays, goes_on;
};

/// So many cards by each request.
void add(
    Contest& contest, const std::string& name, RestQueue& queue, int cards, int of_each_request = 1
) {
    contest.add(name, [&queue, cards, of_each_request] {
        queue.fill(cards);
        return [&queue, cards, of_each_request] {
            return of_each_request == 1 ? queue.work_off(cards)
                                        : queue.work_off_batches(cards, of_each_request);
        };
    });
}

/// Jobs of a peer, which is started for each round and ended after it.
void add(Contest& contest, Lab& lab, const std::string& name, int jobs) {
    contest.add(name, [name, jobs, url = lab.another_database()] {
        const auto peer = std::make_shared<Peer>(name, url);
        peer->fill(warming_jobs);
        peer->work_off(warming_jobs);
        peer->fill(jobs);
        return [peer, jobs] { return WorkedOff{jobs, peer->work_off(jobs)}; };
    });
}

void warm(RestQueue& queue) {
    queue.fill(warming_jobs);
    queue.work_off(warming_jobs);
}

void measure_single(Lab& lab, const Plan& plan, Report& report, Queues& queues) {
    const int jobs = jobs_of_a_second * plan.seconds;
    Contest contest(lab);
    add(contest, "workboard", queues.goes_on, jobs);
    add(contest, "workboard-in-place", queues.stays, jobs);
    add(contest, lab, "graphile-worker", jobs);
    add(contest, lab, "pg-boss", jobs);
    // Of a round of two seconds the rate is a quarter more or less than of the next.
    contest.run(3 * plan.rounds);
    const auto compare = [&](const std::string& name, const std::string& peer, Cost cost, Bar bar) {
        const auto made_of = contest.made_of(cost);
        const auto in_place = contest.ratio("workboard-in-place", peer, cost);
        report.figure(name + "-in-place/" + peer, in_place, bar, made_of);
        report.figure(name + "/" + peer, contest.ratio("workboard", peer, cost), made_of);
    };
    compare("claim-complete", "pg-boss", &Costs::per_second, at_least(1.2));
    compare("claim-complete", "graphile-worker", &Costs::per_second, at_least(0.4));
    compare("claim-complete-database", "graphile-worker", &Costs::database_us, at_most(2.0));
    compare("claim-complete-database", "pg-boss", &Costs::database_us, at_most(0.8));
    report.figure(
        "claim-complete-in-place-wal-bytes",
        contest.median_of("workboard-in-place", &Costs::wal_bytes),
        at_most(4500),
        contest.made_of(&Costs::wal_bytes)
    );
    report.figure(
        "claim-complete-wal-bytes",
        contest.median_of("workboard", &Costs::wal_bytes),
        contest.made_of(&Costs::wal_bytes)
    );
}

void measure_batches(Lab& lab, const Plan& plan, Report& report, Queues& queues) {
    if (!queues.stays.has_batches()) {
        report.note("claims and completions of several cards by one request: not there yet");
        return;
    }
    const std::string peer = "pg-boss-batch";
    const int jobs = 2 * jobs_of_a_second * plan.seconds;
    Contest contest(lab);
    add(contest, "workboard", queues.goes_on, jobs, batch);
    add(contest, "workboard-in-place", queues.stays, jobs, batch);
    add(contest, lab, peer, jobs);
    contest.run(plan.rounds);
    const auto made_of = contest.made_of(&Costs::per_second);
    report.figure(
        "claim-complete-in-place-batch/" + peer,
        contest.ratio("workboard-in-place", peer, &Costs::per_second),
        at_least(0.5),
        made_of
    );
    report.figure(
        "claim-complete-batch/" + peer,
        contest.ratio("workboard", peer, &Costs::per_second),
        made_of
    );
}

/// With the script that is on by default, which labels cards whose lease was completed.
void measure_with_script(Lab& lab, const Plan& plan, Report& report, RestQueue& queue) {
    Contest contest(lab);
    add(contest, "workboard", queue, jobs_of_a_second * plan.seconds / 2);
    contest.run(plan.rounds);
    const auto tell = [&](const std::string& name, Cost cost) {
        report.figure(name, contest.median_of("workboard", cost), contest.made_of(cost));
    };
    tell("with-script-claim-complete", &Costs::per_second);
    tell("with-script-database-us", &Costs::database_us);
    tell("with-script-wal-bytes", &Costs::wal_bytes);
}

}  // namespace

void measure_peers(Lab& lab, const Plan& plan, Report& report) {
    install_peers();
    lab.restart({"automations.scripts="});
    report.note("claim + complete, 16 workers, one card or job at a time, without automations");
    Queues queues(lab);
    warm(queues.stays);
    warm(queues.goes_on);
    measure_single(lab, plan, report, queues);
    measure_batches(lab, plan, report, queues);
    lab.restart();
    warm(queues.goes_on);
    measure_with_script(lab, plan, report, queues.goes_on);
}

}  // namespace svc::bench
