#include "tests/support/plans.hpp"

#include "tests/support/postgres.hpp"
#include "tests/support/program.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace svc::test {

namespace {

std::string variable(const char* name) {
    const char* value = getenv(name);
    return value ? value : "";
}

/// Locked first, as ANALYZE does: whoever is changing a table is left alone.
constexpr const char* tables_one_by_one = R"(
    DO $do$
    DECLARE
        one record;
    BEGIN
        FOR one IN
            SELECT c.oid, c.oid::regclass::text AS name, hashtext(c.relname) % 2 = 0 AS even
            FROM pg_class c
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND (%WHICH%)
        LOOP
            BEGIN
                %WHAT%
            EXCEPTION WHEN lock_not_available OR undefined_table THEN
            END;
        END LOOP;
    END $do$)";

std::string for_tables(const std::string& which, const std::string& what) {
    std::string sql = tables_one_by_one;
    sql.replace(sql.find("%WHICH%"), 7, which);
    sql.replace(sql.find("%WHAT%"), 6, what);
    return sql;
}

std::string analyzing() {
    return for_tables(
        "pg_relation_size(c.oid) > 0", "EXECUTE 'ANALYZE (SKIP_LOCKED) ' || one.name;"
    );
}

std::string believing() {
    return for_tables(
        "c.reltuples < 0",
        "EXECUTE 'LOCK TABLE ' || one.name || ' IN SHARE UPDATE EXCLUSIVE MODE NOWAIT';"
        "UPDATE pg_class"
        " SET reltuples = CASE WHEN one.even THEN 1e6 ELSE 1 END,"
        " relpages = CASE WHEN one.even THEN 100 ELSE 100000 END"
        " WHERE oid = one.oid;"
    );
}

// ------------------------------------------------------------------------------------- costs

/// What a statement costs each time, by its text.
struct Cost {
    double calls = 0, each = 0;
    std::string text;
};

std::string databases_of_this_program() {
    return "(SELECT oid FROM pg_database WHERE datname LIKE 't" + std::to_string(getpid()) +
           "\\_%')";
}

/// A line for each statement of the program's role: a digest of its text, how often, at what cost,
/// its beginning. What the tests themselves ask as the superuser is not looked at.
std::string costs_now() {
    return Postgres::shared().run(
        "SELECT string_agg(line, E'\\n') FROM ("
        " SELECT md5(query) || E'\\t' || sum(calls) || E'\\t' ||"
        "  (sum(shared_blks_hit + shared_blks_read + temp_blks_read + rows) / sum(calls))::float8"
        "  || E'\\t' || left(regexp_replace(query, '\\s+', ' ', 'g'), 160) AS line"
        " FROM pg_stat_statements WHERE dbid IN " +
        databases_of_this_program() +
        "  AND query ~ '^\\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\\y'"
        "  AND userid = (SELECT oid FROM pg_roles WHERE rolname = 'workboard')"
        " GROUP BY query) lines"
    );
}

std::map<std::string, Cost> read_costs(std::istream& from) {
    std::map<std::string, Cost> out;
    for (std::string line; std::getline(from, line);) {
        std::istringstream words(line);
        std::string digest;
        Cost cost;
        if (words >> digest >> cost.calls >> cost.each && std::getline(words, cost.text))
            out.emplace(digest, std::move(cost));
    }
    return out;
}

/// Ten times as much, and more than a handful of small tables read as a whole.
constexpr double times_as_much = 10, not_worth_a_word = 300;

class Costs : public testing::Environment {
public:
    void TearDown() override {
        const std::string now = costs_now();
        if (const auto file = variable("SVC_COSTS_TO"); !file.empty()) {
            std::ofstream(file) << now << '\n';
            return;
        }
        std::ifstream file(variable("SVC_COSTS_OF"));
        const auto usual = read_costs(file);
        if (usual.empty())
            throw std::runtime_error("there is nothing in " + variable("SVC_COSTS_OF"));
        std::istringstream lines(now);
        for (const auto& [digest, cost] : read_costs(lines)) {
            const auto before = usual.find(digest);
            if (before == usual.end()) continue;
            EXPECT_LE(cost.each, times_as_much * before->second.each + not_worth_a_word)
                << "pages and rows for each of " << cost.calls << " times, usually "
                << before->second.each << ":" << cost.text;
        }
    }
};

bool counts_costs() {
    return !variable("SVC_COSTS_TO").empty() || !variable("SVC_COSTS_OF").empty();
}

}  // namespace

Plans::Plans(const Postgres& postgres) : postgres_(postgres) {
    std::istringstream words(variable("SVC_PLANS"));
    for (std::string word; std::getline(words, word, ',');) {
        const auto name = word.substr(0, word.find('='));
        if (word == "statistics=fresh") upkeep_ = analyzing();
        else if (word == "statistics=skewed") upkeep_ = believing();
        // The server has one of its own, which only the URL overrides.
        else if (name == "plan_cache_mode")
            in_url_ += "&options=-c%20" + name + "%3D" + word.substr(name.size() + 1);
        else
            settings_ +=
                "ALTER DATABASE %NAME% SET " + name + " = " + word.substr(name.size() + 1) + ";";
    }
    if (counts_costs()) {
        // Two programs that make it at once would get into each other's way.
        postgres_.run(
            "SELECT pg_advisory_xact_lock(hashtext('pg_stat_statements'));"
            "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"
        );
        settings_ += "ALTER DATABASE %NAME% SET pg_stat_statements.track = 'top';";
        testing::AddGlobalTestEnvironment(new Costs);
    }
    if (!upkeep_.empty()) watcher_ = std::thread([this] { watch(); });
}

Plans::~Plans() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    if (watcher_.joinable()) watcher_.join();
}

std::string Plans::apply(const Postgres& postgres, const std::string& name, std::string url) {
    if (variable("SVC_PLANS").empty() && !counts_costs()) return url;
    static Plans plans(postgres);
    std::string settings = plans.settings_;
    for (auto at = settings.find("%NAME%"); at != settings.npos; at = settings.find("%NAME%", at))
        settings.replace(at, 6, name);
    if (!settings.empty()) postgres.run(settings);
    url += plans.in_url_;
    const std::lock_guard lock(plans.mutex_);
    plans.urls_.push_back(url);
    return url;
}

void Plans::watch() {
    for (int tenths = 0;; ++tenths) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        std::vector<std::string> urls;
        {
            const std::lock_guard lock(mutex_);
            if (ending_) return;
            if (tenths % 5 == 0) urls = urls_;
        }
        for (const auto& url : urls) {
            try {
                postgres_.run(upkeep_, url);
            } catch (const std::exception&) {
                // Another time: the database is full or busy, as its test wants it.
            }
        }
    }
}

}  // namespace svc::test
