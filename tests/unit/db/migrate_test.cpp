#include "tests/unit/db/fixture.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace svc::db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Migration step(int number, std::string sql, std::string module = "colours") {
    char name[32];
    snprintf(name, sizeof name, "%04d_step.sql", number);
    return {std::move(module), number, name, std::move(sql)};
}

class MigrateTest : public ::testing::Test {
protected:
    std::vector<std::string> apply(const std::vector<Migration>& steps) {
        std::vector<std::string> applied;
        for (const auto& each : migrate(database, steps))
            applied.push_back(each.module + "/" + each.name);
        return applied;
    }
    std::string refusal(const std::vector<Migration>& steps) {
        return message_of<std::runtime_error>([&] { apply(steps); });
    }

    test::Postgres& postgres = test::Postgres::shared();
    const std::string url = postgres.empty_database();
    Database database{{.url = url}};
    const Migration one = step(1, "CREATE TABLE colours (name text)");
    const Migration two = step(2, "ALTER TABLE colours ADD hue integer");
};

TEST_F(MigrateTest, StepsAreAppliedOnceAndInOrder) {
    EXPECT_THAT(apply({one}), ElementsAre("colours/0001_step.sql"));
    EXPECT_THAT(apply({one}), IsEmpty());
    EXPECT_THAT(apply({one, two}), ElementsAre("colours/0002_step.sql"));
    EXPECT_THAT(apply({one, two}), IsEmpty());
    EXPECT_EQ(
        "2",
        postgres.run(
            "SELECT count(*) FROM information_schema.columns"
            " WHERE table_name = 'colours'",
            url
        )
    );
    EXPECT_EQ(
        "workboard",
        postgres.run(
            "SELECT tableowner FROM pg_tables"
            " WHERE tablename = 'colours'",
            url
        )
    );
}

TEST_F(MigrateTest, NothingToDoIsOneRoundTrip) {
    apply({one, two});
    const auto before = database.load().round_trips;
    EXPECT_THAT(apply({one, two}), IsEmpty());
    EXPECT_EQ(before + 1, database.load().round_trips);
}

TEST_F(MigrateTest, ModulesCountEachForThemselvesInTheOrderGiven) {
    EXPECT_THAT(
        apply({one, step(1, "CREATE TABLE shades AS SELECT * FROM colours", "shades"), two}),
        ElementsAre("colours/0001_step.sql", "shades/0001_step.sql", "colours/0002_step.sql")
    );
}

TEST_F(MigrateTest, AModuleThatIsTurnedOffKeepsWhatItHas) {
    apply({one, step(1, "CREATE TABLE shades (name text)", "shades")});
    EXPECT_THAT(apply({one}), IsEmpty());
}

TEST_F(MigrateTest, AFileThatChangedIsRefusedByName) {
    apply({one, two});
    const auto changed = step(1, "CREATE TABLE colours (name text NOT NULL)");
    EXPECT_THAT(
        refusal({changed, two}), testing::StartsWith("migration colours/0001_step.sql: has changed")
    );
}

TEST_F(MigrateTest, AFileThatIsGoneIsRefusedByName) {
    apply({one, two});
    EXPECT_THAT(refusal({one}), HasSubstr("colours/0002_step.sql: was applied"));
}

TEST_F(MigrateTest, AFileThatWasRenamedIsRefusedByName) {
    apply({one});
    auto renamed = one;
    renamed.name = "0001_other.sql";
    EXPECT_THAT(refusal({renamed}), HasSubstr("colours/0001_other.sql: was applied"));
}

TEST_F(MigrateTest, NumbersBeginWithOneAndLeaveNoneOut) {
    EXPECT_THAT(refusal({two}), HasSubstr("colours/0002_step.sql: its number should be 1"));
    EXPECT_THAT(refusal({one, step(3, "")}), HasSubstr("its number should be 2"));
    EXPECT_THAT(refusal({one, one}), HasSubstr("its number should be 2"));
}

TEST_F(MigrateTest, AStepThatFailsIsUndoneAndThoseBeforeItStay) {
    const auto broken = step(3, "CREATE TABLE half (x int); SELECT nonsense");
    EXPECT_THAT(
        refusal({one, two, broken}),
        testing::AllOf(HasSubstr("colours/0003_step.sql: "), HasSubstr("nonsense"))
    );
    EXPECT_EQ("", postgres.run("SELECT 1 FROM pg_tables WHERE tablename = 'half'", url));
    EXPECT_THAT(apply({one, two}), IsEmpty());
    EXPECT_THAT(apply({one, two, step(3, "CREATE TABLE half (x int)")}), testing::SizeIs(1));
}

TEST_F(MigrateTest, AStepThatEndsItsTransactionIsRefused) {
    EXPECT_THAT(
        refusal({step(1, "CREATE TABLE a (x int); COMMIT")}), HasSubstr("ends the transaction")
    );
}

TEST_F(MigrateTest, AStepReachesTheRowsOfAllWorkspaces) {
    auto steps = all_tables();
    apply(steps);
    const Uuid org = new_uuid();
    database.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(org, std::nullopt);
        tx.run(add_note, org, new_uuid(), "x");
    });
    auto more = step(2, "UPDATE notes SET title = 'y'", "test");
    steps.push_back(more);
    EXPECT_THAT(apply(steps), testing::SizeIs(1));
    EXPECT_EQ("y", postgres.run("SELECT title FROM notes", url));
}

TEST_F(MigrateTest, ALongStepIsNotCutOff) {
    Settings settings;
    settings.url = url;
    settings.statement_timeout = std::chrono::milliseconds(50);
    Database impatient(settings);
    EXPECT_EQ(1, migrate(impatient, {step(1, "SELECT pg_sleep(0.5)")}).size());
}

TEST_F(MigrateTest, TwoServersAtOnceApplyEachStepOnce) {
    std::vector<Migration> steps;
    for (int i = 1; i <= 10; ++i)
        steps.push_back(
            step(i, "CREATE TABLE t" + std::to_string(i) + " (x int); SELECT pg_sleep(0.01)")
        );
    std::atomic<std::size_t> applied{0};
    std::vector<std::thread> servers;
    for (int i = 0; i < 4; ++i)
        servers.emplace_back([&] {
            Database mine({.url = url});
            applied += migrate(mine, steps).size();
        });
    for (auto& server : servers) server.join();
    EXPECT_EQ(steps.size(), applied);
    EXPECT_THAT(apply(steps), IsEmpty());
}

TEST_F(MigrateTest, TheKernelsOwnStepsFitAFreshDatabase) {
    const auto steps = unpack_migrations("kernel", svc_kernel_migrations);
    EXPECT_EQ("0001_kernel.sql", steps.at(0).name);
    EXPECT_EQ(steps.size(), apply(steps).size());
    EXPECT_EQ(
        "t",
        postgres.run(
            "SELECT relforcerowsecurity FROM pg_class"
            " WHERE relname = 'idempotency_keys'",
            url
        )
    );
}

TEST(UnpackTest, EachMarkBeginsAFile) {
    const auto steps = unpack_migrations(
        "colours",
        "--@migration 0001_a.sql\nSELECT 1;\n--\n\n--@migration 0002_b_c.sql\nSELECT 2;\n"
    );
    ASSERT_EQ(2, steps.size());
    EXPECT_EQ("colours", steps[0].module);
    EXPECT_EQ(1, steps[0].number);
    EXPECT_EQ("0001_a.sql", steps[0].name);
    EXPECT_EQ("SELECT 1;\n--\n\n", steps[0].sql);
    EXPECT_EQ(2, steps[1].number);
    EXPECT_EQ("0002_b_c.sql", steps[1].name);
    EXPECT_EQ("SELECT 2;\n", steps[1].sql);
}

TEST(UnpackTest, NothingPackedIsNothing) { EXPECT_TRUE(unpack_migrations("colours", "").empty()); }

TEST(UnpackTest, AFileWithoutANumberIsNamed) {
    EXPECT_THAT(
        message_of<std::runtime_error>([] {
            unpack_migrations("colours", "--@migration first.sql\nSELECT 1;\n");
        }),
        HasSubstr("colours/first.sql")
    );
}

// ------------------------------------------------------------------ the kernel's own table

class IdempotencyKeysTest : public SharedDatabaseTest {
protected:
    static constexpr Sql keep{"test.keep", R"(
        INSERT INTO idempotency_keys (org_id, principal_id, request, body, status, answer)
        VALUES ($1, $2, sha256($3::bytea), sha256(''), 200, '')
        RETURNING 1 AS number)"};
    static constexpr Sql count{
        "test.count_keys", "SELECT count(*) AS number FROM idempotency_keys"};

    std::int64_t visible(const std::optional<Uuid>& in_org, const std::optional<Uuid>& to) {
        std::int64_t number = -1;
        database->transact(Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope(in_org, to);
            number = tx.one<Number>(count)->number;
        });
        return number;
    }
    void add(
        const std::optional<Uuid>& in_org, const Uuid& of, const Uuid& row_org, const Uuid& row_of
    ) {
        database->transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(in_org, of);
            tx.run(keep, row_org, row_of, "key");
        });
    }
};

TEST_F(IdempotencyKeysTest, AreSeenInTheirWorkspaceAlone) {
    add(org, user, org, user);
    EXPECT_EQ(1, visible(org, user));
    EXPECT_EQ(0, visible(other_org, user));
    EXPECT_EQ(0, visible(std::nullopt, user));
    EXPECT_THROW(add(org, user, other_org, user), std::runtime_error);
}

TEST_F(IdempotencyKeysTest, OfRequestsWithoutAWorkspaceBelongToThePerson) {
    add(std::nullopt, user, Uuid(), user);
    EXPECT_EQ(1, visible(std::nullopt, user));
    EXPECT_EQ(1, visible(org, user));
    EXPECT_EQ(0, visible(std::nullopt, new_uuid()));
    EXPECT_EQ(0, visible(std::nullopt, std::nullopt));
    EXPECT_THROW(add(std::nullopt, user, Uuid(), new_uuid()), std::runtime_error);
}

TEST_F(IdempotencyKeysTest, TheSameRequestIsKeptOnce) {
    add(org, user, org, user);
    EXPECT_THROW(add(org, user, org, user), ConstraintError);
    EXPECT_NO_THROW(add(org, user, org, new_uuid())) << "another principal's is another";
}

}  // namespace
}  // namespace svc::db
