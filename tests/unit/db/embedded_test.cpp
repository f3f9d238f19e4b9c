#include "db/cluster.hpp"
#include "db/home.hpp"
#include "db/programs.hpp"
#include "tests/support/eventually.hpp"
#include "tests/unit/db/fixture.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace svc::db {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A folder of this test's own that is gone afterwards, with whatever runs in it.
class EmbeddedTest : public ::testing::Test {
protected:
    EmbeddedTest() {
        char name[] = "/tmp/workboard-embedded-XXXXXX";
        base = mkdtemp(name);
        chmod(name, 0755);
        folder = base / "var" / "postgres";
    }
    ~EmbeddedTest() override {
        if (const pid_t left = server()) {
            kill(left, SIGQUIT);
            while (server() != 0) std::this_thread::sleep_for(5ms);
        }
        fs::remove_all(base);
        if (!elsewhere.empty()) fs::remove_all(elsewhere);
    }

    /// As if it had been made before: most tests are about something else.
    void make_ready() {
        make_private_folder(folder, cluster_account());
        test::Postgres::make_data(folder / "data");
    }
    using Level = Embedded::Level;
    std::unique_ptr<Embedded> make(int pool = 4) {
        return std::make_unique<Embedded>(folder, pool, [this](Level level, std::string_view line) {
            const std::lock_guard lock(mutex);
            lines.emplace_back(line);
            levels.push_back(level);
        });
    }
    bool was_said(std::string_view part) { return level_of(part).has_value(); }
    std::optional<Level> level_of(std::string_view part) {
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (lines[i].find(part) != std::string::npos) return levels[i];
        return std::nullopt;
    }
    void give_to(uid_t user, const fs::path& file) {
        ASSERT_EQ(0, chown(file.c_str(), user, user)) << file;
    }
    std::string why_not_started() {
        return message_of<std::runtime_error>([&] { make()->start(); });
    }
    pid_t server() const {
        const fs::path data = (elsewhere.empty() ? folder : elsewhere) / "data";
        return Cluster({{}, cluster_account(), data, data, {}}).running();
    }
    static std::int64_t process_of(Database& database) {
        constexpr Sql ask{"test.postmaster", R"(
            SELECT extract(epoch FROM pg_postmaster_start_time())::bigint AS number)"};
        std::int64_t number = 0;
        database.transact(Tx::Mode::read, [&](Tx& tx) { number = tx.one<Number>(ask)->number; });
        return number;
    }

    fs::path base, folder, elsewhere;
    std::mutex mutex;
    std::vector<std::string> lines;
    std::vector<Level> levels;  // of each line
    static constexpr uid_t somebody = 12345;
};

TEST_F(EmbeddedTest, ItIsMadeOnceAndKeepsItsData) {
    {
        const auto embedded = make();
        Database database({.url = embedded->start()});
        database.open();
        migrate(database, all_tables());
        EXPECT_TRUE(was_said("making a database cluster"));
        EXPECT_NE(0, server());
    }
    EXPECT_EQ(0, server()) << "it stops with its owner";
    lines.clear(), levels.clear();
    const auto embedded = make();
    const auto since = Clock::now();
    const std::string url = embedded->start();
    EXPECT_LT(Clock::now() - since, 10s);
    EXPECT_FALSE(was_said("making"));
    Database database({.url = url});
    EXPECT_TRUE(migrate(database, all_tables()).empty());
}

TEST_F(EmbeddedTest, TheRoleIsAnOrdinaryOneThatOwnsItsDatabase) {
    make_ready();
    const auto embedded = make();
    Database database({.url = embedded->start()});
    EXPECT_NO_THROW(database.open());
    constexpr Sql ask{"test.owner", R"(
        SELECT current_user || ' ' || current_database() || ' ' || pg_get_userbyid(datdba) AS word
          FROM pg_database WHERE datname = current_database())"};
    constexpr Sql show{"test.setting", "SELECT current_setting($1) AS word"};
    database.transact(Tx::Mode::read, [&](Tx& tx) {
        EXPECT_EQ("workboard workboard workboard", tx.one<Word>(ask)->word);
        EXPECT_EQ("", tx.one<Word>(show, "listen_addresses")->word) << "nothing on TCP";
        EXPECT_EQ("on", tx.one<Word>(show, "fsync")->word);
        EXPECT_EQ("UTF8", tx.one<Word>(show, "server_encoding")->word);
    });
}

TEST_F(EmbeddedTest, AnIndexMayBeAskedForWordsBeforeAPolicyIs) {
    make_ready();
    const auto embedded = make();
    Database database({.url = embedded->start()});
    constexpr Sql ask{"test.leakproof", R"(
        SELECT proleakproof::text AS word FROM pg_proc
        WHERE oid = 'ts_match_vq(tsvector, tsquery)'::regprocedure)"};
    database.transact(Tx::Mode::read, [&](Tx& tx) { EXPECT_EQ("true", tx.one<Word>(ask)->word); });
}

TEST_F(EmbeddedTest, ItRunsAsAnUnprivilegedUserAndNobodyElseMayEnter) {
    make_ready();
    const auto embedded = make();
    embedded->start();
    struct stat process {
    }, data{}, sockets{};
    ASSERT_EQ(0, stat(("/proc/" + std::to_string(server())).c_str(), &process));
    EXPECT_NE(0u, process.st_uid);
    EXPECT_EQ(cluster_account().uid, process.st_uid);
    ASSERT_EQ(0, stat((folder / "data").c_str(), &data));
    EXPECT_EQ(0700u, data.st_mode & 0777);
    ASSERT_EQ(0, stat((folder / "socket").c_str(), &sockets));
    EXPECT_EQ(0700u, sockets.st_mode & 0777);
    EXPECT_EQ(process.st_uid, sockets.st_uid);
}

TEST_F(EmbeddedTest, WhatAKilledServerLeftIsTakenOverAndStoppedInTheEnd) {
    make_ready();
    // The server that is killed is a process of its own.
    int ends[2];
    ASSERT_EQ(0, pipe(ends));
    const pid_t killed = fork();
    if (killed == 0) {
        Embedded embedded(folder, 4, [](Level, std::string_view) {});
        const std::string url = embedded.start();
        [[maybe_unused]] const auto sent = ::write(ends[1], url.data(), url.size());
        pause();
        _exit(0);
    }
    char url[512];
    const auto length = ::read(ends[0], url, sizeof url);
    ASSERT_GT(length, 0);
    kill(killed, SIGKILL);
    waitpid(killed, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    const pid_t left = server();
    ASSERT_NE(0, left) << "a kill -9 leaves PostgreSQL running";
    {
        const auto embedded = make();
        EXPECT_EQ(std::string(url, static_cast<std::size_t>(length)), embedded->start());
        EXPECT_EQ(left, server());
        EXPECT_TRUE(was_said("taken over"));
    }
    EXPECT_EQ(0, server());
}

TEST_F(EmbeddedTest, APidFileOfThePastIsNoObstacle) {
    make_ready();
    { make()->start(); }
    // The number belongs to somebody else by now: to us.
    std::ofstream(folder / "data" / "postmaster.pid")
        << getpid() << '\n'
        << (folder / "data").string() << "\n1\n5432\n\n\n\nready\n";
    const auto embedded = make();
    Database database({.url = embedded->start()});
    EXPECT_NO_THROW(database.open());
}

// As in a container whose first process reaps nobody.
TEST_F(EmbeddedTest, AServerThatIsDeadAndNotReapedIsNoObstacle) {
    make_ready();
    { make()->start(); }
    int ends[2];
    ASSERT_EQ(0, pipe(ends));
    const pid_t parent = fork();
    if (parent == 0) {
        const pid_t dead = fork();
        if (dead == 0) {
            // PostgreSQL takes a process of another user for none of its own.
            [[maybe_unused]] const int ours = setuid(cluster_account().uid);
            _exit(0);
        }
        [[maybe_unused]] const auto sent = ::write(ends[1], &dead, sizeof dead);
        pause();
        _exit(0);
    }
    pid_t dead = 0;
    ASSERT_EQ(ssize_t(sizeof dead), ::read(ends[0], &dead, sizeof dead));
    std::ofstream(folder / "data" / "postmaster.pid")
        << dead << '\n'
        << (folder / "data").string() << "\n1\n5432\n\n\n\nready\n";
    {
        const auto embedded = make();
        EXPECT_NO_THROW(embedded->start());
        EXPECT_EQ(0, kill(dead, 0)) << "it is still there";
    }
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
}

TEST_F(EmbeddedTest, AClusterThatDiesIsStartedAgain) {
    make_ready();
    const auto embedded = make();
    Database database({.url = embedded->start()});
    database.open();
    kill(server(), SIGKILL);
    const auto until = Clock::now() + 30s;
    while (!was_said("starting it again") && Clock::now() < until)
        std::this_thread::sleep_for(10ms);
    bool back = false;
    while (!back && Clock::now() < until) {
        back = database.reachable();
        std::this_thread::sleep_for(10ms);
    }
    EXPECT_TRUE(back);
    EXPECT_NO_THROW(process_of(database));
    EXPECT_EQ(level_of("starting it again"), Level::warning);
}

TEST_F(EmbeddedTest, WithoutDescriptorsNobodyKnowsWhetherItRuns) {
    make_ready();
    const auto embedded = make();
    embedded->start();
    const Cluster seen({{}, cluster_account(), folder / "data", folder, {}});
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none{0, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    const std::string why = message_of<std::system_error>([&] { seen.running(); });
    EXPECT_TRUE(test::eventually([&] { return was_said("cannot read "); }))
        << "the server looks, too";
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_THAT(why, testing::HasSubstr("cannot read "));
    EXPECT_FALSE(was_said("has ended"));
    EXPECT_EQ(level_of("cannot read "), Level::error);
}

TEST_F(EmbeddedTest, HasRoomForThreeServersOfThePool) {
    make_ready();
    constexpr Sql ask{"test.most", "SELECT current_setting('max_connections')::bigint AS number"};
    for (const auto& [pool, least] : {std::pair{2, 60}, std::pair{100, 300 + 3 * 10}}) {
        const auto embedded = make(pool);
        Database database({.url = embedded->start()});
        database.transact(Tx::Mode::read, [&, most = least](Tx& tx) {
            EXPECT_GE(tx.one<Number>(ask)->number, most);
        });
    }
}

TEST_F(EmbeddedTest, WhoeverLeavesLastStopsIt) {
    make_ready();
    auto server_program = make();
    const std::string url = server_program->start();
    auto command = make();
    EXPECT_EQ(url, command->start());
    command.reset();
    EXPECT_NE(0, server()) << "the other one still works with it";
    server_program.reset();
    EXPECT_EQ(0, server());
}

TEST_F(EmbeddedTest, AFolderWithALongOrStrangeNameGetsItsSocketElsewhere) {
    for (const std::string& name : {std::string(120, 'x'), std::string("with blank, comma & ü")}) {
        folder = base / name / "postgres";
        make_ready();
        const auto embedded = make();
        Database database({.url = embedded->start()});
        EXPECT_NO_THROW(database.open());
        EXPECT_FALSE(fs::exists(folder / "socket"));
        embedded->stop();
        EXPECT_EQ(0, server());
    }
}

TEST_F(EmbeddedTest, AFolderThatItsUserCannotReachIsReplacedAndThatIsSaid) {
    chmod(base.c_str(), 0700);
    const bool is_other_user = cluster_account().uid != geteuid();  // when root starts it
    const auto embedded = make();
    Database database({.url = embedded->start()});
    EXPECT_NO_THROW(database.open());
    ASSERT_EQ(is_other_user, was_said("the data is in /var/lib/workboard-"));
    if (is_other_user) elsewhere = lines.front().substr(lines.front().find("/var/lib/"));
    EXPECT_TRUE(fs::exists((is_other_user ? elsewhere : folder) / "data" / "PG_VERSION"));
    embedded->stop();
    // The same folder leads to the same place again.
    lines.clear(), levels.clear();
    make()->start();
    EXPECT_FALSE(was_said("making"));
}

TEST_F(EmbeddedTest, AFolderOfSomebodyElseIsLeftAlone) {
    if (geteuid() == 0) {
        fs::create_directories(folder);
        ASSERT_EQ(0, chown(folder.c_str(), 12345, 12345));
    } else {
        folder = "/usr/share";
    }
    EXPECT_THAT(why_not_started(), testing::HasSubstr("belongs to the user"));
    if (geteuid() != 0) folder = base;
}

// The server of a user who lets nobody else into the folder, and then root on the command line.
TEST_F(EmbeddedTest, AClusterOfAnotherUserIsNotReplacedByOneElsewhere) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    make_ready();
    const fs::path var = folder.parent_path();
    for (const auto& each : {folder / "data", folder, var}) give_to(somebody, each);
    chmod(var.c_str(), 0700);
    const auto refused =
        testing::HasSubstr(folder.string() + " belongs to the user 12345; run this as that user");
    EXPECT_THAT(why_not_started(), refused);
    EXPECT_THAT(message_of<std::runtime_error>([&] { Embedded::exists(folder); }), refused);
    EXPECT_FALSE(fs::exists("/var/lib/workboard-" + mark_of(folder)));
}

TEST_F(EmbeddedTest, NoClusterIsMadeElsewhereForAFolderOfAnotherUser) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    const fs::path var = folder.parent_path();
    fs::create_directories(var);
    give_to(somebody, var);
    chmod(var.c_str(), 0700);
    EXPECT_THAT(
        why_not_started(), testing::HasSubstr(var.string() + " belongs to the user 12345; run")
    );
    EXPECT_FALSE(fs::exists("/var/lib/workboard-" + mark_of(folder)));
}

// It was reached when it was made, and what is above it was closed afterwards.
TEST_F(EmbeddedTest, AClusterThatIsThereIsTheOneThatCounts) {
    make_ready();
    chmod(base.c_str(), 0700);
    EXPECT_EQ(home_of(folder), folder);
    EXPECT_TRUE(Embedded::exists(folder));
}

TEST_F(EmbeddedTest, DataOfAnotherVersionIsRefusedByNameOfItsPackage) {
    fs::create_directories(folder / "data");
    std::ofstream(folder / "data" / "PG_VERSION") << "99\n";
    EXPECT_THAT(
        message_of<std::runtime_error>([&] { make()->start(); }),
        testing::HasSubstr("install the package postgresql-99")
    );
}

TEST(ProgramsTest, TheNewestInstalledPostgresIsFound) {
    const fs::path folder = postgres_programs();
    EXPECT_TRUE(fs::exists(folder / "postgres"));
    EXPECT_TRUE(fs::exists(folder / "initdb"));
}

TEST(ProgramsTest, AProgramsEndAndOutputAreTold) {
    const auto finished =
        run_program(cluster_account(), {"/bin/sh", "-c", "echo out; echo err >&2; exit 7"});
    EXPECT_EQ(7, finished.status);
    EXPECT_EQ("out\nerr\n", finished.output);
    EXPECT_EQ(127, run_program(cluster_account(), {"/nowhere"}).status);
    EXPECT_EQ(
        128 + SIGKILL, run_program(cluster_account(), {"/bin/sh", "-c", "kill -9 $$"}).status
    );
}

TEST(ProgramsTest, AProgramInheritsNeitherFilesNorSecretsNorRights) {
    setenv("WORKBOARD_TEST_SECRET", "x", 1);
    const auto finished = run_program(
        cluster_account(), {"/bin/sh", "-c", "env; ls /proc/self/fd | wc -l; id -u; pwd"}
    );
    EXPECT_THAT(finished.output, testing::Not(testing::HasSubstr("SECRET")));
    EXPECT_THAT(finished.output, testing::HasSubstr("\n4\n")) << "three streams and ls's own";
    EXPECT_THAT(
        finished.output, testing::EndsWith("\n" + std::to_string(cluster_account().uid) + "\n/\n")
    );
    unsetenv("WORKBOARD_TEST_SECRET");
}

}  // namespace
}  // namespace svc::db
