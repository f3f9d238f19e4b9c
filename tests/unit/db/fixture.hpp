#pragma once

#include "db/database.hpp"
#include "svc/failure.hpp"
#include "tests/support/postgres.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

extern "C" const char svc_kernel_migrations[];

namespace svc::db {

struct Note {
    Uuid id;
    std::string title;
    std::int64_t version = 0;
    auto operator<=>(const Note&) const = default;
};
SVC_RECORD(Note, (id), (title), (version));

struct Number {
    std::int64_t number = 0;
};
SVC_RECORD(Number, (number));

struct Word {
    std::optional<std::string> word;
};
SVC_RECORD(Word, (word));

inline constexpr Sql add_note{"test.add_note", R"(
    INSERT INTO notes (org_id, id, title) VALUES ($1, $2, $3) RETURNING id, title, version)"};
inline constexpr Sql get_note{"test.get_note", R"(
    SELECT id, title, version FROM notes WHERE org_id = $1 AND id = $2)"};
inline constexpr Sql list_notes{"test.list_notes", R"(
    SELECT id, title, version FROM notes ORDER BY id)"};
inline constexpr Sql touch_note{"test.touch_note", R"(
    UPDATE notes SET version = version + 1 WHERE org_id = $1 AND id = $2
    RETURNING id, title, version)"};
inline constexpr Sql add_trace{"test.add_trace", R"(
    INSERT INTO traces (org_id, note_id, what) VALUES ($1, $2, $3))"};
inline constexpr Sql count_notes{"test.count_notes", "SELECT count(*) AS number FROM notes"};
inline constexpr Sql nap{"test.nap", "SELECT pg_sleep($1::float8)::text AS word"};

/// A tenant table as modules make them, and one that follows it.
inline const Migration test_tables{"test", 1, "0001_notes.sql", R"(
    CREATE TABLE notes (
        org_id  uuid NOT NULL,
        id      uuid NOT NULL,
        title   text NOT NULL CONSTRAINT title_is_short CHECK (length(title) <= 100),
        version bigint NOT NULL DEFAULT 1,
        PRIMARY KEY (org_id, id),
        CONSTRAINT title_is_unique UNIQUE (org_id, title)
    );
    CREATE TABLE traces (
        org_id  uuid NOT NULL,
        id      bigint GENERATED ALWAYS AS IDENTITY,
        note_id uuid NOT NULL,
        what    text NOT NULL,
        PRIMARY KEY (org_id, id),
        CONSTRAINT trace_of_note FOREIGN KEY (org_id, note_id) REFERENCES notes
            DEFERRABLE INITIALLY IMMEDIATE
    );
    ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
    ALTER TABLE notes FORCE ROW LEVEL SECURITY;
    CREATE POLICY by_org ON notes
        USING (org_id = svc_org() OR svc_all_orgs())
        WITH CHECK (org_id = svc_org() OR svc_all_orgs());
    ALTER TABLE traces ENABLE ROW LEVEL SECURITY;
    ALTER TABLE traces FORCE ROW LEVEL SECURITY;
    CREATE POLICY by_org ON traces
        USING (org_id = svc_org() OR svc_all_orgs())
        WITH CHECK (org_id = svc_org() OR svc_all_orgs());
)"};

inline std::vector<Migration> all_tables() {
    auto steps = unpack_migrations("kernel", svc_kernel_migrations);
    steps.push_back(test_tables);
    return steps;
}

/// A database with the tables above, on the shared cluster.
class DatabaseTest : public ::testing::Test {
protected:
    std::unique_ptr<Database> open(std::string url, int pool = 4) {
        Settings settings;
        settings.url = std::move(url);
        settings.pool = pool;
        return open(std::move(settings));
    }
    std::unique_ptr<Database> open(Settings settings) {
        auto database = std::make_unique<Database>(std::move(settings));
        database->open();
        migrate(*database, all_tables());
        return database;
    }

    Note store(Database& database, std::string title) {
        Note note;
        database.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(org, user);
            note = tx.one<Note>(add_note, org, new_uuid(), title).value();
        });
        return note;
    }
    std::optional<Note> find(Database& database, const Uuid& id) {
        std::optional<Note> note;
        database.transact(Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope(org, user);
            note = tx.one<Note>(get_note, org, id);
        });
        return note;
    }

    const Uuid org = new_uuid(), other_org = new_uuid(), user = new_uuid();
};

/// With a database of the shared cluster at hand.
class SharedDatabaseTest : public DatabaseTest {
protected:
    test::Postgres& postgres = test::Postgres::shared();
    const std::string url = postgres.empty_database();
    const std::unique_ptr<Database> database = open(url);
};

/// The fault of the Failure that `action` ends with.
template <class Action>
std::optional<Fault> fault_of(Action action) {
    try {
        action();
        return std::nullopt;
    } catch (const Failure& failure) {
        return failure.fault();
    }
}

template <class Error, class Action>
std::string message_of(Action action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

}  // namespace svc::db
