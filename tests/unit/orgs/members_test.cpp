#include "tests/unit/orgs/orgs_fixture.hpp"

namespace svc::test {
namespace {

using testing::ElementsAre;

class Members : public WorkspacesTest {};

TEST_F(Members, AreListedPageByPage) {
    Client bob = member("bob@example.com", "viewer");
    const auto eve = id_of(bob);
    member("cleo@example.com", "admin");
    const auto whole = expect(200, bob.get(members));
    EXPECT_EQ(whole.text("/type"), "membership");
    EXPECT_THAT(texts(whole, "role"), ElementsAre("owner", "viewer", "admin"));
    EXPECT_EQ(whole.text("/results/1/user_id"), eve);
    EXPECT_EQ(whole.text("/results/1/user/email"), "bob@example.com");
    EXPECT_EQ(whole.text("/results/1/invited_by/name"), "Ada");
    EXPECT_EQ(whole.text("/results/1/org_name"), "Acme");

    const auto first = expect(200, ada.get(members + "?page_size=2"));
    EXPECT_THAT(texts(first, "role"), ElementsAre("owner", "viewer"));
    const auto rest =
        expect(200, ada.get(members + "?page_size=2&start_cursor=" + first.text("/next_cursor")));
    EXPECT_THAT(texts(rest, "role"), ElementsAre("admin"));
    EXPECT_EQ(rest.text("/has_more"), "false");
}

TEST_F(Members, ARoleIsGivenAndTold) {
    Client bob = member("bob@example.com", "member");
    const auto user = id_of(bob);
    const auto changed = expect(200, set_role(ada, user, "admin"));
    EXPECT_EQ(changed.text("/role"), "admin");
    EXPECT_EQ(changed.text("/version"), "2");
    EXPECT_EQ(changed.header("etag"), "\"2\"");
    EXPECT_EQ(expect(200, bob.get(here)).text("/role"), "admin");
    EXPECT_EQ(events("member.role_changed", 1), "1");
    EXPECT_EQ(
        ask("SELECT (previous::json ->> 'role') || ' ' || (changes::json ->> 'role') FROM events "
            "WHERE kind = 'member.role_changed'"),
        "member admin"
    );
    const auto same = expect(200, set_role(ada, user, "admin"));
    EXPECT_EQ(same.text("/version"), "2");
}

TEST_F(Members, TheRoleExpectedIsTheRoleChanged) {
    Client bob = member("bob@example.com", "member");
    const auto path = members + "/" + id_of(bob);
    const std::string body = R"({"role": "viewer"})";
    const auto late = expect(412, ada.send("PATCH", path, body, {{"If-Match", "\"7\""}}));
    EXPECT_EQ(late.text("/additional_data/current_version"), "1");
    expect(412, remove(ada, path, {{"If-Match", "7"}}));
    expect(200, ada.send("PATCH", path, body, {{"If-Match", "\"1\""}}));
    expect(204, remove(ada, path, {{"If-Match", "2"}}));
}

// Who may do what to whom: rows act on columns.
TEST_F(Members, OnlyOwnersTouchOwners) {
    Client olga = member("olga@example.com", "owner"), adam = member("adam@example.com", "admin"),
           max = member("max@example.com", "member"), vera = member("vera@example.com", "viewer");
    const auto owner = id_of(olga), admin = id_of(adam), plain = id_of(max);

    EXPECT_EQ(set_role(adam, owner, "member").status, 403);
    EXPECT_EQ(remove(adam, members + "/" + owner).status, 403);
    EXPECT_EQ(set_role(adam, plain, "owner").status, 403);
    EXPECT_EQ(set_role(adam, admin, "owner").status, 403);
    EXPECT_EQ(add(adam, "new@example.com", "owner").status, 403);
    EXPECT_EQ(set_role(adam, plain, "admin").status, 200);
    EXPECT_EQ(set_role(olga, plain, "owner").status, 200);
    EXPECT_EQ(set_role(olga, plain, "member").status, 200);

    for (Client* each : {&max, &vera}) {
        const auto own = members + "/" + id_of(*each);
        EXPECT_EQ(set_role(*each, admin, "viewer").status, 403);
        EXPECT_EQ(set_role(*each, id_of(*each), "admin").status, 403);
        EXPECT_EQ(remove(*each, members + "/" + admin).status, 403);
        EXPECT_EQ(remove(*each, own).status, 403) << "by the way of :me alone";
        EXPECT_EQ(add(*each, "new@example.com").status, 403);
        EXPECT_EQ(each->get(members).status, 200);
    }
    EXPECT_EQ(ask("SELECT count(*) FROM memberships"), "5");
}

TEST_F(Members, NobodyElseSeesThem) {
    Client bob = member("bob@example.com", "member");
    const auto user = id_of(bob);
    Client eve = person("eve@example.com");
    const auto other =
        expect(201, eve.post("/v1/orgs", json::value{{"name", "Other"}})).text("/id");
    const auto absent = "/v1/orgs/" + nowhere + "/members";
    EXPECT_EQ(
        without_ids(expect(404, eve.get(members))), without_ids(expect(404, eve.get(absent)))
    );
    expect(404, set_role(eve, user, "viewer"));
    expect(404, remove(eve, members + "/" + user));
    expect(404, remove(eve, members + "/me"));
    expect(404, add(eve, "eve@example.com"));
    // A member of one workspace under the path of another.
    expect(404, patch(eve, "/v1/orgs/" + other + "/members/" + user, {{"role", "viewer"}}));
    expect(404, remove(eve, "/v1/orgs/" + other + "/members/" + user));
    expect(404, set_role(ada, nowhere, "viewer"));
    expect(422, patch(ada, members + "/me", {{"role", "viewer"}}));
    expect(422, set_role(ada, user, "king"));
}

TEST_F(Members, WhoIsRemovedIsOutAtOnce) {
    Client bob = member("bob@example.com", "admin");
    Client token = program(bob);
    expect(200, token.get(members));
    expect(200, bob.get(members));
    expect(204, remove(ada, members + "/" + id_of(bob)));
    expect(404, bob.get(members));
    expect(401, token.get(members));
    expect(404, remove(ada, members + "/" + nowhere));
    EXPECT_EQ(events("member.removed", 1), "1");
    EXPECT_EQ(expect(200, ada.get(here)).text("/seat_count"), "1");
}

TEST_F(Members, ATokenDoesNotComeBackWithTheSeat) {
    Client bob = member("bob@example.com", "admin");
    Client token = program(bob), agent = program(bob, "agent");
    Client others = program(ada);
    for (Client* each : {&token, &agent, &others}) expect(200, each->get(members));
    expect(204, remove(ada, members + "/" + id_of(bob)));
    expect(201, add(ada, "bob@example.com", "admin"));
    expect(200, bob.get(members));
    expect(401, token.get(members));
    expect(401, agent.get(members));
    expect(200, others.get(members));
    EXPECT_EQ(ask("SELECT count(*) FROM tokens WHERE revoked_at IS NULL"), "1");
}

TEST_F(Members, WhoIsDemotedHasWeakerTokensAtOnce) {
    Client bob = member("bob@example.com", "admin");
    Client token = program(bob), agent = program(bob, "agent");
    expect(200, token.get(invitations));
    expect(200, agent.get(invitations));
    expect(200, set_role(ada, id_of(bob), "viewer"));
    expect(403, token.get(invitations));
    expect(403, agent.get(invitations));
    EXPECT_EQ(expect(200, token.get(here)).text("/role"), "viewer");
}

TEST_F(Members, AnybodyMayLeave) {
    for (const char* role : {"viewer", "member", "admin", "owner"}) {
        Client who = member(std::string(role) + "@example.com", role);
        expect(204, remove(who, members + "/me"));
        expect(404, who.get(here));
        expect(404, remove(who, members + "/me"));
    }
    EXPECT_EQ(ask("SELECT count(*) FROM memberships"), "1");
    EXPECT_EQ(events("member.removed", 4), "4");
}

TEST_F(Members, AnAgentHasNoSeatToGiveUp) {
    Client agent = program(ada, "agent");
    EXPECT_EQ(expect(403, remove(agent, members + "/me")).text("/code"), "restricted_resource");
    EXPECT_EQ(ask("SELECT count(*) FROM memberships"), "1");
}

TEST_F(Members, ATokenGivesUpNoSeatThatIsMoreThanItself) {
    Client bob = member("bob@example.com", "owner");
    Client narrow = program(bob, "integration", "admin");
    expect(403, remove(narrow, members + "/me"));
    expect(200, set_role(ada, id_of(bob), "member"));
    expect(204, remove(narrow, members + "/me"));
    expect(404, bob.get(here));
}

TEST_F(Members, ATokenThatOnlyReadsAnswersNoInvitation) {
    Client bob = person("bob@example.com");
    expect(201, bob.post("/v1/orgs", json::value{{"name", "His"}}));
    const auto invitation = expect(201, invite(ada, "bob@example.com")).text("/id");
    Client reader = program(bob, "integration", "viewer"), worker = program(bob);
    expect(404, accept(reader, invitation));
    expect(404, decline(reader, invitation));
    expect(200, accept(worker, invitation));
}

// Software that looks after a workspace gives nobody the say over it.
TEST_F(Members, AnAgentMakesNobodyAnAdmin) {
    Client bob = member("bob@example.com", "member"), agent = program(ada, "agent");
    for (const char* role : {"admin", "owner"}) {
        EXPECT_EQ(set_role(agent, id_of(bob), role).status, 403) << role;
        EXPECT_EQ(add(agent, "new@example.com", role).status, 403) << role;
    }
    expect(403, invite(agent, "new@example.com", "admin"));
    expect(201, invite(agent, "new@example.com", "member"));
    expect(403, invite(agent, "new@example.com", "admin"));
    EXPECT_EQ(ask("SELECT string_agg(role, ' ') FROM invitations"), "member");
    expect(201, add(agent, "other@example.com", "member"));
    expect(200, set_role(agent, id_of(bob), "viewer"));
    Client person = program(ada);
    expect(200, invite(person, "new@example.com", "admin"));
    expect(200, set_role(person, id_of(bob), "admin"));
}

// ---------------------------------------------------------------------- the last owner

TEST_F(Members, TheLastOwnerStaysAndStaysOwner) {
    Client adam = member("adam@example.com", "admin");
    const auto own = members + "/" + id_of(ada);
    for (const Reply& each :
         {remove(ada, members + "/me"), remove(ada, own), set_role(ada, id_of(ada), "admin")}) {
        EXPECT_EQ(each.status, 409);
        EXPECT_EQ(each.text("/code"), "conflict_error");
        EXPECT_EQ(reason(each), "sole_owner");
    }
    expect(200, set_role(ada, id_of(adam), "owner"));
    expect(204, remove(ada, members + "/me"));
    EXPECT_EQ(ask("SELECT string_agg(role, ' ') FROM memberships"), "owner");
}

// Nobody can sign in as an owner who was added and has not confirmed the address.
TEST_F(Members, AnOwnerWhoIsYetToConfirmIsNoOtherOwner) {
    const auto ghost = expect(201, add(ada, "ghost@example.com", "owner")).text("/user_id");
    const auto own = members + "/" + id_of(ada);
    for (const Reply& each :
         {remove(ada, members + "/me"), remove(ada, own), set_role(ada, id_of(ada), "admin")}) {
        EXPECT_EQ(each.status, 409) << each.body;
        EXPECT_EQ(reason(each), "sole_owner");
    }
    expect(200, set_role(ada, ghost, "member"));
    expect(200, set_role(ada, ghost, "owner"));
    expect(204, remove(ada, members + "/" + ghost));
    expect(201, add(ada, "ghost@example.com", "owner"));
    ask("UPDATE users SET email_verified = true WHERE email_key = 'ghost@example.com' "
        "RETURNING id");
    expect(204, remove(ada, members + "/me"));
}

TEST_F(Members, OfTwoOwnersWhoLeaveAtOnceOneStays) {
    for (int round = 0; round < 5; ++round) {
        Client bob = member("bob" + std::to_string(round) + "@example.com", "owner");
        std::vector<Client> both{ada, bob};
        const auto replies = at_once(2, [&](int i) { return remove(both[i], members + "/me"); });
        EXPECT_EQ(count_status(replies, 204), 1);
        EXPECT_EQ(count_status(replies, 409), 1);
        EXPECT_EQ(ask("SELECT count(*) FROM memberships WHERE role = 'owner'"), "1");
        if (replies[0].status == 204) ada = Client(bob);
    }
}

TEST_F(Members, OfTwoOwnersWhoDemoteEachOtherOneStays) {
    for (int round = 0; round < 5; ++round) {
        Client bob = member("bob" + std::to_string(round) + "@example.com", "owner");
        std::vector<Client> both{ada, bob};
        const std::vector<std::string> ids{id_of(ada), id_of(bob)};
        const auto replies =
            at_once(2, [&](int i) { return set_role(both[i], ids[1 - i], "member"); });
        EXPECT_EQ(count_status(replies, 200), 1);
        EXPECT_EQ(count_status(replies, 403), 1) << "the other is no owner any more";
        EXPECT_EQ(ask("SELECT count(*) FROM memberships WHERE role = 'owner'"), "1");
        if (replies[1].status == 200) ada = Client(bob);
        ada.always("X-Svc-Org", org);
        const auto loser = replies[0].status == 200 ? ids[1] : ids[0];
        expect(204, remove(ada, members + "/" + loser));
    }
}

}  // namespace
}  // namespace svc::test
