#include "tests/unit/cli/commands.hpp"
#include "tests/unit/feedback/feedback_fixture.hpp"

/// What is left of reports when a workspace or an account goes, and when a server is brought back
/// from a backup.
namespace svc::test {
namespace {

class Gone : public FeedbackTest {
protected:
    std::string count(const std::string& table) { return ask("SELECT count(*) FROM " + table); }
    void bring_forward() {
        for (const char* kind : {"feedback.remove_gone.find", "feedback.remove_gone_accounts"})
            do_now(kind, database);
    }
};

TEST_F(Gone, ADeletedWorkspaceTakesItsReportsAlong) {
    const auto other =
        expect(201, ada.post("/v1/orgs", json::value{{"name", "Other"}})).text("/id");
    expect(201, give(ada));
    Client there = ada;
    there.always("X-Svc-Org", other);
    const auto kept = expect(201, give(there)).text("/id");
    Client eve = person("eve@example.com");
    expect(201, give(eve));
    Client bob = member("bob@example.com", "member");
    expect(201, give(bob));
    EXPECT_TRUE(eventually([&] {
        return ask("SELECT count(*) FROM survey_activity WHERE org_id = '" + org + "'") != "0";
    }));
    // Who has left is not gone.
    expect(204, remove(ada, members + "/" + id_of(bob)));
    bring_forward();
    std::this_thread::sleep_for(std::chrono::seconds(2));
    EXPECT_EQ(count("feedback_reports"), "4");

    expect(204, remove(ada, here + "?confirm=acme"));
    expect(404, ada.get("/v1/feedback"));
    EXPECT_TRUE(eventually([&] {
        bring_forward();
        return count("feedback_reports") == "2";
    }));
    EXPECT_TRUE(eventually([&] {
        return ask("SELECT count(*) FROM survey_activity WHERE org_id = '" + org + "'") == "0";
    }));
    expect(200, read(there, kept));
}

TEST_F(Gone, AnAccountThatIsRemovedTakesItsReportsAndAnswersAlong) {
    Client eve = person("eve@example.com");
    const auto id = id_of(eve);
    expect(201, give(eve));
    const auto mine = expect(201, give(ada)).text("/id");
    ask("INSERT INTO survey_responses (user_id, survey_key, id, outcome, score) VALUES ('" + id +
        "', 'csat', gen_random_uuid(), 'answered', 3) RETURNING id");
    ask("INSERT INTO survey_rests (user_id, since) VALUES ('" + id + "', now()) RETURNING since");
    ask("DELETE FROM users WHERE id = '" + id + "' RETURNING id");
    EXPECT_EQ(count("survey_responses"), "0");
    EXPECT_EQ(count("survey_rests"), "0");
    EXPECT_TRUE(eventually([&] {
        bring_forward();
        return count("feedback_reports") == "1";
    }));
    expect(200, read(ada, mine));
}

// More people and workspaces than one statement looks at.
TEST_F(Gone, TheyAreFoundHoweverManyAreThere) {
    const auto mine = expect(201, give(ada)).text("/id");
    const auto report = [&](const std::string& org_id, const std::string& from) {
        ask("INSERT INTO feedback_reports (org_id, id, user_id, person_id, type, surface, message) "
            "SELECT " +
            org_id + ", gen_random_uuid(), u.id, u.id, 'bug', 'api', 'x' FROM (" + from + ") u");
    };
    const std::string strangers = "SELECT gen_random_uuid() AS id FROM generate_series(1, 1100)";
    report("'" + org + "'", strangers);
    report("'00000000-0000-0000-0000-000000000000'", strangers);
    report("gen_random_uuid()", "SELECT id FROM users, generate_series(1, 1100)");
    ask("INSERT INTO survey_activity (org_id, user_id) SELECT '" + org +
        "', gen_random_uuid() FROM generate_series(1, 1100)");
    EXPECT_TRUE(eventually([&] {
        bring_forward();
        return count("feedback_reports") == "1" && count("survey_activity") == "1";
    })) << count("feedback_reports")
        << " " << count("survey_activity");
    expect(200, read(ada, mine));
}

TEST_F(Gone, ABackupBringsReportsScreenshotsAndWindowsBack) {
    const auto shot = screenshot(ada);
    const auto id = expect(201, give(ada, {{"screenshot_file_id", shot}})).text("/id");
    ASSERT_EQ(operator_says({"feedback", "reply", id, "Seen"}).code, 0);
    const TempFolder folder("workboard-feedback");
    const auto file = (folder.path() / "saved.tar").string();
    const auto saved =
        workboard({"backup", file, "--set", key_of_all_servers}, server.var(), database);
    ASSERT_EQ(saved.code, 0) << saved.text;
    const auto to = Postgres::shared().empty_database();
    const auto restored = workboard({"restore", file}, folder.path() / "var", to);
    ASSERT_EQ(restored.code, 0) << restored.text;

    Server again({.var = folder.path() / "var", .database_url = to});
    Client there = again.client();
    expect(200, log_in(there, "ada@example.com"));
    there.always("X-Svc-Org", org);
    const auto seen = expect(200, read(there, id));
    EXPECT_EQ(seen.text("/reply"), "Seen");
    EXPECT_EQ(seen.text("/screenshot_file_id"), shot);
    const auto picture = expect(200, there.get("/v1/files/" + shot)).text("/url");
    EXPECT_EQ(again.client().get(path_of(picture)).body, png);
}

}  // namespace
}  // namespace svc::test
