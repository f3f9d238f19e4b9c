#include "tests/unit/orgs/orgs_fixture.hpp"

namespace svc::test {
namespace {

using testing::ElementsAre;

class Acceptance : public WorkspacesTest {
protected:
    Acceptance() : WorkspacesTest({"orgs.free_seats=2"}) {}
};

TEST_F(Acceptance, ASeatIsTaken) {
    Client bob = person("bob@example.com");
    const auto invitation = expect(201, invite(ada, "BOB@example.com", "admin")).text("/id");
    const auto mine = expect(200, bob.get("/v1/me/invitations"));
    EXPECT_EQ(mine.text("/type"), "invitation");
    EXPECT_EQ(mine.text("/results/0/id"), invitation);
    EXPECT_EQ(mine.text("/results/0/org_name"), "Acme");
    EXPECT_EQ(mine.text("/results/0/invited_by/name"), "Ada");

    const auto seat = expect(200, accept(bob, invitation));
    EXPECT_EQ(seat.text("/object"), "membership");
    EXPECT_EQ(seat.text("/org_id"), org);
    EXPECT_EQ(seat.text("/role"), "admin");
    EXPECT_EQ(seat.text("/status"), "active");
    EXPECT_EQ(seat.text("/invited_by/name"), "Ada");
    EXPECT_EQ(
        json::serialize(expect(200, bob.get("/v1/me/memberships")).json().at("results").at(0)),
        json::serialize(seat.json())
    );
    EXPECT_EQ(expect(200, bob.get("/v1/me/invitations")).json().at("results"), json::array());
    EXPECT_EQ(expect(200, ada.get(invitations)).text("/results/0/status"), "accepted");
    EXPECT_EQ(events("invitation.accepted", 1), "1");
    EXPECT_EQ(events("member.added", 2), "2");
}

TEST_F(Acceptance, TheFirstWorkspaceBecomesTheSessions) {
    Client bob = person("bob@example.com");
    EXPECT_EQ(bob.get("/v1/me").text("/active_org_id"), "null");
    expect(200, accept(bob, expect(201, invite(ada, "bob@example.com")).text("/id")));
    EXPECT_EQ(bob.get("/v1/me").text("/active_org_id"), org);
}

TEST_F(Acceptance, AgainGivesTheSameSeat) {
    Client bob = person("bob@example.com");
    const auto invitation = expect(201, invite(ada, "bob@example.com")).text("/id");
    const auto first = expect(200, accept(bob, invitation));
    const auto again = expect(200, accept(bob, invitation));
    EXPECT_EQ(first.body, again.body);
    EXPECT_EQ(ask("SELECT count(*) FROM memberships"), "2");
    EXPECT_EQ(ask("SELECT count(*) FROM invitations WHERE version = 2"), "1");
    expect(404, decline(bob, invitation));
    // Not for one who has left since.
    expect(204, remove(bob, members + "/me"));
    expect(404, accept(bob, invitation));
}

TEST_F(Acceptance, AtOnceIsOnce) {
    Client bob = person("bob@example.com");
    const auto invitation = expect(201, invite(ada, "bob@example.com")).text("/id");
    std::vector<Client> tabs(4, bob);
    const auto replies = at_once(4, [&](int i) { return accept(tabs[i], invitation); });
    EXPECT_EQ(count_status(replies, 200), 4);
    EXPECT_EQ(ask("SELECT count(*) FROM memberships"), "2");
    EXPECT_EQ(events("invitation.accepted", 1), "1");
}

TEST_F(Acceptance, IsForTheOwnerOfTheAddressAlone) {
    const auto invitation = expect(201, invite(ada, "bob@example.com")).text("/id");
    Client eve = person("eve@example.com");
    const auto foreign = expect(404, accept(eve, invitation));
    EXPECT_EQ(without_ids(foreign), without_ids(expect(404, accept(eve, nowhere))));
    expect(404, decline(eve, invitation));
    EXPECT_EQ(expect(200, eve.get("/v1/me/invitations")).json().at("results"), json::array());
    // Nor is it for an admin of the workspace.
    expect(404, accept(ada, invitation));
    expect(404, decline(ada, invitation));
    expect(401, client().post("/v1/invitations/" + invitation + ":accept"));
    expect(422, accept(eve, "not-an-id"));
    EXPECT_EQ(ask("SELECT status FROM invitations"), "pending");
}

// A session of an unconfirmed account cannot come about; should it, it would accept nothing.
TEST_F(Acceptance, AnUnconfirmedAddressAcceptsNothing) {
    Client bob = person("bob@example.com");
    const auto invitation = expect(201, invite(ada, "bob@example.com")).text("/id");
    ask("UPDATE users SET email_verified = false WHERE email_key = 'bob@example.com'");
    expect(404, accept(bob, invitation));
    expect(404, decline(bob, invitation));
    EXPECT_EQ(expect(200, bob.get("/v1/me/invitations")).json().at("results"), json::array());
    ask("UPDATE users SET email_verified = true");
    expect(200, accept(bob, invitation));
}

// What was mailed to the address is no way in for whoever holds the mail.
TEST_F(Acceptance, TheMailedTokenAloneOpensNothing) {
    const auto invitation = expect(201, invite(ada, "bob@example.com")).text("/id");
    const auto token = mailed_token("bob@example.com");
    expect(422, verify(token));
    Client eve = person("eve@example.com");
    expect(422, accept(eve, token));
    expect(404, accept(eve, invitation));
}

TEST_F(Acceptance, AnIntegrationTokenActsAsItsOwnerAndAnAgentHasNone) {
    Client bob = person("bob@example.com");
    expect(201, bob.post("/v1/orgs", json::value{{"name", "Bobs"}}));
    Client agent = program(bob, "agent"), token = program(bob);
    const auto invitation = expect(201, invite(ada, "bob@example.com")).text("/id");
    EXPECT_EQ(expect(200, agent.get("/v1/me/invitations")).json().at("results"), json::array());
    expect(404, accept(agent, invitation));
    expect(404, decline(agent, invitation));
    EXPECT_THAT(texts(expect(200, token.get("/v1/me/invitations")), "id"), ElementsAre(invitation));
    expect(200, accept(token, invitation));
    EXPECT_EQ(
        expect(200, bob.get("/v1/me/memberships")).json().at("results").as_array().size(), 2u
    );
}

TEST_F(Acceptance, OfAllWorkspacesNewestFirst) {
    Client bob = person("bob@example.com"), eve = person("eve@example.com");
    const auto other =
        expect(201, eve.post("/v1/orgs", json::value{{"name", "Other"}})).text("/id");
    expect(201, invite(ada, "bob@example.com"));
    const json::value body{{"email", "bob@example.com"}};
    expect(201, eve.post("/v1/orgs/" + other + "/invitations", body));
    EXPECT_THAT(
        texts(expect(200, bob.get("/v1/me/invitations")), "org_name"), ElementsAre("Other", "Acme")
    );
    const auto first = expect(200, bob.get("/v1/me/invitations?page_size=1"));
    EXPECT_THAT(texts(first, "org_name"), ElementsAre("Other"));
    const auto rest = expect(
        200, bob.get("/v1/me/invitations?page_size=1&start_cursor=" + first.text("/next_cursor"))
    );
    EXPECT_THAT(texts(rest, "org_name"), ElementsAre("Acme"));
    EXPECT_EQ(rest.text("/has_more"), "false");
}

// ------------------------------------------------------------------------- the last seat

TEST_F(Acceptance, AFullPlanKeepsTheInvitation) {
    Client bob = member("bob@example.com", "member"), cleo = person("cleo@example.com");
    const auto invitation = expect(201, invite(ada, "cleo@example.com")).text("/id");
    const auto full = expect(402, accept(cleo, invitation));
    EXPECT_EQ(full.text("/code"), "plan_limit_reached");
    EXPECT_EQ(full.text("/additional_data/limit"), "seats");
    EXPECT_EQ(expect(200, ada.get(invitations)).text("/results/0/status"), "pending");
    EXPECT_EQ(expect(200, cleo.get("/v1/me/invitations")).text("/results/0/id"), invitation);
    expect(204, remove(ada, members + "/" + id_of(bob)));
    expect(200, accept(cleo, invitation));
}

TEST_F(Acceptance, OfTwoWhoRaceForTheLastSeatOneGetsIt) {
    for (int round = 0; round < 5; ++round) {
        std::vector<Client> racers;
        std::vector<std::string> wanted;
        for (const char* each : {"bob", "cleo"}) {
            const auto address = each + std::to_string(round) + "@example.com";
            racers.push_back(person(address));
            wanted.push_back(expect(201, invite(ada, address)).text("/id"));
        }
        const auto replies = at_once(2, [&](int i) { return accept(racers[i], wanted[i]); });
        EXPECT_EQ(count_status(replies, 200), 1);
        EXPECT_EQ(count_status(replies, 402), 1);
        EXPECT_EQ(ask("SELECT count(*) FROM memberships"), "2");
        const int winner = replies[0].status == 200 ? 0 : 1;
        EXPECT_EQ(replies[1 - winner].text("/code"), "plan_limit_reached");
        expect(204, remove(racers[winner], members + "/me"));
    }
}

TEST_F(Acceptance, ManyRaceForOneSeat) {
    std::vector<Client> racers;
    std::vector<std::string> wanted;
    for (int i = 0; i < 10; ++i) {
        const auto address = "racer" + std::to_string(i) + "@example.com";
        racers.push_back(person(address));
        wanted.push_back(expect(201, invite(ada, address)).text("/id"));
    }
    const auto replies = at_once(10, [&](int i) { return accept(racers[i], wanted[i]); });
    EXPECT_EQ(count_status(replies, 200), 1);
    EXPECT_EQ(count_status(replies, 402), 9);
    EXPECT_EQ(ask("SELECT count(*) FROM invitations WHERE status = 'pending'"), "9");
}

TEST_F(Acceptance, AgainstAnAdditionForTheLastSeatOneGetsIt) {
    Client bob = person("bob@example.com");
    const auto invitation = expect(201, invite(ada, "bob@example.com")).text("/id");
    const auto replies = at_once(2, [&](int i) {
        return i == 0 ? accept(bob, invitation) : add(ada, "cleo@example.com");
    });
    EXPECT_EQ(count_status(replies, 402), 1);
    EXPECT_EQ(ask("SELECT count(*) FROM memberships"), "2");
}

TEST_F(Acceptance, AgainstRevocationOneOfThemWins) {
    for (int round = 0; round < 5; ++round) {
        const auto address = "bob" + std::to_string(round) + "@example.com";
        Client bob = person(address);
        const auto invitation = expect(201, invite(ada, address)).text("/id");
        const auto replies = at_once(2, [&](int i) {
            return i == 0 ? accept(bob, invitation) : remove(ada, invitations + "/" + invitation);
        });
        const bool seated = ask("SELECT count(*) FROM memberships") == "2";
        EXPECT_EQ(replies[0].status, seated ? 200 : 404);
        EXPECT_EQ(replies[1].status, seated ? 409 : 204);
        if (seated) expect(204, remove(bob, members + "/me"));
    }
}

TEST_F(Acceptance, OfOneWhoIsAMemberByNowTakesNoSecondSeat) {
    Client bob = person("bob@example.com");
    const auto invitation = expect(201, invite(ada, "bob@example.com", "admin")).text("/id");
    const auto added = expect(201, add(ada, "bob@example.com", "viewer"));
    const auto seat = expect(200, accept(bob, invitation));
    EXPECT_EQ(seat.text("/id"), added.text("/id"));
    EXPECT_EQ(seat.text("/role"), "viewer");
    EXPECT_EQ(expect(200, ada.get(invitations)).text("/results/0/status"), "accepted");
    EXPECT_EQ(events("member.added", 2), "2");
}

TEST_F(Acceptance, NobodyJoinsWhereNothingMayChange) {
    Client bob = person("bob@example.com");
    const auto invitation = expect(201, invite(ada, "bob@example.com")).text("/id");
    set_state("past_due");
    EXPECT_EQ(expect(402, accept(bob, invitation)).text("/code"), "workspace_past_due");
    set_state("active");
    expect(200, accept(bob, invitation));
}

TEST_F(Acceptance, WhoeverDoesNotWantToJoinNeedsNobodyToPay) {
    Client bob = person("bob@example.com");
    const auto invitation = expect(201, invite(ada, "bob@example.com")).text("/id");
    set_state("past_due");
    EXPECT_EQ(expect(200, decline(bob, invitation)).text("/status"), "declined");
}

}  // namespace
}  // namespace svc::test
