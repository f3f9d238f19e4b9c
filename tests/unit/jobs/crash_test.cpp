// Servers that end in the middle of a job: each is a process of its own, this program run once
// more.

#include "tests/unit/jobs/jobs_fixture.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace svc::test {

namespace {

constexpr const char* database_of_worker = "WORKBOARD_TEST_DATABASE";

constexpr Sql begin_work{"test.begin_work", R"(
    INSERT INTO works (org_id, key, process) VALUES ($1, $2, $3))"};
constexpr Sql end_work{"test.end_work", R"(
    UPDATE works SET ended = true WHERE org_id = $1 AND key = $2 AND process = $3)"};
constexpr Sql may_end{"test.may_end", "SELECT EXISTS (SELECT FROM gate) AS open"};

struct Gate {
    bool open = false;
};
SVC_RECORD(Gate, (open));

/// Jobs note that they began, wait until the gate is open, and note that they ended together with
/// their end.
JobKind noted_work(db::Database& database) {
    return {
        .name = "work",
        .run =
            [&database](JobRun& run) {
                const auto act = [&](const Sql& how, bool last) {
                    database.transact(Tx::Mode::write, [&](Tx& tx) {
                        tx.set_scope(run.org(), std::nullopt);
                        tx.queue(how, run.org(), run.key(), static_cast<std::int64_t>(getpid()));
                        if (last) run.complete(tx);
                    });
                };
                act(begin_work, false);
                if (run.key() == "deadly") raise(SIGKILL);
                for (Gate gate; !gate.open;) {
                    std::this_thread::sleep_for(20ms);
                    database.transact(Tx::Mode::read, [&](Tx& tx) {
                        gate = *tx.one<Gate>(may_end);
                    });
                }
                act(end_work, true);
                return JobOutcome::done;
            },
        .at_once = 4,
        .at_once_per_workspace = 4,
        .most_attempts = 3,
        .pause = 10ms,
    };
}

/// A process that does jobs until it is killed.
class Worker {
public:
    explicit Worker(const std::string& url) {
        const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
        const std::string variable = std::string(database_of_worker) + "=" + url;
        std::vector<std::string> variables{variable};
        for (char** each = environ; *each; ++each) variables.emplace_back(*each);
        std::vector<char*> environment;
        for (auto& each : variables) environment.push_back(each.data());
        environment.push_back(nullptr);
        const char* words[] = {
            program.c_str(),
            "--gtest_also_run_disabled_tests",
            "--gtest_filter=JobsWorker.DISABLED_WorksUntilItIsKilled",
            "--gtest_brief=1",
            nullptr};
        pid_ = fork();
        if (pid_ == 0) {
            execve(words[0], const_cast<char**>(words), environment.data());
            _exit(127);
        }
    }
    ~Worker() { kill(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    bool ended() const { return waitpid(pid_, nullptr, WNOHANG) == pid_; }
    pid_t pid() const { return pid_; }

private:
    pid_t pid_ = 0;
};

class Crashes : public testing::Test {
protected:
    Crashes() {
        fixture.ask(
            "CREATE TABLE works (org_id uuid NOT NULL, key text NOT NULL, process bigint NOT NULL,"
            " ended boolean NOT NULL DEFAULT false)"
        );
        fixture.ask("CREATE TABLE gate ()");
        fixture.ask("GRANT ALL ON works, gate TO PUBLIC");
    }
    void open_gate() const { fixture.ask("INSERT INTO gate DEFAULT VALUES"); }
    void enqueue(const std::string& org, int count, const std::string& prefix = "k") const {
        fixture.ask(
            "INSERT INTO jobs (org_id, kind, key, state) SELECT '" + org + "', 'work', '" + prefix +
            "' || n, 'ready' FROM generate_series(1, " + std::to_string(count) + ") n"
        );
    }
    JobsFixture fixture;
};

}  // namespace

/// What a worker's process does; not a test of this program's.
TEST(JobsWorker, DISABLED_WorksUntilItIsKilled) {
    const char* url = std::getenv(database_of_worker);
    ASSERT_NE(url, nullptr);
    db::Database database(EventsFixture::settings_for(url));
    database.open();
    Pool pool(JobsFixture::brisk);
    pool.add(noted_work(database));
    pool.start(database);
    while (getppid() != 1) std::this_thread::sleep_for(20ms);
}

TEST_F(Crashes, OfThreeServersTwoAreKilledAndNothingIsLostOrDoneTwice) {
    std::vector<std::unique_ptr<Worker>> workers;
    for (int i = 0; i < 3; ++i) workers.push_back(std::make_unique<Worker>(fixture.url));
    for (int org = 0; org < 10; ++org) enqueue(new_uuid().str(), 40);
    const std::string begun = "SELECT count(DISTINCT process) FROM works";
    ASSERT_TRUE(eventually([&] { return fixture.ask(begun) == "3"; }));
    // In the middle: each has begun jobs, which none may end yet.
    for (int i = 0; i < 2; ++i) workers[i]->kill();
    open_gate();
    ASSERT_TRUE(eventually([&] { return fixture.done(); }, 60s));
    EXPECT_EQ(fixture.ask("SELECT count(*) FROM works WHERE ended"), "400");
    EXPECT_EQ(fixture.ask("SELECT count(DISTINCT (org_id, key)) FROM works WHERE ended"), "400")
        << "the end of a job is committed once";
    EXPECT_NE(fixture.ask("SELECT count(*) FROM works WHERE NOT ended"), "0")
        << "none was killed in the middle, so that this shows nothing";
}

TEST_F(Crashes, AJobThatKillsItsServerIsGivenUp) {
    open_gate();
    const Uuid org = new_uuid();
    fixture.insert("work", org, "deadly");
    fixture.insert("work", org, "fine");
    auto worker = std::make_unique<Worker>(fixture.url);
    int deaths = 0;
    ASSERT_TRUE(eventually(
        [&] {
            if (worker->ended()) {
                ++deaths;
                worker = std::make_unique<Worker>(fixture.url);
            }
            return fixture.jobs("state", "key = 'deadly'") == "failed";
        },
        60s
    ));
    EXPECT_EQ(deaths, 3);
    EXPECT_EQ(
        fixture.jobs("last_error", "key = 'deadly'"),
        "Its server ended in the middle of every attempt."
    );
    EXPECT_TRUE(eventually([&] { return fixture.jobs("key") == "deadly"; })) << "the other is done";
}

}  // namespace svc::test
