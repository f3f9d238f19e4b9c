#include "db/errors.hpp"

#include "tests/unit/db/fixture.hpp"

#include <Poco/AutoPtr.h>
#include <Poco/Channel.h>
#include <Poco/Logger.h>
#include <Poco/Message.h>

namespace svc::db {
namespace {

class ErrorsTest : public SharedDatabaseTest {
protected:
    template <class... Arg>
    void run(const Sql& sql, const Arg&... arg) {
        const auto tx = database->begin(Tx::Mode::write);
        tx->set_scope(org, user);
        tx->run(sql, arg...);
        tx->commit();
    }
    void expect_still_usable() {
        EXPECT_EQ(0, database->load().busy);
        EXPECT_EQ(1, database->load().connections);
        EXPECT_EQ(0, database->load().reconnects);
        store(*database, "afterwards " + new_uuid().str());
    }
    template <class... Arg>
    void expect_constraint(
        ConstraintError::Kind kind, std::string_view name, const Sql& sql, const Arg&... arg
    ) {
        try {
            run(sql, arg...);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const ConstraintError& error) {
            EXPECT_EQ(kind, error.kind());
            EXPECT_EQ(name, error.constraint());
            EXPECT_THAT(error.what(), testing::StartsWith(sql.name));
        }
        expect_still_usable();
    }
};

TEST_F(ErrorsTest, ConstraintsComeWithKindAndName) {
    using Kind = ConstraintError::Kind;
    const Note note = store(*database, "taken");
    expect_constraint(Kind::unique, "notes_pkey", add_note, org, note.id, "other");
    expect_constraint(Kind::unique, "title_is_unique", add_note, org, new_uuid(), "taken");
    expect_constraint(
        Kind::check, "title_is_short", add_note, org, new_uuid(), std::string(101, 'x')
    );
    expect_constraint(Kind::foreign_key, "trace_of_note", add_trace, org, new_uuid(), "x");
}

TEST_F(ErrorsTest, AnExclusionIsAConstraintToo) {
    postgres.run(
        "CREATE TABLE spans (a int4range, CONSTRAINT apart EXCLUDE USING gist (a WITH &&));"
        "GRANT ALL ON spans TO workboard",
        url
    );
    constexpr Sql add{"test.add_span", "INSERT INTO spans VALUES (int4range(1, 5))"};
    run(add);
    expect_constraint(ConstraintError::Kind::exclusion, "apart", add);
}

TEST_F(ErrorsTest, AConstraintThatWaitsForTheCommitIsToldThere) {
    constexpr Sql defer{"test.defer", "SET CONSTRAINTS trace_of_note DEFERRED"};
    const auto tx = database->begin(Tx::Mode::write);
    tx->set_scope(org, user);
    tx->run(defer);
    tx->run(add_trace, org, new_uuid(), "orphan");
    EXPECT_THROW(tx->commit(), ConstraintError);
    EXPECT_THROW(tx->commit(), std::logic_error);
}

TEST_F(ErrorsTest, AStatementThatEndsTheTransactionIsCaught) {
    constexpr Sql abort{"test.abort", "ROLLBACK"};
    const Uuid id = new_uuid();
    {
        const auto tx = database->begin(Tx::Mode::write);
        tx->set_scope(org, user);
        tx->run(add_note, org, id, "x");
        EXPECT_THROW(tx->run(abort), std::logic_error);
        EXPECT_THROW(tx->commit(), std::logic_error);
    }
    EXPECT_FALSE(find(*database, id));
    expect_still_usable();
}

TEST_F(ErrorsTest, WhatAClientSentAndNoColumnTakesIsA422WithoutInternals) {
    constexpr Sql small{"test.small", "SELECT $1::smallint"};
    constexpr Sql number{"test.number", "SELECT $1::integer"};
    constexpr Sql json{"test.json", "SELECT $1::jsonb"};
    constexpr Sql date{"test.date", "SELECT $1::date"};
    constexpr Sql pattern{"test.pattern", "SELECT 'x' ~ $1"};
    constexpr Sql text{"test.text", "SELECT $1::text"};
    const auto expect_invalid = [&](const Sql& sql, const auto& value) {
        try {
            run(sql, value);
            ADD_FAILURE() << sql.name << ": nothing was thrown";
        } catch (const Failure& failure) {
            EXPECT_EQ(422, failure.status());
            const std::string body = failure.body("id");
            EXPECT_THAT(body, testing::HasSubstr("value_error"));
            EXPECT_THAT(body, testing::Not(testing::HasSubstr("test.")));
            EXPECT_THAT(
                body, testing::Not(testing::ContainsRegex("integer|json|date|regular|byte"))
            );
        }
    };
    expect_invalid(small, 40'000);
    expect_invalid(number, "12x");
    expect_invalid(json, R"({"a": "\u0000"})");
    expect_invalid(date, "2023-02-30");
    expect_invalid(pattern, "(");
    expect_invalid(text, std::string("cut \0 off", 9));
    expect_invalid(text, "\xC3\x28");      // not UTF-8
    expect_invalid(text, "\xED\xA0\x80");  // half a surrogate pair
    expect_still_usable();
}

TEST_F(ErrorsTest, ANulInAListIsRefusedBeforeItIsSent) {
    Params params;
    EXPECT_EQ(Fault::invalid, fault_of([&] {
                  params.add(std::vector<std::string>{"fine", std::string("a\0b", 3)});
              }));
}

TEST_F(ErrorsTest, ATextTooLongForItsIndexIsA422) {
    postgres.run(
        "CREATE TABLE long_keys (key text PRIMARY KEY); GRANT ALL ON long_keys TO workboard", url
    );
    constexpr Sql add{"test.add_key", "INSERT INTO long_keys VALUES ($1)"};
    std::string random;
    while (random.size() < 20'000) random += new_uuid().str();  // does not compress
    EXPECT_EQ(Fault::invalid, fault_of([&] { run(add, random); }));
    expect_still_usable();
}

TEST_F(ErrorsTest, AMistakeOfOursNamesTheStatementAndIsNoFailure) {
    constexpr Sql typo{"test.typo", "SELEC 1"};
    constexpr Sql no_table{"test.no_table", "SELECT * FROM nowhere"};
    EXPECT_THAT(message_of<SqlError>([&] { run(typo); }), testing::StartsWith("test.typo: 42601 "));
    EXPECT_THAT(
        message_of<SqlError>([&] { run(no_table); }), testing::StartsWith("test.no_table: 42P01 ")
    );
    expect_still_usable();
}

TEST_F(ErrorsTest, AMistakeInOneStatementOfAPipelineLeavesTheOthersUsable) {
    constexpr Sql typo{"test.typo_too", "SELECT nonsense"};
    const auto attempt = [&] {
        const auto tx = database->begin(Tx::Mode::read);
        tx->set_scope(org, user);
        tx->queue(count_notes);
        tx->queue(typo);
        auto behind = tx->later<Note>(list_notes);  // prepared for the first time, and not reached
        behind.all();
    };
    EXPECT_THROW(attempt(), SqlError);
    EXPECT_THROW(attempt(), SqlError);
    expect_still_usable();
    database->transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(org, user);
        EXPECT_EQ(1, tx.all<Note>(list_notes).size());
    });
}

TEST_F(ErrorsTest, AStatementThatTakesTooLongIsA504ThatIsNotToBeTriedAgain) {
    Settings settings;
    settings.url = url;
    settings.statement_timeout = std::chrono::seconds(1);
    const auto impatient = open(settings);
    try {
        impatient->transact(Tx::Mode::read, [](Tx& tx) { tx.one<Word>(nap, 30.0); });
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Failure& failure) {
        EXPECT_EQ(504, failure.status());
        EXPECT_EQ("gateway_timeout", failure.code());
        EXPECT_TRUE(failure.headers().empty());
    }
    EXPECT_EQ(0, impatient->load().reconnects);
    impatient->transact(Tx::Mode::read, [](Tx& tx) { tx.one<Word>(nap, 0.0); });
}

TEST_F(ErrorsTest, WhatWaitedTooLongForOthersMayBeTriedAgain) {
    const Note note = store(*database, "held");
    const auto holder = database->begin(Tx::Mode::write);
    holder->set_scope(org, user);
    holder->run(touch_note, org, note.id);
    Settings settings;
    settings.url = url;
    settings.statement_timeout = std::chrono::milliseconds(500);
    const auto impatient = open(settings);
    EXPECT_EQ(Fault::unavailable, fault_of([&] {
                  impatient->transact(Tx::Mode::write, [&](Tx& tx) {
                      tx.set_scope(org, user);
                      tx.run(touch_note, org, note.id);
                  });
              }));
}

TEST_F(ErrorsTest, WhatAnOperatorCancelsMayBeTriedAgain) {
    std::thread operator_([this] {
        constexpr std::string_view cancel =
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND state = 'active' AND query LIKE '%pg_sleep%'";
        for (int tries = 0; tries < 100 && postgres.run(cancel, url) != "t"; ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
    });
    EXPECT_EQ(Fault::unavailable, fault_of([&] {
                  database->transact(Tx::Mode::read, [](Tx& tx) { tx.one<Word>(nap, 4.0); });
              }));
    operator_.join();
}

/// What is logged under "db" while it lives.
class Log final : public Poco::Channel {
public:
    static Poco::AutoPtr<Log> listen() {
        Poco::AutoPtr<Log> log(new Log);
        Poco::Logger::get("db").setChannel(log);
        return log;
    }
    void log(const Poco::Message& message) override {
        const std::lock_guard lock(mutex_);
        text_ += message.getText() + '\n';
    }
    std::string text() const {
        const std::lock_guard lock(mutex_);
        return text_;
    }

private:
    mutable std::mutex mutex_;
    std::string text_;
};

TEST_F(ErrorsTest, SlowStatementsAreLoggedByName) {
    Settings settings;
    settings.url = url;
    settings.slow = std::chrono::seconds(1);
    const auto watching = open(settings);
    const auto log = Log::listen();
    watching->transact(Tx::Mode::read, [](Tx& tx) { tx.one<Word>(nap, 0.0); });
    EXPECT_EQ("", log->text());
    watching->transact(Tx::Mode::read, [&](Tx& tx) {
        tx.queue(count_notes);
        tx.one<Word>(nap, 1.2);
    });
    EXPECT_THAT(log->text(), testing::StartsWith("slow: test.count_notes, test.nap took "));
    Poco::Logger::get("db").setChannel(nullptr);
}

TEST_F(ErrorsTest, ALineOfTheLogNamesSomeOfThousandsOfStatements) {
    Settings settings;
    settings.url = url;
    settings.slow = std::chrono::milliseconds(100);
    const auto watching = open(settings);
    const auto log = Log::listen();
    watching->transact(Tx::Mode::read, [&](Tx& tx) {
        for (int each = 0; each < 2000; ++each) tx.queue(count_notes);
        tx.one<Word>(nap, 0.3);
    });
    Poco::Logger::get("db").setChannel(nullptr);
    EXPECT_THAT(log->text(), testing::StartsWith("slow: test.count_notes, test.count_notes, "));
    EXPECT_THAT(log->text(), testing::HasSubstr(" more took "));
    EXPECT_LT(log->text().size(), 400U);
}

TEST_F(ErrorsTest, ASerializationFailureRunsTheWorkAgain) {
    constexpr Sql strictly{"test.strictly", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"};
    const Note note = store(*database, "contended");
    int runs = 0;
    database->transact(Tx::Mode::write, [&](Tx& tx) {
        tx.queue(strictly);
        tx.set_scope(org, user);
        tx.one<Note>(get_note, org, note.id);
        if (++runs == 1) run(touch_note, org, note.id);  // another one, behind our back
        tx.run(touch_note, org, note.id);
    });
    EXPECT_EQ(2, runs);
    EXPECT_EQ(3, find(*database, note.id)->version);
    EXPECT_EQ(1, database->load().retries);
}

TEST_F(ErrorsTest, WorkThatNeverComesThroughEndsAsA503) {
    int runs = 0;
    EXPECT_EQ(Fault::unavailable, fault_of([&] {
                  database->transact(Tx::Mode::write, [&](Tx&) {
                      ++runs;
                      throw RetryTransaction("as if");
                  });
              }));
    EXPECT_EQ(4, runs);
}

TEST_F(ErrorsTest, ADeadlockIsRunAgainUntilBothAreDone) {
    const Note first = store(*database, "first"), second = store(*database, "second");
    std::atomic<int> holding{0}, runs{0};
    const auto move = [&](const Uuid& one, const Uuid& other) {
        database->transact(Tx::Mode::write, [&](Tx& tx) {
            ++runs;
            tx.set_scope(org, user);
            tx.run(touch_note, org, one);
            // Once, both hold one row before they want the other's.
            ++holding;
            while (holding < 2) std::this_thread::yield();
            tx.run(touch_note, org, other);
        });
    };
    std::thread there([&] { move(first.id, second.id); });
    move(second.id, first.id);
    there.join();
    EXPECT_GT(runs, 2);
    EXPECT_EQ(3, find(*database, first.id)->version);
    EXPECT_EQ(3, find(*database, second.id)->version);
}

TEST_F(ErrorsTest, ATableThatChangesUnderItsPlanIsPlannedAnew) {
    postgres.run(
        "CREATE TABLE wide (number bigint); INSERT INTO wide VALUES (5);"
        "GRANT ALL ON wide TO workboard",
        url
    );
    constexpr Sql all{"test.all_of_wide", "SELECT * FROM wide"};
    const auto read = [&] {
        std::int64_t number = 0;
        database->transact(Tx::Mode::read, [&](Tx& tx) { number = tx.one<Number>(all)->number; });
        return number;
    };
    EXPECT_EQ(5, read());
    postgres.run(
        "ALTER TABLE wide RENAME number TO old; ALTER TABLE wide ADD number bigint DEFAULT 6", url
    );
    EXPECT_EQ(6, read());
    EXPECT_EQ(1, database->load().retries);
}

TEST_F(ErrorsTest, StatementsThatSomebodyDeallocatedArePreparedAnew) {
    constexpr Sql forget{"test.forget", "DEALLOCATE ALL"};
    const Note note = store(*database, "x");
    database->transact(Tx::Mode::read, [&](Tx& tx) { tx.run(forget); });
    EXPECT_EQ(note, find(*database, note.id));
    EXPECT_EQ(0, database->load().reconnects);
}

TEST_F(ErrorsTest, ATransactionThatAStatementBeginsIsNotInherited) {
    constexpr Sql begin_it{"test.begin", "BEGIN"};
    database->transact(Tx::Mode::read, [&](Tx& tx) { tx.run(begin_it); });
    const Uuid id = store(*database, "kept").id;
    EXPECT_EQ(1, database->load().reconnects);
    Database other({.url = url});
    EXPECT_TRUE(find(other, id));
}

}  // namespace
}  // namespace svc::db
