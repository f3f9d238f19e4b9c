#include "costs.hpp"
#include "crowd.hpp"
#include "rest_queue.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/webhook_receiver.hpp"
#include "tests/support/workspace.hpp"

#include <fmt/format.h>

#include <thread>

/// How fast deliveries are made while some endpoints hang, and what webhooks cost those who work.
namespace svc::bench {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int webhooks = 100, hanging = 10, readers = 1'000;

/// Webhooks of the lab's workspace, made and deleted through the interface.
class Webhooks {
public:
    explicit Webhooks(Lab& lab) : client_(lab.server().client()) { client_.token(lab.token()); }

    void add(const std::string& url, const std::string& filter) {
        const boost::json::value body{{"url", url}, {"events", {filter}}};
        ids_.push_back(test::expect(201, client_.post("/v1/webhooks", body)).text("/id"));
    }
    void remove_all() {
        for (const auto& each : ids_)
            test::expect(204, client_.send("DELETE", "/v1/webhooks/" + each));
        ids_.clear();
    }
    test::Client& client() { return client_; }

private:
    test::Client client_;
    std::vector<std::string> ids_;
};

void wait_for(const std::string& what, const std::function<bool()>& condition) {
    if (!test::eventually(condition, 120s)) throw std::runtime_error(what + " does not happen");
}

/// Each event goes to all webhooks; one in ten of their endpoints hangs.
void measure_deliveries(Lab& lab, const Plan& plan, Report& report) {
    test::WebhookReceiver receiver;
    receiver.only_count();
    std::atomic<std::uint64_t> taken{0};
    receiver.answer("/", [&](int socket, const test::Received&) {
        ++taken;
        return test::write_all(socket, test::http_answer(200));
    });
    receiver.answer("/hangs", [&](int, const test::Received&) {
        while (!receiver.stopping()) std::this_thread::sleep_for(50ms);
        return false;
    });
    Webhooks all(lab);
    for (int i = 0; i < webhooks; ++i)
        all.add(
            receiver.url(fmt::format("/{}/{}", i < hanging ? "hangs" : "takes", i)), "board.updated"
        );
    const std::string board = "/v1/boards/" + RestQueue(lab, "Told of").board();
    int version = 0;
    const auto change = [&](int events) {
        const auto before = taken.load();
        for (int i = 0; i < events; ++i)
            test::expect(
                200,
                all.client().send(
                    "PATCH", board, fmt::format(R"({{"description":"Version {}"}})", ++version)
                )
            );
        const std::uint64_t wanted =
            before + static_cast<std::uint64_t>(events) * (webhooks - hanging);
        wait_for("delivering", [&] { return taken >= wanted; });
    };
    change(3);  // from here on each endpoint has shown what it is like
    std::vector<double> rates;
    for (int round = 0; round < plan.rounds; ++round) {
        const int events = 25 * plan.seconds;
        const auto begun = Clock::now();
        change(events);
        const std::chrono::duration<double> took = Clock::now() - begun;
        rates.push_back(events * (webhooks - hanging) / took.count());
    }
    report.figure(
        "deliveries-a-second",
        median(rates),
        at_least(1'000),
        {{"rounds", boost::json::array(rates.begin(), rates.end())},
         {"webhooks", webhooks},
         {"hanging", hanging}}
    );
    all.remove_all();
}

/// Claim + complete while webhooks are subscribed, to what does not happen or to all of it, and
/// while streams are open that follow another board.
void measure_queue(Lab& lab, const Plan& plan, Report& report) {
    test::WebhookReceiver receiver;
    receiver.only_count();
    Webhooks some(lab);
    RestQueue queue(lab, "Worked off");
    const RestQueue elsewhere(lab, "Followed");
    const int cards = 500 * plan.seconds;
    const auto prepare = [&](int count, const std::string& filter) {
        some.remove_all();
        for (int i = 0; i < count; ++i) some.add(receiver.url(fmt::format("/{}", i)), filter);
        queue.fill_at_once(cards);
        // What the lab did until here is delivered.
        std::this_thread::sleep_for(1s);
        return [&, cards] { return queue.work_off(cards); };
    };
    Contest contest(lab);
    contest.add("no_webhooks", [&] { return prepare(0, ""); });
    contest.add("hundred_others", [&] { return prepare(webhooks, "comment.*"); });
    contest.add("one_of_all", [&] { return prepare(1, "*"); });
    std::unique_ptr<Crowd> crowd;
    contest.add("hundred_others_and_readers", [&] {
        crowd = std::make_unique<Crowd>();
        crowd->join(
            Crowd::Kind::web_socket, lab.server().port(), lab.token(), elsewhere.board(), readers
        );
        auto work = prepare(webhooks, "comment.*");
        return [&crowd, work] {
            const auto worked = work();
            crowd.reset();
            return worked;
        };
    });
    contest.run(plan.rounds);
    report.figure(
        "queue-100-webhooks-1000-readers/none",
        contest.ratio("hundred_others_and_readers", "no_webhooks", &Costs::per_second),
        at_least(0.9),
        contest.made_of(&Costs::per_second)
    );
    report.figure(
        "queue-100-webhooks/none",
        contest.ratio("hundred_others", "no_webhooks", &Costs::per_second),
        at_least(0.9),
        contest.made_of(&Costs::per_second)
    );
    report.figure(
        "queue-1-webhook-of-all/none",
        contest.ratio("one_of_all", "no_webhooks", &Costs::per_second),
        contest.made_of(&Costs::per_second)
    );
    some.remove_all();
}

}  // namespace

void measure_webhooks(Lab& lab, const Plan& plan, Report& report) {
    allow_sockets(readers);
    lab.restart(
        {"automations.scripts=",
         "webhooks.allow_private_targets=true",
         "live.streams_per_principal=" + std::to_string(readers)}
    );
    report.note("endpoints on this machine; the receiver shares its processors");
    // Webhooks are for admins, and the lab's token is a member's.
    lab.token();
    lab.postgres().run("UPDATE tokens SET role = 'admin'", lab.database_url());
    lab.postgres().run("UPDATE orgs SET security_epoch = security_epoch + 1", lab.database_url());
    measure_deliveries(lab, plan, report);
    measure_queue(lab, plan, report);
    lab.restart();
}

}  // namespace svc::bench
