#include "tests/support/eventually.hpp"
#include "tests/unit/cli/commands.hpp"

/// `workboard jobs`, on a database whose server has made its recurring jobs.
namespace svc::test {

namespace {

class JobsCommand : public testing::Test {
protected:
    JobsCommand() {
        Server server({.var = folder.path(), .database_url = url});
        EXPECT_TRUE(eventually([&] { return ask("SELECT count(*) > 3 FROM jobs") == "t"; }));
        server.end(SIGTERM);
    }
    CommandOutcome jobs(std::vector<std::string> words) const {
        words.insert(words.begin(), "jobs");
        return workboard(std::move(words), folder.path(), url);
    }
    std::string ask(const std::string& sql) const { return Postgres::shared().run(sql, url); }

    const std::string url = Postgres::shared().fresh_database();
    const TempFolder folder{"workboard-jobs"};
};

}  // namespace

TEST_F(JobsCommand, RecurringOnesStay) {
    const auto kinds = ask("SELECT string_agg(kind, ' ') FROM jobs");
    std::istringstream names(kinds);
    for (std::string kind; names >> kind;) {
        const auto said = jobs({"cancel", kind});
        EXPECT_EQ(said.code, 1) << kind << said.text;
        EXPECT_THAT(said.text, HasSubstr(kind + " recurs"));
    }
    EXPECT_EQ(ask("SELECT string_agg(kind, ' ') FROM jobs"), kinds);
    EXPECT_EQ(jobs({"retry", "idempotency.sweep"}).code, 0);
}

TEST_F(JobsCommand, AKindThatThereIsNotIsSaid) {
    for (const char* what : {"retry", "cancel"}) {
        const auto said = jobs({what, "nosuch.kind"});
        EXPECT_EQ(said.code, 1) << what;
        EXPECT_THAT(said.text, HasSubstr("there are no such jobs of the kind nosuch.kind"));
        EXPECT_EQ(jobs({what, "oauth.end_unused_codes"}).code, 0)
            << what << " of a kind without jobs";
    }
    // What a module that is off has left may be removed.
    ask("INSERT INTO jobs (org_id, kind, key, state) VALUES"
        " ('00000000-0000-0000-0000-000000000000', 'gone.work', '', 'waiting')");
    EXPECT_EQ(jobs({"cancel", "gone.work"}).text, "1 jobs\n");
}

}  // namespace svc::test
