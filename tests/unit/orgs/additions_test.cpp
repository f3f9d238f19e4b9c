#include "tests/unit/orgs/orgs_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;

class Additions : public WorkspacesTest {
protected:
    Additions() : WorkspacesTest({"orgs.free_seats=3"}) {}
    Reply resend(Client& by, const std::string& user) {
        return by.post(members + "/" + user + ":resend-invite");
    }
    static std::string another_org(Client& by) {
        by.always("X-Svc-Org", "");
        return expect(201, by.post("/v1/orgs", json::value{{"name", "Other"}})).text("/id");
    }
};

TEST_F(Additions, SomebodyWithAnAccountIsAMemberAtOnce) {
    Client bob = person("bob@example.com");
    const auto made = expect(201, add(ada, "BOB@example.com", "viewer"));
    EXPECT_EQ(made.text("/object"), "membership");
    EXPECT_EQ(made.text("/status"), "active");
    EXPECT_EQ(made.text("/role"), "viewer");
    EXPECT_EQ(made.text("/user/email"), "bob@example.com");
    EXPECT_EQ(made.text("/invited_by/name"), "Ada");
    EXPECT_EQ(made.header("etag"), "\"1\"");
    const auto seat = expect(200, bob.get("/v1/me/memberships"));
    EXPECT_EQ(json::serialize(seat.json().at("results").at(0)), json::serialize(made.json()));
    EXPECT_THAT(server.mail_to("bob@example.com", 2), HasSubstr("added you to the workspace Acme"));
    EXPECT_EQ(events("member.added", 2), "2");
}

TEST_F(Additions, SomebodyOfAnotherOwnWorkspaceIsNamedByIdToo) {
    Client bob = member("bob@example.com", "viewer");
    const json::value named{{"user_id", id_of(bob)}};
    const auto other = another_org(ada);
    const auto made = expect(201, ada.post("/v1/orgs/" + other + "/members", named));
    EXPECT_EQ(made.text("/org_id"), other);
    EXPECT_EQ(made.text("/user_id"), id_of(bob));
    EXPECT_EQ(made.text("/role"), "member");
}

// An id alone leads to nobody's name and address.
TEST_F(Additions, AStrangersIdIsLikeNobodys) {
    Client bob = person("bob@example.com");
    expect(201, bob.post("/v1/orgs", json::value{{"name", "Bobs"}}));
    const auto theirs = expect(422, ada.post(members, json::value{{"user_id", id_of(bob)}}));
    const auto nobodys = expect(422, ada.post(members, json::value{{"user_id", nowhere}}));
    EXPECT_EQ(theirs.text("/detail/0/loc/1"), "user_id");
    EXPECT_EQ(theirs.text("/detail/0/msg"), nobodys.text("/detail/0/msg"));
    EXPECT_EQ(theirs.text("/message"), nobodys.text("/message"));
    EXPECT_EQ(theirs.body.find("bob@"), std::string::npos);
    EXPECT_EQ(ask("SELECT count(*) FROM memberships WHERE org_id = '" + org + "'"), "1");
    EXPECT_EQ(
        ask("SELECT count(*) FROM rate_windows WHERE reason = 'workspace_mails_of_sender'"), "0"
    );
}

TEST_F(Additions, ATokenKnowsNobodyElsewhere) {
    Client bob = member("bob@example.com", "viewer");
    const auto other = another_org(ada);
    ada.always("X-Svc-Org", other);
    Client token = program(ada);
    const json::value named{{"user_id", id_of(bob)}};
    expect(422, token.post("/v1/orgs/" + other + "/members", named));
    expect(201, ada.post("/v1/orgs/" + other + "/members", named));
}

TEST_F(Additions, AnUnknownAddressGetsAnAccountToBeConfirmed) {
    const json::value body{{"email", "New@Example.com"}, {"name", "Nora"}};
    const auto made = expect(201, ada.post(members, body));
    EXPECT_EQ(made.text("/status"), "invited");
    EXPECT_EQ(made.text("/user/name"), "Nora");
    EXPECT_EQ(made.text("/user/email"), "New@Example.com");
    EXPECT_EQ(made.text("/user/email_verified"), "false");

    Client nora = client();
    const json::value token{{"token", mailed_token("New@Example.com")}};
    const auto session = expect(200, nora.post("/v1/auth/verify-email", token));
    EXPECT_EQ(session.text("/user/id"), made.text("/user_id"));
    EXPECT_EQ(session.text("/user/name"), "Nora");
    EXPECT_EQ(session.text("/user/has_password"), "false");
    EXPECT_EQ(session.text("/active_org_id"), org);
    EXPECT_EQ(expect(200, nora.get(members)).text("/results/1/status"), "active");
    expect(422, client().post("/v1/auth/verify-email", token));
}

TEST_F(Additions, AnUnconfirmedAccountHasNoPasswordToGuess) {
    expect(201, add(ada, "new@example.com"));
    expect(401, log_in("new@example.com", "whatever else"));
    // Whoever owns the address may sign up as if nothing had happened, and has the seat.
    expect(201, sign_up("new@example.com"));
    expect(200, verify(mailed_token("new@example.com", 2)));
    Client nora = client();
    expect(200, log_in(nora, "new@example.com"));
    EXPECT_EQ(expect(200, nora.get(here)).text("/role"), "member");
}

TEST_F(Additions, EitherAnAddressOrAnId) {
    Client bob = person("bob@example.com");
    const json::value both{{"email", "bob@example.com"}, {"user_id", id_of(bob)}};
    EXPECT_EQ(first_loc(expect(422, ada.post(members, both))), json::parse(R"(["body","email"])"));
    expect(422, ada.post(members, json::value{{"role", "member"}}));
    expect(422, ada.post(members, json::value{{"email", "no address"}}));
    expect(422, ada.post(members, json::value{{"email", "b@example.com\r\nBcc: x@example.com"}}));
}

TEST_F(Additions, AMemberIsAConflict) {
    expect(201, add(ada, "new@example.com"));
    EXPECT_EQ(reason(expect(409, add(ada, "new@example.com"))), "already_member");
    EXPECT_EQ(reason(expect(409, add(ada, "ada@example.com"))), "already_member");
}

TEST_F(Additions, AFullPlanTakesNobody) {
    expect(201, add(ada, "b@example.com"));
    expect(201, add(ada, "c@example.com"));
    const auto full = expect(402, add(ada, "d@example.com"));
    EXPECT_EQ(full.text("/code"), "plan_limit_reached");
    EXPECT_EQ(full.text("/additional_data/limit"), "seats");
    EXPECT_EQ(ask("SELECT count(*) FROM users WHERE email_key = 'd@example.com'"), "0");
    set_plan("team");
    expect(201, add(ada, "d@example.com"));
    EXPECT_EQ(expect(200, ada.get(here)).text("/seat_cap"), "null");
}

TEST_F(Additions, TheLastSeatIsGivenOnce) {
    expect(201, add(ada, "b@example.com"));
    std::vector<Client> browsers(4, ada);
    const auto replies = at_once(4, [&](int i) {
        return add(browsers[i], "racer" + std::to_string(i) + "@example.com");
    });
    EXPECT_EQ(count_status(replies, 201), 1);
    EXPECT_EQ(count_status(replies, 402), 3);
    EXPECT_EQ(ask("SELECT count(*) FROM memberships"), "3");
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "3");
}

TEST_F(Additions, OneAddressAddedTwiceAtOnceIsOneSeat) {
    std::vector<Client> browsers(3, ada);
    const auto replies = at_once(3, [&](int i) { return add(browsers[i], "new@example.com"); });
    EXPECT_EQ(count_status(replies, 201), 1);
    EXPECT_EQ(count_status(replies, 409), 2);
}

TEST_F(Additions, AnAgentWithTheRoleAddsUnderItsOwnName) {
    Client agent = program(ada, "agent", "admin", "Recruiter");
    const auto made = expect(201, add(agent, "new@example.com"));
    EXPECT_EQ(made.text("/invited_by/principal_type"), "agent");
    EXPECT_EQ(made.text("/invited_by/name"), "Recruiter");
}

// ---------------------------------------------------------------------- tell once more

TEST_F(Additions, ANewcomerIsMailedANewLink) {
    const auto user = expect(201, add(ada, "new@example.com")).text("/user_id");
    const auto first = mailed_token("new@example.com");
    const auto again = expect(200, resend(ada, user));
    EXPECT_EQ(again.text("/object"), "membership");
    EXPECT_EQ(again.text("/user_id"), user);
    EXPECT_EQ(again.text("/version"), "1");
    const auto second = mailed_token("new@example.com", 2);
    EXPECT_NE(first, second);
    expect(200, verify(second));
}

TEST_F(Additions, AMemberWithAnAccountIsMailedWithoutALinkToIt) {
    Client bob = member("bob@example.com", "member");
    expect(200, resend(ada, id_of(bob)));
    const auto mail = server.mail_to("bob@example.com", 3);
    EXPECT_THAT(mail, HasSubstr("added you to the workspace Acme"));
    EXPECT_THAT(mail, testing::Not(HasSubstr("token=")));
}

TEST_F(Additions, OnceAMinuteForEachMember) {
    const auto b = expect(201, add(ada, "b@example.com")).text("/user_id");
    const auto c = expect(201, add(ada, "c@example.com")).text("/user_id");
    std::vector<Client> browsers(4, ada);
    const auto replies = at_once(4, [&](int i) { return resend(browsers[i], b); });
    EXPECT_EQ(count_status(replies, 200), 1);
    EXPECT_EQ(count_status(replies, 429), 3);
    const auto early = expect(429, resend(ada, b));
    EXPECT_EQ(early.text("/code"), "rate_limited");
    EXPECT_EQ(early.text("/additional_data/rate_limit_reason"), "resend_member_invite");
    EXPECT_GE(std::stoi(early.header("retry-after")), 1);
    EXPECT_LE(std::stoi(early.header("retry-after")), 60);
    expect(200, resend(ada, c));
    ask("UPDATE rate_windows SET opened_at = opened_at - interval '60 seconds'");
    expect(200, resend(ada, b));
}

// Nor does a seat that is taken away and given again buy another mail.
TEST_F(Additions, TheMinuteOutlivesTheSeat) {
    const auto b = expect(201, add(ada, "b@example.com")).text("/user_id");
    expect(200, resend(ada, b));
    expect(204, remove(ada, members + "/" + b));
    EXPECT_EQ(expect(201, add(ada, "b@example.com")).text("/user_id"), b);
    expect(429, resend(ada, b));
}

TEST_F(Additions, OnlyAdminsMailMembers) {
    Client max = member("max@example.com", "member");
    expect(403, resend(max, id_of(ada)));
    expect(404, resend(ada, nowhere));
    Client eve = person("eve@example.com");
    expect(404, resend(eve, id_of(ada)));
}

// ------------------------------------------------------------------------------- limits

class MailLimits : public WorkspacesTest {
protected:
    MailLimits()
        : WorkspacesTest(
              {"orgs.mails_of_one_sender_a_day=5",
               "orgs.mails_to_one_address_a_day=3",
               "orgs.workspaces_of_one_owner=3"}
          ) {}
    static std::string limit(const Reply& refused) {
        EXPECT_GE(std::stoi(refused.header("retry-after")), 1);
        EXPECT_LE(std::stoi(refused.header("retry-after")), 86400);
        return refused.text("/additional_data/rate_limit_reason");
    }
    Reply invite_to(Client& by, const std::string& where, const std::string& email) {
        by.always("X-Svc-Org", where);
        return by.post("/v1/orgs/" + where + "/invitations", json::value{{"email", email}});
    }
    static std::string org_of(Client& by, const std::string& name) {
        return expect(201, by.post("/v1/orgs", json::value{{"name", name}})).text("/id");
    }
};

TEST_F(MailLimits, OfAnAddressHoldForAllWorkspacesAndSenders) {
    Client eve = person("eve@example.com");
    const auto other = org_of(eve, "Other");
    expect(201, add(ada, "victim@example.com"));
    const auto user = ask("SELECT id FROM users WHERE email_key = 'victim@example.com'");
    expect(200, ada.post(members + "/" + user + ":resend-invite"));
    expect(201, invite_to(eve, other, "VICTIM@example.com"));
    EXPECT_EQ(
        limit(expect(429, invite_to(eve, other, "victim@example.com"))),
        "workspace_mails_to_address"
    );
    expect(204, remove(ada, members + "/" + user));
    EXPECT_EQ(limit(expect(429, add(ada, "victim@example.com"))), "workspace_mails_to_address");
    EXPECT_EQ(ask("SELECT count(*) FROM memberships WHERE user_id = '" + user + "'"), "0");
    expect(201, invite_to(eve, other, "somebody.else@example.com"));
    ask("UPDATE rate_windows SET opened_at = opened_at - interval '1 day'");
    expect(201, add(ada, "victim@example.com"));
}

TEST_F(MailLimits, OfASenderHoldForAllOfTheirWorkspaces) {
    ada.always("X-Svc-Org", "");
    const auto other = org_of(ada, "Other");
    for (const char* each : {"a@example.com", "b@example.com", "c@example.com"})
        expect(201, invite_to(ada, other, each));
    ada.always("X-Svc-Org", org);
    expect(201, add(ada, "d@example.com"));
    Client token = program(ada);
    expect(201, invite(token, "e@example.com"));
    EXPECT_EQ(limit(expect(429, add(ada, "f@example.com"))), "workspace_mails_of_sender");
    EXPECT_EQ(limit(expect(429, invite(token, "f@example.com"))), "workspace_mails_of_sender");
    EXPECT_EQ(
        limit(expect(429, invite_to(ada, other, "f@example.com"))), "workspace_mails_of_sender"
    );
    EXPECT_EQ(ask("SELECT count(*) FROM users WHERE email_key = 'f@example.com'"), "0");
    EXPECT_EQ(
        ask("SELECT count FROM rate_windows WHERE reason = 'workspace_mails_of_sender'"), "5"
    );
}

TEST_F(MailLimits, OneOwnsSoManyWorkspacesAndNoMore) {
    ada.always("X-Svc-Org", "");
    org_of(ada, "Second");
    std::vector<Client> browsers(3, ada);
    const auto replies = at_once(3, [&](int i) {
        return browsers[i].post("/v1/orgs", json::value{{"name", "N" + std::to_string(i)}});
    });
    EXPECT_EQ(count_status(replies, 201), 1);
    EXPECT_EQ(count_status(replies, 402), 2);
    const auto full = expect(402, ada.post("/v1/orgs", json::value{{"name", "More"}}));
    EXPECT_EQ(full.text("/code"), "plan_limit_reached");
    EXPECT_EQ(full.text("/additional_data/limit"), "workspaces");
    EXPECT_EQ(ask("SELECT count(*) FROM orgs"), "3");
    expect(204, remove(ada, here + "?confirm=acme"));
    org_of(ada, "After");
}

}  // namespace
}  // namespace svc::test
