#include "tests/unit/orgs/orgs_fixture.hpp"

#include <csignal>

namespace svc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Invitations : public WorkspacesTest {
protected:
    Invitations() : WorkspacesTest({"orgs.free_seats=3", "orgs.invitation_mails_a_day=8"}) {}

    /// As if a week had passed for this invitation.
    void run_out(const std::string& id) {
        ask("UPDATE invitations SET expires_at = now() - interval '1 second' WHERE id = '" + id +
            "'");
    }
    std::string column(const std::string& name, const std::string& id) {
        return ask("SELECT " + name + " FROM invitations WHERE id = '" + id + "'");
    }
};

// ----------------------------------------------------------- none -> pending -> pending

TEST_F(Invitations, ANewOneIsMailedAndHoldsNoSeat) {
    const json::value body{
        {"email", "Bob@Example.com"}, {"role", "admin"}, {"message", "  Come & <join> us  "}};
    const auto made = expect(201, ada.post(invitations, body));
    EXPECT_EQ(made.text("/object"), "invitation");
    EXPECT_EQ(made.text("/org_name"), "Acme");
    EXPECT_EQ(made.text("/email"), "Bob@Example.com");
    EXPECT_EQ(made.text("/role"), "admin");
    EXPECT_EQ(made.text("/status"), "pending");
    EXPECT_EQ(made.text("/message"), "Come & <join> us");
    EXPECT_EQ(made.text("/invited_by/name"), "Ada");
    EXPECT_EQ(made.text("/send_count"), "1");
    EXPECT_EQ(made.text("/responded_at"), "null");
    EXPECT_EQ(expect(200, ada.get(here)).text("/seat_count"), "1");

    const auto mail = server.mail_to("Bob@Example.com");
    EXPECT_THAT(mail, HasSubstr("Subject: Ada invites you to Acme on Workboard"));
    EXPECT_THAT(mail, HasSubstr("\r\n> Come & <join> us\r\n"));
    EXPECT_THAT(mail, HasSubstr("Come &amp; &lt;join&gt; us</blockquote>"));
    EXPECT_THAT(mail, HasSubstr("/invitations/" + made.text("/id")));
    EXPECT_THAT(made.body, Not(HasSubstr(mail_value(mail, "token="))));
    EXPECT_EQ(events("invitation.created", 1), "1");
    EXPECT_EQ(
        ask("SELECT extract(day FROM expires_at - created_time)::text FROM invitations"), "7"
    );
}

TEST_F(Invitations, AgainWhileItLivesTurnsTheToken) {
    const auto made = expect(201, invite(ada, "bob@example.com"));
    const auto digest = column("encode(token_digest, 'hex')", made.text("/id"));
    ask("UPDATE invitations SET expires_at = now() + interval '1 hour'");
    const json::value body{{"email", "BOB@example.com"}, {"role", "viewer"}, {"message", "Hello?"}};
    const auto again = expect(200, ada.post(invitations, body));
    EXPECT_EQ(again.text("/id"), made.text("/id"));
    EXPECT_EQ(again.text("/status"), "pending");
    EXPECT_EQ(again.text("/role"), "viewer");
    EXPECT_EQ(again.text("/message"), "Hello?");
    EXPECT_EQ(again.text("/send_count"), "2");
    EXPECT_EQ(again.text("/version"), "2");
    EXPECT_GE(again.text("/expires_at"), made.text("/expires_at"));
    EXPECT_NE(column("encode(token_digest, 'hex')", made.text("/id")), digest);
    const auto newest = mail_value(server.mail_to("bob@example.com", 2), "token=");
    EXPECT_NE(mail_value(server.mails_to("bob@example.com").at(0), "token="), newest);
    EXPECT_EQ(events("invitation.resent", 1), "1");
    EXPECT_EQ(ask("SELECT count(*) FROM invitations"), "1");
    const auto listed = expect(200, ada.get(invitations));
    EXPECT_EQ(json::serialize(listed.json().at("results").at(0)), json::serialize(again.json()));
}

TEST_F(Invitations, IsSeenByTheTokenOfTheNewestMailAndByNoOther) {
    const auto made = expect(201, invite(ada, "bob@example.com", "viewer"));
    const auto path = "/v1/invitations/" + made.text("/id");
    const auto old = mail_value(server.mail_to("bob@example.com"), "token=");
    Client stranger = client();
    const auto see = [&](const std::string& at, const std::string& token) {
        return stranger.send("GET", at, {}, {{"X-Svc-Invitation-Token", token}});
    };
    const auto seen = expect(200, see(path, old));
    EXPECT_EQ(seen.text("/org_name"), "Acme");
    EXPECT_EQ(seen.text("/invited_by_name"), "Ada");
    EXPECT_EQ(seen.text("/email"), "bob@example.com");
    EXPECT_EQ(seen.text("/status"), "pending");
    EXPECT_EQ(seen.header("cache-control"), "no-store");
    EXPECT_THAT(seen.body, Not(HasSubstr(org))) << "nothing else of the workspace";

    expect(200, invite(ada, "bob@example.com"));
    const auto token = mail_value(server.mail_to("bob@example.com", 2), "token=");
    expect(404, see(path, old));
    expect(404, see(path, "bob@example.com"));
    expect(422, stranger.get(path));
    const auto other = expect(201, invite(ada, "eve@example.com")).text("/id");
    expect(404, see("/v1/invitations/" + other, token));

    run_out(made.text("/id"));
    EXPECT_EQ(expect(200, see(path, token)).text("/status"), "expired");
    expect(204, remove(ada, invitations + "/" + other));
    const auto theirs = mail_value(server.mail_to("eve@example.com"), "token=");
    EXPECT_EQ(expect(200, see("/v1/invitations/" + other, theirs)).text("/status"), "revoked");
    int refused = 0;
    for (int i = 0; i < 70; ++i) refused += see(path, "guess").status == 429;
    EXPECT_GT(refused, 0);
    EXPECT_LT(refused, 70);
}

TEST_F(Invitations, AMembersAddressIsAMembers) {
    Client bob = member("bob@example.com", "viewer");
    const auto answer = expect(200, invite(ada, "BOB@Example.com", "admin"));
    EXPECT_EQ(answer.text("/object"), "already_member");
    EXPECT_EQ(answer.text("/email"), "BOB@Example.com");
    EXPECT_EQ(answer.text("/org_id"), org);
    EXPECT_EQ(answer.text("/org_name"), "Acme");
    EXPECT_EQ(answer.text("/membership/user_id"), id_of(bob));
    EXPECT_EQ(answer.text("/membership/role"), "viewer");
    EXPECT_EQ(ask("SELECT count(*) FROM invitations"), "0");
    server.mail_to("bob@example.com", 2);  // waits for both: sign-up and direct addition
    EXPECT_EQ(server.mails_to("bob@example.com").size(), 2u) << "none about the invitation";
}

TEST_F(Invitations, TheAnswerKnowsNothingOfAccounts) {
    person("known@example.com");
    const auto compare = [&](int status) {
        const auto known = expect(status, invite(ada, "known@example.com"));
        const auto unknown = expect(status, invite(ada, "never@example.com"));
        const auto alike = [](const Reply& reply) {
            return std::regex_replace(without_ids(reply), std::regex("(known|never)@"), "X@");
        };
        EXPECT_EQ(alike(known), alike(unknown));
        EXPECT_EQ(header_names(known), header_names(unknown));
    };
    compare(201);
    compare(200);
    // So do the mails: nothing in them depends on it either.
    const auto text = [&](const std::string& to, std::size_t count) {
        const auto mail = server.mail_to(to, count);
        return std::regex_replace(
            mail.substr(mail.find("invites you to work together")),
            std::regex("[0-9a-f]{8}-[0-9a-f-]{27}|token=[A-Za-z0-9_-]+|(known|never)@"),
            "X"
        );
    };
    EXPECT_EQ(text("known@example.com", 3), text("never@example.com", 2));
}

TEST_F(Invitations, TwoAtOnceAreOne) {
    std::vector<Client> browsers(4, ada);
    const auto replies = at_once(4, [&](int i) { return invite(browsers[i], "bob@example.com"); });
    EXPECT_EQ(count_status(replies, 201), 1);
    EXPECT_EQ(count_status(replies, 200), 3);
    EXPECT_EQ(ask("SELECT count(*) || ' ' || max(send_count) FROM invitations"), "1 4");
}

TEST_F(Invitations, AWorkspaceSendsOnlySoManyADay) {
    for (int i = 0; i < 8; ++i) invite(ada, "victim@example.com");
    const auto refused = expect(429, invite(ada, "victim@example.com"));
    EXPECT_EQ(refused.text("/additional_data/rate_limit_reason"), "invitation_mails_a_day");
    EXPECT_EQ(refused.header("retry-after"), "3600");
    expect(429, invite(ada, "other@example.com"));
    ask("UPDATE invitations SET last_sent_at = last_sent_at - interval '1 day'");
    expect(201, invite(ada, "other@example.com"));
}

TEST_F(Invitations, OnlyAdminsInvite) {
    Client adam = member("adam@example.com", "admin");
    Client max = member("max@example.com", "member");
    const auto made = expect(201, invite(adam, "bob@example.com", "admin")).text("/id");
    expect(403, invite(max, "nobody@example.com"));
    expect(403, max.get(invitations));
    expect(403, remove(max, invitations + "/" + made));
    Client eve = person("eve@example.com");
    expect(404, invite(eve, "nobody@example.com"));
    expect(404, eve.get(invitations));
    expect(404, remove(eve, invitations + "/" + made));
    EXPECT_EQ(
        first_loc(expect(422, invite(ada, "nobody@example.com", "owner"))),
        json::parse(R"(["body","role"])")
    );
    expect(422, invite(ada, "no address"));
    expect(422, invite(ada, "nobody@example.com\nBcc: y@example.com"));
    const json::value wordy{{"email", "nobody@example.com"}, {"message", std::string(1001, 'x')}};
    expect(422, ada.post(invitations, wordy));
    EXPECT_EQ(server.mails_to("nobody@example.com").size(), 0u);
}

// ------------------------------------------------------------------ pending -> the ends

TEST_F(Invitations, OneThatRanOutIsNoLongerLive) {
    Client bob = person("bob@example.com");
    const auto made = expect(201, invite(ada, "bob@example.com")).text("/id");
    run_out(made);
    EXPECT_EQ(expect(200, bob.get("/v1/me/invitations")).json().at("results"), json::array());
    expect(404, accept(bob, made));
    expect(404, decline(bob, made));
    EXPECT_EQ(expect(200, ada.get(invitations)).text("/results/0/status"), "expired");
    EXPECT_EQ(reason(expect(409, remove(ada, invitations + "/" + made))), "invitation_not_live");

    const auto next = expect(201, invite(ada, "bob@example.com")).text("/id");
    EXPECT_NE(next, made);
    EXPECT_EQ(column("status", made), "expired");
    EXPECT_THAT(
        texts(expect(200, ada.get(invitations)), "status"), ElementsAre("pending", "expired")
    );
    expect(200, accept(bob, next));
}

TEST_F(Invitations, DecliningFreesTheSlot) {
    Client bob = person("bob@example.com");
    const auto made = expect(201, invite(ada, "bob@example.com")).text("/id");
    const auto declined = expect(200, decline(bob, made));
    EXPECT_EQ(declined.text("/object"), "invitation");
    EXPECT_EQ(declined.text("/status"), "declined");
    EXPECT_NE(declined.text("/responded_at"), "null");
    EXPECT_EQ(declined.text("/version"), "2");
    EXPECT_EQ(expect(200, ada.get(here)).text("/seat_count"), "1");
    EXPECT_EQ(
        expect(200, ada.get(invitations + "?status=pending")).json().at("results"), json::array()
    );
    expect(404, decline(bob, made));
    expect(404, accept(bob, made));
    EXPECT_EQ(events("invitation.declined", 1), "1");
    const auto next = expect(201, invite(ada, "bob@example.com")).text("/id");
    EXPECT_NE(next, made);
    expect(200, accept(bob, next));
}

TEST_F(Invitations, RevokingFreesTheSlot) {
    Client bob = person("bob@example.com");
    const auto made = expect(201, invite(ada, "bob@example.com")).text("/id");
    expect(412, remove(ada, invitations + "/" + made, {{"If-Match", "\"2\""}}));
    expect(204, remove(ada, invitations + "/" + made));
    expect(204, remove(ada, invitations + "/" + made));
    expect(404, accept(bob, made));
    expect(404, decline(bob, made));
    EXPECT_EQ(expect(200, bob.get("/v1/me/invitations")).json().at("results"), json::array());
    EXPECT_EQ(expect(200, ada.get(invitations)).text("/results/0/status"), "revoked");
    EXPECT_EQ(events("invitation.revoked", 1), "1");
    EXPECT_NE(expect(201, invite(ada, "bob@example.com")).text("/id"), made);
    expect(404, remove(ada, invitations + "/" + nowhere));
}

TEST_F(Invitations, AnAnsweredOneCannotBeTakenBack) {
    Client bob = person("bob@example.com"), cleo = person("cleo@example.com");
    const auto first = expect(201, invite(ada, "bob@example.com")).text("/id");
    const auto second = expect(201, invite(ada, "cleo@example.com")).text("/id");
    expect(200, accept(bob, first));
    expect(200, decline(cleo, second));
    for (const auto& each : {first, second})
        EXPECT_EQ(
            reason(expect(409, remove(ada, invitations + "/" + each))), "invitation_not_live"
        );
}

TEST_F(Invitations, ThatRanOutAreTidiedUp) {
    const auto old = expect(201, invite(ada, "bob@example.com")).text("/id");
    const auto live = expect(201, invite(ada, "cleo@example.com")).text("/id");
    run_out(old);
    EXPECT_EQ(column("status", old), "pending");
    ASSERT_EQ(server.end(SIGTERM), 0);
    server.start();
    EXPECT_EQ(
        ask_until("expired", "SELECT status FROM invitations WHERE id = '" + old + "'"), "expired"
    );
    EXPECT_EQ(column("status", live), "pending");
}

TEST_F(Invitations, AreListedByTheirStatus) {
    const auto made = expect(201, invite(ada, "bob@example.com")).text("/id");
    for (const char* status : {"accepted", "declined", "revoked", "expired"}) {
        ask("UPDATE invitations SET status = '" + std::string(status) + "'");
        EXPECT_EQ(expect(200, ada.get(invitations)).text("/results/0/status"), status);
        EXPECT_EQ(
            expect(200, ada.get(invitations + "?status=" + status)).text("/results/0/id"), made
        );
    }
    expect(422, ada.get(invitations + "?status=lost"));
}

TEST_F(Invitations, AreListedPageByPage) {
    for (const char* each : {"a@example.com", "b@example.com", "c@example.com"})
        expect(201, invite(ada, each));
    const auto first = expect(200, ada.get(invitations + "?page_size=2"));
    EXPECT_EQ(first.text("/type"), "invitation");
    EXPECT_THAT(texts(first, "email"), ElementsAre("c@example.com", "b@example.com"));
    const auto cursor = first.text("/next_cursor");
    const auto rest = expect(200, ada.get(invitations + "?page_size=2&start_cursor=" + cursor));
    EXPECT_THAT(texts(rest, "email"), ElementsAre("a@example.com"));
    expect(422, ada.get(invitations + "?status=pending&start_cursor=" + cursor));
}

}  // namespace
}  // namespace svc::test
