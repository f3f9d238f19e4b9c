#include "tests/unit/feedback/feedback_fixture.hpp"

/// What the operator does about reports, on the command line.
namespace svc::test {
namespace {

using Triage = FeedbackTest;

TEST_F(Triage, AStatusAndAReplyReachTheSubmitter) {
    const auto id = expect(201, give(ada, {{"title", "Slow board"}})).text("/id");
    const auto set = operator_says({"feedback", "set-status", id, "in_progress"});
    EXPECT_EQ(set.code, 0);
    EXPECT_THAT(set.output, HasSubstr("in_progress"));
    EXPECT_EQ(operator_says({"feedback", "reply", id, "We are at it.\nSoon."}).code, 0);
    const auto seen = expect(200, read(ada, id));
    EXPECT_EQ(seen.text("/status"), "in_progress");
    EXPECT_EQ(seen.text("/reply"), "We are at it.\nSoon.");
    EXPECT_NE(seen.text("/replied_at"), "null");
    EXPECT_GT(seen.text("/last_edited_time"), seen.text("/created_time"));
    EXPECT_EQ(
        texts(expect(200, ada.get("/v1/feedback?status=in_progress")), "id"), std::vector{id}
    );

    EXPECT_EQ(operator_says({"feedback", "reply", id, "Done."}).code, 0);
    EXPECT_EQ(expect(200, read(ada, id)).text("/reply"), "Done.");
}

TEST_F(Triage, TheSubmitterAloneIsNotified) {
    Client bob = member("bob@example.com", "owner");
    Client agent = program(ada, "agent", "member");
    const auto id = expect(201, give(ada, {{"title", "Slow board"}})).text("/id");
    const auto of_agent = expect(201, give(agent)).text("/id");
    ASSERT_EQ(operator_says({"feedback", "set-status", id, "acknowledged"}).code, 0);
    const auto about = [&](Client& who) {
        const auto list = expect(200, who.get("/v1/notifications")).json();
        json::array out;
        for (const auto& each : list.at("results").as_array())
            if (each.at("kind") == "feedback") out.push_back(each);
        return out;
    };
    ASSERT_TRUE(eventually([&] { return about(ada).size() == 1; }));
    const auto told = about(ada).front();
    EXPECT_EQ(told.at("title"), "Your feedback was acknowledged");
    EXPECT_EQ(told.at_pointer("/target/id"), json::value(id));
    EXPECT_EQ(told.at_pointer("/target/type"), "feedback");
    ASSERT_EQ(operator_says({"feedback", "reply", id, "We are at it."}).code, 0);
    ASSERT_EQ(operator_says({"feedback", "reply", of_agent, "Thanks"}).code, 0);
    EXPECT_TRUE(eventually([&] {
        const auto all = about(ada);
        return json::serialize(all).find("We are at it.") != std::string::npos;
    }));
    EXPECT_THAT(json::serialize(about(ada)), Not(HasSubstr(of_agent)));
    EXPECT_TRUE(about(bob).empty());
    // Nor does he see what became of it in the list of the workspace's mails.
    ASSERT_TRUE(eventually([&] {
        return ask("SELECT count(*) FROM mail_outbox WHERE subject LIKE 'Your feedback%'") == "2";
    }));
    const auto mails = expect(200, bob.get("/v1/orgs/" + org + "/email-outbox"));
    EXPECT_THAT(mails.body, Not(HasSubstr("Your feedback")));
}

TEST_F(Triage, AnUnchangedStatusChangesNothing) {
    const auto id = expect(201, give(ada)).text("/id");
    ASSERT_EQ(operator_says({"feedback", "set-status", id, "resolved"}).code, 0);
    const auto before = ask("SELECT version || ' ' || closed_at FROM feedback_reports");
    ASSERT_EQ(operator_says({"feedback", "set-status", id, "resolved"}).code, 0);
    EXPECT_EQ(ask("SELECT version || ' ' || closed_at FROM feedback_reports"), before);
    ASSERT_EQ(operator_says({"feedback", "set-status", id, "new"}).code, 0);
    EXPECT_EQ(ask("SELECT closed_at IS NULL FROM feedback_reports"), "t");
}

TEST_F(Triage, ListsReportsOfAllWorkspacesNewestFirst) {
    Client eve = person("eve@example.com");
    const auto first = expect(201, give(ada, {{"title", "One"}})).text("/id");
    const auto second = expect(201, give(eve, {{"message", "Two\nlines"}})).text("/id");
    ASSERT_EQ(operator_says({"feedback", "set-status", first, "declined"}).code, 0);
    const auto all = operator_says({"feedback", "list"}).output;
    EXPECT_LT(all.find(second), all.find(first));
    EXPECT_THAT(all, HasSubstr("eve@example.com  -  Two lines"));
    EXPECT_THAT(all, HasSubstr("ada@example.com  acme  One"));
    const auto fresh = operator_says({"feedback", "list", "new"}).output;
    EXPECT_THAT(fresh, HasSubstr(second));
    EXPECT_THAT(fresh, Not(HasSubstr(first)));
    const auto older = operator_says({"feedback", "list", "all", second}).output;
    EXPECT_THAT(older, HasSubstr(first));
    EXPECT_THAT(older, Not(HasSubstr(second)));
}

TEST_F(Triage, ListsLeadOnToOlderOnes) {
    const auto id = expect(201, give(ada)).text("/id");
    ask("INSERT INTO feedback_reports (org_id, id, user_id, person_id, type, surface, message)"
        " SELECT org_id, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, user_id,"
        " person_id, 'idea', 'web', 'Old ' || n FROM feedback_reports, generate_series(1, 60) n"
        " RETURNING id");
    const auto page = operator_says({"feedback", "list"}).output;
    EXPECT_EQ(std::ranges::count(page, '\n'), 51);
    EXPECT_THAT(
        page, HasSubstr("workboard feedback list all 00000000-0000-7000-8000-000000000012")
    );
    const auto rest =
        operator_says({"feedback", "list", "all", "00000000-0000-7000-8000-000000000012"}).output;
    EXPECT_EQ(std::ranges::count(rest, '\n'), 11);
}

TEST_F(Triage, ShowsAllOfOneAndNothingThatTerminalsObey) {
    const auto shot = screenshot(ada);
    const auto id = expect(
                        201,
                        give(
                            ada,
                            {{"title", "T"},
                             {"message", "Look:\n\xE2\x80\xAEowned here"},
                             {"metadata", {{"os", "Debian \x1B[2J 12"}}},
                             {"page_url", "https://board.example/b"},
                             {"screenshot_file_id", shot}}
                        )
    ).text("/id");
    ASSERT_EQ(operator_says({"feedback", "reply", id, "Seen"}).code, 0);
    const auto shown = operator_says({"feedback", "show", id});
    ASSERT_EQ(shown.code, 0);
    EXPECT_EQ(shown.output.find('\x1B'), std::string::npos);
    EXPECT_THAT(shown.output, Not(HasSubstr("\xE2\x80\xAE")));
    for (const std::string& each :
         {std::string("message\n  Look:\n   owned here\n"),
          std::string("os: Debian  [2J 12"),
          std::string("ada@example.com  acme"),
          std::string("https://board.example/b"),
          std::string("  Seen\n")})
        EXPECT_THAT(shown.output, HasSubstr(each));
    // The picture can be looked at by the address.
    const auto at = shown.output.find("http", shown.output.find("screenshot"));
    ASSERT_NE(at, std::string::npos) << shown.output;
    const auto url = shown.output.substr(at, shown.output.find('\n', at) - at);
    EXPECT_EQ(client().get(path_of(url)).body, png) << url;
}

TEST_F(Triage, SaysWhatIsWrong) {
    const auto id = expect(201, give(ada)).text("/id");
    EXPECT_EQ(operator_says({"feedback"}).code, 2);
    EXPECT_EQ(operator_says({"feedback", "list", "broken"}).code, 2);
    EXPECT_EQ(operator_says({"feedback", "set-status", id, "broken"}).code, 2);
    EXPECT_EQ(operator_says({"feedback", "set-status", nowhere, "resolved"}).code, 1);
    EXPECT_EQ(operator_says({"feedback", "show", nowhere}).code, 1);
    EXPECT_EQ(operator_says({"feedback", "show", "x"}).code, 1);
    EXPECT_EQ(operator_says({"feedback", "reply", id, " "}).code, 1);
    EXPECT_EQ(operator_says({"feedback", "reply", id, "\xFF"}).code, 1);
    EXPECT_EQ(operator_says({"feedback", "reply", id, std::string(5001, 'x')}).code, 1);
    EXPECT_EQ(expect(200, read(ada, id)).text("/reply"), "null");
}

TEST_F(Triage, OfReportsWithoutAWorkspaceIsToldByGetFeedbackAlone) {
    Client eve = person("eve@example.com");
    const auto id = expect(201, give(eve)).text("/id");
    ASSERT_EQ(operator_says({"feedback", "set-status", id, "acknowledged"}).code, 0);
    ASSERT_EQ(operator_says({"feedback", "reply", id, "Thanks"}).code, 0);
    const auto seen = expect(200, read(eve, id));
    EXPECT_EQ(seen.text("/status"), "acknowledged");
    EXPECT_EQ(seen.text("/reply"), "Thanks");
}

}  // namespace
}  // namespace svc::test
