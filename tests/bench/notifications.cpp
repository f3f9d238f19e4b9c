#include "costs.hpp"
#include "smtp_sink.hpp"
#include "statements.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/workspace.hpp"

#include <fmt/format.h>

#include <thread>

/// What it costs to be told of things: counting, commenting to many, digests for many.
namespace svc::bench {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int watchers = 200, mentioned = 50, digests = 10'000;
constexpr double longest_statement_ms = 200;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The lab's workspace, and people in it who are put there by SQL.
class People {
public:
    explicit People(Lab& lab) : lab_(lab) {
        // Other groups have made workspaces of their own.
        org_ = run("SELECT org_id FROM boards WHERE id = '" + lab.boards().front().id + "'");
        owner_ =
            run("SELECT user_id FROM memberships WHERE role = 'owner' AND org_id = '" + org_ + "'");
    }

    std::string run(const std::string& sql) const {
        return lab_.postgres().run(sql, lab_.database_url());
    }
    const std::string& org() const { return org_; }
    const std::string& owner() const { return owner_; }

    /// Members whose addresses begin with `prefix`; who want no mail but digests, if any.
    void add(const std::string& prefix, int many) const {
        run(fmt::format(
            "WITH made AS (INSERT INTO users (id, email, email_key, email_verified, name, "
            "preferences) SELECT gen_random_uuid(), '{0}' || n || '@example.com', '{0}' || n || "
            "'@example.com', true, 'Somebody', '{{\"notifications\": {{\"mention\": {{\"email\": "
            "false}}}}}}' FROM generate_series(1, {1}) n RETURNING id), named AS (INSERT INTO "
            "principals (org_id, id, type, name) SELECT '{2}', id, 'user', 'Somebody' FROM made) "
            "INSERT INTO memberships (org_id, user_id, id, role) SELECT '{2}', id, "
            "gen_random_uuid(), 'member' FROM made",
            prefix,
            many,
            org_
        ));
    }

private:
    Lab& lab_;
    std::string org_, owner_;
};

/// A count, beside get_me, with a hundred thousand unread on several boards.
void measure_count(Lab& lab, const People& people, const Plan& plan, Report& report) {
    constexpr int unread = 100'000;
    lab.boards();
    people.run(fmt::format(
        "INSERT INTO notification_inboxes (org_id, user_id) VALUES ('{}', '{}') ON CONFLICT DO "
        "NOTHING",
        people.org(),
        people.owner()
    ));
    people.run(fmt::format(
        "INSERT INTO notifications (org_id, user_id, id, kind, epoch, subject_id, least_role, "
        "board_id, target_type, target_id, title, created_time) SELECT i.org_id, i.user_id, "
        "gen_random_uuid(), 'comment', i.epoch, gen_random_uuid(), 'viewer', b.ids[1 + n % "
        "cardinality(b.ids)], 'card', gen_random_uuid(), 'Somebody commented', now() - n * "
        "interval '1 second' FROM generate_series(1, {}) n, notification_inboxes i, (SELECT "
        "array_agg(id) AS ids FROM boards WHERE org_id = '{}') b WHERE i.user_id = '{}'",
        unread,
        people.org(),
        people.owner()
    ));
    people.run(fmt::format(
        "INSERT INTO notification_counts (org_id, user_id, board_id, least_role, unread) SELECT "
        "org_id, user_id, board_id, least_role, count(*) FROM notifications WHERE user_id = '{}' "
        "GROUP BY 1, 2, 3, 4",
        people.owner()
    ));
    people.run("VACUUM ANALYZE notifications");
    auto client = lab.server().client();
    client.token(lab.token());
    const auto counted =
        test::expect(200, client.get("/v1/notifications/count")).text("/unread_count");
    if (counted != std::to_string(unread)) throw std::runtime_error(counted + " are unread");
    Contest contest(lab);
    const auto get = [&](const char* path) {
        return asked(lab, plan, {request_text("GET", path, lab.token())});
    };
    contest.add("count", [&] { return get("/v1/notifications/count"); });
    contest.add("me", [&] { return get("/v1/me"); });
    contest.run(plan.rounds);
    report.figure(
        "count-of-100000/get_me",
        contest.ratio("me", "count", &Costs::per_second),
        at_most(1.5),
        contest.made_of(&Costs::per_second)
    );
}

/// A card that many watch, and comments on it.
class Discussed {
public:
    Discussed(Lab& lab, const People& people) : lab_(lab), card_(lab.cards().front()) {
        people.add("watcher", watchers);
        const std::string ours =
            " FROM users WHERE email LIKE 'watcher%' ORDER BY id LIMIT " + std::to_string(watchers);
        people.run(
            fmt::format(
                "INSERT INTO card_watchers (org_id, card_id, principal_id) SELECT '{}', '{}', id",
                people.org(),
                card_
            ) +
            ours
        );
        const auto ids = people.run(
            "SELECT json_agg(id) FROM (SELECT id FROM users WHERE email LIKE 'watcher%' ORDER BY "
            "id "
            "LIMIT " +
            std::to_string(mentioned) + ") m"
        );
        boost::json::array words{{{"type", "text"}, {"text", {{"content", "All of you "}}}}};
        to_all_ = comment(words);
        const auto people_named = boost::json::parse(ids);
        for (const auto& each : people_named.as_array())
            words.push_back({{"type", "mention"}, {"mention", {{"user", {{"id", each}}}}}});
        to_mentioned_ = comment(words);
    }

    const std::string& to_all() const { return to_all_; }
    const std::string& to_mentioned() const { return to_mentioned_; }

    /// Until all who watch the card have been told of the comment.
    void wait_until_told(const People& people, const std::string& comment) const {
        const auto told = fmt::format(
            "SELECT count(*) FROM notifications WHERE org_id = '{}' AND card_id = '{}' AND "
            "target_id = '{}'",
            people.org(),
            card_,
            comment
        );
        if (!test::eventually([&] { return people.run(told) == std::to_string(watchers); }, 30s))
            throw std::runtime_error("a comment is told to " + people.run(told));
    }

private:
    std::string comment(const boost::json::array& words) const {
        const boost::json::value body{{"parent", {{"card_id", card_}}}, {"rich_text", words}};
        return request_text("POST", "/v1/comments", lab_.token(), boost::json::serialize(body));
    }

    Lab& lab_;
    const std::string card_;
    std::string to_all_, to_mentioned_;
};

/// Comments one at a time, none before those of the last one are told: what is timed is the request
/// alone. Beside the same on a server without notifications, and beside a comment without mentions.
void measure_comments(Lab& lab, const People& people, const Plan& plan, Report& report) {
    const Discussed discussed(lab, people);
    auto options = lab.options({"automations.scripts=", Lab::modules_without("notifications")});
    options.var.clear();
    const test::Server without(options);
    Presser here(lab.server().port()), there(without.port());
    std::vector<double> with_module, without_module, plain, told;
    const auto ask = [&](Presser& by, const std::string& request, std::vector<double>& took) {
        const auto start = Clock::now();
        const auto answer = by.ask(request);
        took.push_back(milliseconds_since(start));
        const std::string id(member(answer, R"("id":")"));
        discussed.wait_until_told(people, id);
        told.push_back(milliseconds_since(start));
        std::this_thread::sleep_for(20ms);
    };
    std::vector<double> warming;
    for (Presser* each : {&here, &there})
        for (int i = 0; i < 5; ++i) ask(*each, discussed.to_mentioned(), warming);
    told.clear();
    for (int i = 0; i < 10 * plan.rounds; ++i) {
        ask(here, discussed.to_mentioned(), with_module);
        ask(there, discussed.to_mentioned(), without_module);
        ask(here, discussed.to_all(), plain);
    }
    const auto part = [](const std::vector<double>& values) {
        return boost::json::object{{"p50_ms", median(values)}, {"p99_ms", quantile(values, 0.99)}};
    };
    report.figure(
        "comment-to-200/without-notifications",
        median(with_module) / median(without_module),
        at_most(1.1),
        {{"with", part(with_module)}, {"without", part(without_module)}}
    );
    report.figure(
        "comment-50-mentions/none",
        median(with_module) / median(plain),
        {{"mentions", part(with_module)}, {"none", part(plain)}}
    );
    report.figure(
        "comment-in-200-inboxes-ms", quantile(told, 1), at_most(2'000), {{"p50_ms", median(told)}}
    );
}

/// Ten thousand people of one workspace who are due a digest at once, mailed over SMTP.
void measure_digests(Lab& lab, const People& people, Report& report) {
    const SmtpSink sink;
    lab.restart(
        {"plugins=mail-smtp,store-local",
         "mail-smtp.host=127.0.0.1",
         "mail-smtp.security=none",
         "mail-smtp.port=" + std::to_string(sink.port())}
    );
    people.add("reader", digests);
    // As when a card that all of them watch was commented on.
    const auto of_readers = " FROM users WHERE email LIKE 'reader%'";
    people.run(
        "INSERT INTO notification_inboxes (org_id, user_id) SELECT '" + people.org() + "', id" +
        of_readers
    );
    people.run(
        "INSERT INTO notifications (org_id, user_id, id, kind, epoch, subject_id, least_role, "
        "board_id, card_id, target_type, target_id, title, created_time) SELECT c.org_id, u.id, "
        "gen_random_uuid(), 'comment', 1, c.id, 'viewer', c.board_id, c.id, 'card', c.id, "
        "'Somebody commented', now() + interval '1 microsecond' FROM (SELECT * FROM cards LIMIT "
        "5) c, (SELECT id" +
        std::string(of_readers) + ") u"
    );
    people.run("VACUUM ANALYZE");
    double seconds = 0;
    const auto slow = slower_than(lab.postgres(), 20ms, [&] {
        const auto start = Clock::now();
        people.run(
            "UPDATE notification_inboxes SET digest_at = now() WHERE user_id IN (SELECT id" +
            std::string(of_readers) + ")"
        );
        if (!test::eventually([&] { return sink.mails() >= digests; }, 150s))
            throw std::runtime_error(fmt::format("{} digests came in", sink.mails()));
        seconds = milliseconds_since(start) / 1'000;
        std::this_thread::sleep_for(3s);  // for one that would come twice
    });
    double slowest = 0;
    std::string which;
    for (const Slow& each : slow)
        if (each.milliseconds > slowest &&
            each.text.find("SET digest_at = now() WHERE") == std::string::npos) {
            slowest = each.milliseconds;
            which = each.text.substr(0, 200);
        }
    int wrong = 0;
    const auto got = sink.by_recipient();
    for (const auto& [address, many] : got) wrong += many != 1;
    wrong += std::abs(digests - static_cast<int>(got.size()));
    report.figure(
        "digests-10000-slowest-statement-ms",
        slowest,
        at_most(longest_statement_ms),
        {{"statement", which}, {"over_20_ms", slow.size()}}
    );
    report.figure("digests-10000-missing-or-twice", wrong, at_most(0));
    report.figure("digests-10000-seconds", seconds, boost::json::object{});
}

}  // namespace

void measure_notifications(Lab& lab, const Plan& plan, Report& report) {
    lab.restart({"automations.scripts="});
    const People people(lab);
    measure_count(lab, people, plan, report);
    measure_comments(lab, people, plan, report);
    measure_digests(lab, people, report);
    lab.restart();
}

}  // namespace svc::bench
