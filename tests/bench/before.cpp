#include "costs.hpp"
#include "db/programs.hpp"
#include "replay.hpp"
#include "rest_queue.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"
#include "svc/types.hpp"
#include "tests/support/places.hpp"
#include "work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

/// Beside the statements of an earlier version, which tests/bench/before keeps: what has become of
/// the costs of a create, a read, a claim and a completion.
namespace svc::bench {

namespace {

constexpr int clients = 16;
constexpr int boards = 16;
constexpr int cards_to_read = 400;
constexpr int warming_turns = 12;  // of each client; from the sixth on plans are kept

/// A database as it was, with a workspace, and the statements that were sent to it.
class Before {
public:
    explicit Before(Lab& lab) : lab_(lab), url_(lab.another_database()) {
        std::vector<std::filesystem::path> schema;
        for (const auto& each : std::filesystem::directory_iterator(file("schema")))
            schema.push_back(each.path());
        std::ranges::sort(schema);
        for (const auto& each : schema) load(each);
        load(file("seed.sql"));
        for (int i = 0; i < clients; ++i) clients_.push_back(std::make_unique<Replayer>(url_));
        warm();
    }

    std::function<void()> create(int client) {
        return [this, client] {
            Replayer& replayer = begin(client);
            replayer.set("card", new_uuid().str());
            replayer.set("place", fmt::format("W{:09}", ++places_));
            replayer.run(create_);
        };
    }
    std::function<void()> get(int client) {
        return [this, client, turn = static_cast<std::size_t>(client)]() mutable {
            Replayer& replayer = begin(client);
            replayer.set("card", cards_[turn++ % cards_.size()]);
            replayer.run(get_);
        };
    }
    /// A claim and the completion of what was claimed.
    std::function<bool()> claim_and_complete(int client, std::atomic<int>& left) {
        return [this, client, &left] {
            if (left-- <= 0) return false;
            Replayer& replayer = begin(client);
            replayer.set("lease", new_uuid().str());
            replayer.set("digest", "\\x" + hex(random_bytes(32)));
            replayer.run(claim_);
            begin(client).run(complete_);
            return true;
        };
    }
    void fill(int cards) {
        std::atomic<int> left{cards};
        work_off(clients, [&](int client) -> std::function<bool()> {
            return [&left, create = create(client)] {
                if (left-- <= 0) return false;
                create();
                return true;
            };
        });
    }
    WorkedOff work_off_all(int cards) {
        std::atomic<int> left{cards};
        return work_off(clients, [&](int client) { return claim_and_complete(client, left); });
    }

private:
    static std::filesystem::path file(const char* name) {
        return test::source_folder() / "tests/bench/before" / name;
    }

    void load(const std::filesystem::path& statements) const {
        const auto loaded = test::run(
            {db::postgres_programs() / "psql",
             "--quiet",
             "--no-psqlrc",
             "--set=ON_ERROR_STOP=1",
             "--file=" + statements.string(),
             url_}
        );
        if (loaded.code != 0) throw std::runtime_error("cannot load " + statements.string());
    }

    /// Plans that are kept, cards to read, and statistics.
    void warm() {
        fill(warming_turns * clients);
        for (const auto& row : superuser().must("SELECT id FROM cards")) cards_.push_back(row[0]);
        for (int client = 0; client < clients; ++client) {
            const auto read = get(client);
            for (int turn = 0; turn < warming_turns; ++turn) read();
        }
        work_off_all(warming_turns * clients);
        fill(cards_to_read);
        cards_.clear();
        for (const auto& row : superuser().must("SELECT card_id FROM queue WHERE state = 'ready'"))
            cards_.push_back(row[0]);
        superuser().must("VACUUM ANALYZE");
    }
    test::DatabaseRole superuser() const {
        return test::DatabaseRole(lab_.postgres().superuser_url(url_));
    }

    /// What every request brings.
    Replayer& begin(int client) {
        Replayer& replayer = *clients_[static_cast<std::size_t>(client)];
        replayer.set("entry", new_uuid().str());
        replayer.set("request", "req_" + hex(random_bytes(12)));
        return replayer;
    }

    Lab& lab_;
    std::string url_;
    const Replayed create_{file("create_card.sql")}, get_{file("get_card.sql")},
        claim_{file("claim_next_card.sql")}, complete_{file("complete_lease.sql")};
    std::vector<std::unique_ptr<Replayer>> clients_;
    std::vector<std::string> cards_;
    std::atomic<int> places_{0};
};

/// The same request again and again, each client with one of `requests`.
WorkedOff ask(Lab& lab, double seconds, const std::vector<std::string>& requests) {
    return work_for(clients, seconds, [&](int client) -> std::function<void()> {
        const auto& request = requests[static_cast<std::size_t>(client) % requests.size()];
        return [&request, presser = std::make_shared<Presser>(lab.server().port())] {
            presser->ask(request);
        };
    });
}

Contest::Work asked(Lab& lab, const Plan& plan, std::vector<std::string> requests) {
    return [&lab, seconds = plan.seconds, requests = std::move(requests)] {
        return ask(lab, seconds, requests);
    };
}

void measure_creates(Lab& lab, Before& before, const Plan& plan, Report& report) {
    std::vector<std::string> requests;
    for (int i = 0; i < boards; ++i)
        requests.push_back(RestQueue(lab, fmt::format("Board {}", i)).create_request());
    const std::vector<std::string> one{requests.front()};
    ask(lab, 1, requests);
    Contest contest(lab);
    contest.add("one_board", [&] { return asked(lab, plan, one); });
    contest.add("sixteen_boards", [&] { return asked(lab, plan, requests); });
    contest.add("before", [&] {
        return [&] {
            return work_for(clients, plan.seconds, [&](int client) {
                return before.create(client);
            });
        };
    });
    contest.run(plan.rounds);
    const auto compare = [&](const std::string& with, double least) {
        report.figure(
            "create-card-one-board/" + with,
            contest.ratio("one_board", with, &Costs::per_second),
            at_least(least),
            contest.made_of(&Costs::per_second)
        );
    };
    compare("before", 3);
    compare("sixteen_boards", 0.9);
    report.figure(
        "create-card-database/before",
        contest.ratio("one_board", "before", &Costs::database_us),
        contest.made_of(&Costs::database_us)
    );
}

std::vector<std::string> get_requests(Lab& lab, const std::vector<std::string>& cards) {
    std::vector<std::string> out;
    for (const auto& card : cards) out.push_back(get_request(lab, card));
    return out;
}

/// One client, so that no two reads share a round trip.
void measure_gets(Lab& lab, Before& before, const Plan& plan, Report& report) {
    const auto requests = get_requests(lab, lab.cards());
    Contest contest(lab);
    contest.add("workboard", [&] {
        return [&] {
            return work_for(1, plan.seconds, [&](int) -> std::function<void()> {
                auto presser = std::make_shared<Presser>(lab.server().port());
                return [&requests, presser, turn = std::size_t{0}]() mutable {
                    presser->ask(requests[turn++ % requests.size()]);
                };
            });
        };
    });
    contest.add("before", [&] {
        return [&] {
            return work_for(1, plan.seconds, [&](int client) { return before.get(client); });
        };
    });
    contest.run(plan.rounds);
    report.figure(
        "get-card-database/before",
        contest.ratio("workboard", "before", &Costs::database_us),
        at_most(0.65),
        contest.made_of(&Costs::database_us)
    );
}

void measure_pairs(Lab& lab, Before& before, RestQueue& queue, const Plan& plan, Report& report) {
    const int cards = 500 * plan.seconds;
    Contest contest(lab);
    contest.add("workboard", [&] {
        queue.fill(cards);
        return [&] { return queue.work_off(cards); };
    });
    contest.add("before", [&] {
        before.fill(cards);
        return [&] { return before.work_off_all(cards); };
    });
    contest.run(plan.rounds);
    report.figure(
        "claim-complete-database/before",
        contest.ratio("workboard", "before", &Costs::database_us),
        contest.made_of(&Costs::database_us)
    );
}

/// The server's own processor time, of a request each.
void measure_server(Lab& lab, const Plan& plan, Report& report) {
    const int cards = 500 * plan.seconds;
    const auto reads = get_requests(lab, lab.cards());
    RestQueue created(lab, "Created"), claimed(lab, "Claimed"), completed(lab, "Completed");
    const std::vector<std::string> create{created.create_request()};
    std::vector<HeldCard> still_held, to_complete;
    Contest contest(lab);
    contest.add("get_card", [&] { return asked(lab, plan, reads); });
    contest.add("create_card", [&] { return asked(lab, plan, create); });
    contest.add("claim_next_card", [&] {
        claimed.complete_all(std::exchange(still_held, {}));
        claimed.fill(cards);
        return [&] { return claimed.claim_all(cards, still_held); };
    });
    contest.add("complete_lease", [&] {
        to_complete.clear();
        completed.fill(cards);
        completed.claim_all(cards, to_complete);
        return [&] { return completed.complete_all(to_complete); };
    });
    contest.run(plan.rounds);
    for (const char* each : {"create_card", "claim_next_card", "complete_lease"})
        report.figure(
            fmt::format("server-{}/get_card", each),
            contest.ratio(each, "get_card", &Costs::server_us),
            at_most(2),
            contest.made_of(&Costs::server_us)
        );
}

}  // namespace

void measure_before(Lab& lab, const Plan& plan, Report& report) {
    lab.restart({"automations.scripts="});
    report.note("over REST, without automations, beside the statements of an earlier version");
    Before before(lab);
    RestQueue queue(lab, "Pairs");
    queue.fill(cards_to_read);
    queue.work_off(cards_to_read);
    measure_creates(lab, before, plan, report);
    measure_gets(lab, before, plan, report);
    measure_pairs(lab, before, queue, plan, report);
    measure_server(lab, plan, report);
    lab.restart();
}

}  // namespace svc::bench
