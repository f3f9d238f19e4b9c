#include "tests/unit/orgs/orgs_fixture.hpp"

namespace svc::test {
namespace {

/// What a call costs: a read goes to the database once, a write twice.
class RoundTrips : public WorkspacesTest {
protected:
    RoundTrips() {
        bob = member("bob@example.com", "member");
        for (Client* each : {&ada, &bob}) expect(200, each->get(here));  // known from here on
    }
    int total() const {
        const auto metrics = client().get("/metrics").body;
        int sum = 0;
        const std::string name = "\nworkboard_request_round_trips_total{";
        for (auto at = metrics.find(name); at != metrics.npos; at = metrics.find(name, at + 1))
            sum += std::stoi(metrics.substr(metrics.find("} ", at) + 2));
        return sum;
    }
    template <class Request>
    int cost(Request request) {
        const int before = total();
        const Reply reply = request();
        EXPECT_LT(reply.status, 300) << reply.body;
        return total() - before;
    }

    Client bob = client();
};

TEST_F(RoundTrips, OfAReadAreOne) {
    for (const std::string& path :
         {here,
          members,
          invitations,
          here + "/billing",
          here + "/audit-events",
          std::string("/v1/users"),
          "/v1/users/" + id_of(bob),
          std::string("/v1/me/invitations")})
        EXPECT_EQ(cost([&] { return ada.get(path); }), 1) << path;
}

TEST_F(RoundTrips, OfAWriteAreTwo) {
    const auto user = id_of(bob);
    const auto write = [&](const char* what, auto request) { EXPECT_EQ(cost(request), 2) << what; };
    write("update_org", [&] { return patch(ada, here, {{"name", "Works"}}); });
    write("update_member", [&] { return set_role(ada, user, "viewer"); });
    write("resend_member_invite", [&] {
        return ada.post(members + "/" + user + ":resend-invite");
    });
    write("add_member", [&] { return add(ada, "new@example.com"); });
    write("create_invitation", [&] { return invite(ada, "cleo@example.com"); });
    write("create_invitation again", [&] { return invite(ada, "cleo@example.com"); });
    const auto invitation = expect(200, ada.get(invitations)).text("/results/0/id");
    write("revoke_invitation", [&] { return remove(ada, invitations + "/" + invitation); });
    write("remove_member", [&] { return remove(ada, members + "/" + user); });

    const auto again = expect(201, invite(ada, "bob@example.com")).text("/id");
    bob.always("X-Svc-Org", "");
    expect(200, bob.get("/v1/me/invitations"));
    write("decline_invitation", [&] { return decline(bob, again); });
    const auto last = expect(201, invite(ada, "bob@example.com")).text("/id");
    write("accept_invitation", [&] { return accept(bob, last); });
    bob.always("X-Svc-Org", org);
    expect(200, bob.get(here));
    write("leave_org", [&] { return remove(bob, members + "/me"); });
    write("delete_org", [&] { return remove(ada, here + "?confirm=acme"); });
}

}  // namespace
}  // namespace svc::test
