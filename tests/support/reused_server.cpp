#include "tests/support/reused_server.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"

#include <gtest/gtest.h>

namespace svc::test {

namespace {

/// Those that the server does again and again are its own.
const std::string of_tests = "(org_id <> '00000000-0000-0000-0000-000000000000' OR key <> '')";

const std::string deletion_of_jobs = "DELETE FROM jobs WHERE state <> 'running' AND " + of_tests;

const std::string events_without_sequence =
    "event_log l WHERE NOT EXISTS (SELECT FROM event_chain c WHERE c.log_id = l.id)";

/// Deletes what tests have made, unless the server still works on it: a mail that it sends then
/// would be taken for one of the next test's, and a sequence that it gives then would break the
/// audit record's chain. What it has made itself when it started stays: its key, its own jobs,
/// where its events and their consumers are. No table is truncated, as all sessions would plan
/// anew.
const std::string deletion = R"sql(
DO $$
DECLARE
    name text;
BEGIN
    SET LOCAL session_replication_role = replica;
    SET LOCAL deadlock_timeout = '10ms';
    LOCK TABLE jobs IN EXCLUSIVE MODE;
    ASSERT NOT EXISTS (SELECT FROM jobs WHERE )sql" +
                             of_tests + R"sql(), 'jobs go on';
    LOCK TABLE event_position IN EXCLUSIVE MODE;
    ASSERT NOT EXISTS (SELECT FROM )sql" +
                             events_without_sequence + R"sql(), 'events wait for their sequence';
    FOR name IN
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
          AND c.relname <> ALL ('{kernel_migrations, server_key, address_keys, event_position,
                                  event_consumers, presence_servers, jobs}')
    LOOP
        EXECUTE format('DELETE FROM %I', name);
    END LOOP;
END $$)sql";

/// Of all that defines the schema: rows that are written anew have another xmin.
constexpr const char* schema_now = R"sql(
SELECT string_agg(s, ' ') FROM (
    SELECT count(*) || '/' || sum(xmin::text::bigint) AS s FROM pg_class UNION ALL
    SELECT count(*) || '/' || sum(xmin::text::bigint) FROM pg_proc UNION ALL
    SELECT count(*) || '/' || sum(xmin::text::bigint) FROM pg_trigger UNION ALL
    SELECT count(*) || '/' || sum(xmin::text::bigint) FROM pg_constraint UNION ALL
    SELECT count(*) || '/' || sum(xmin::text::bigint) FROM pg_policy UNION ALL
    SELECT count(*) || '/' || sum(xmin::text::bigint) FROM pg_db_role_setting
    WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
) all_of_it)sql";

}  // namespace

std::unique_ptr<ReusedServer::Held>& ReusedServer::spare() {
    Postgres::shared();  // ends after it
    static std::unique_ptr<Held> one;
    return one;
}

ReusedServer::ReusedServer(std::vector<std::string> settings) : held_(std::move(spare())) {
    if (held_ && held_->server->options().settings == settings && held_->empty()) return;
    held_.reset();
    held_ = start(std::move(settings));
}

std::unique_ptr<ReusedServer::Held> ReusedServer::start(std::vector<std::string> settings) {
    auto held = std::make_unique<Held>();
    held->server = std::make_unique<Server>(Server::Options{
        .database_url = Postgres::shared().fresh_database(),
        .settings = std::move(settings),
    });
    held->pid = held->server->pid();
    held->schema = Postgres::shared().run(schema_now, held->database());
    return held;
}

ReusedServer::~ReusedServer() {
    if (!testing::Test::HasFailure() && held_->is_as_started()) spare() = std::move(held_);
}

void ReusedServer::await_sequences() const {
    const auto have_all = [&] {
        return Postgres::shared().run(
                   "SELECT count(*) FROM " + events_without_sequence, database()
               ) == "0";
    };
    if (!eventually(have_all)) throw std::runtime_error("some events have no sequence");
}

bool ReusedServer::Held::is_as_started() const noexcept {
    try {
        return server->pid() == pid && !server->wait({}) && Server::count_on(database()) == 1 &&
               Postgres::shared().run(schema_now, database()) == schema;
    } catch (const std::exception&) {
        return false;
    }
}

/// Whether it could be; not while a job of the test before takes long.
bool ReusedServer::Held::empty() {
    const auto is_empty = [&] {
        try {
            Postgres::shared().run(deletion_of_jobs, database());
            Postgres::shared().run(deletion, database());
            return true;
        } catch (const std::runtime_error&) {
            return false;  // something goes on, or what goes on locks rows in another order
        }
    };
    if (!eventually(is_empty, std::chrono::seconds(10))) return false;
    server->forget();
    return true;
}

}  // namespace svc::test
