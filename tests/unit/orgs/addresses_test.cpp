// One mailbox is one account, however its address is spelt, and whenever it was kept.

#include "tests/unit/orgs/orgs_fixture.hpp"

namespace svc::test {
namespace {

class Addresses : public WorkspacesTest {
protected:
    /// Two that were kept under ünal@, zoë@ and kay@example.com each, as it was before: by the
    /// lower case of ASCII alone. Of invitations the named one is newer.
    void keep_as_before(const std::string& invitation) {
        ask("UPDATE users SET email_key = 'Ünal@example.com' WHERE email = 'Ünal@example.com' "
            "RETURNING id");
        ask("UPDATE users SET email = 'kay@example.com', email_key = 'kay@example.com' "
            "WHERE email = 'ada@example.com' RETURNING id");
        ask("INSERT INTO users (id, email, email_key, email_verified) VALUES "
            "('0192f0c1-2d3e-7f40-8123-456789abcd01', 'ünal@example.com', 'ünal@example.com', "
            "false), "
            "('0192f0c1-2d3e-7f40-8123-456789abcd02', 'bo@bücher.example', 'bo@bücher.example', "
            "true), "
            "('0192f0c1-2d3e-7f40-8123-456789abcd03', '\u212Aay@example.com', "
            "'\u212Aay@example.com', false) RETURNING id");
        ask("UPDATE invitations SET email_key = 'ZoË@example.com' WHERE id = '" + invitation +
            "' RETURNING id");
        ask("INSERT INTO invitations (org_id, id, email, email_key, role, status, token_digest, "
            "invited_by, expires_at, created_time) SELECT org_id, "
            "'0192f0c1-2d3e-7f40-8123-456789abcd04', 'zoë@example.com', 'zoë@example.com', role, "
            "status, 'older', invited_by, expires_at, created_time - interval '1 hour' "
            "FROM invitations RETURNING id");
        ask("UPDATE address_keys SET renewed_at = NULL RETURNING 1");
    }
    std::string owner_of(const std::string& key) {
        return ask(
            "SELECT string_agg(email || ' ' || email_verified, ', ') FROM users "
            "WHERE email_key = '" +
            key + "'"
        );
    }
};

TEST_F(Addresses, OfBeforeAnUpgradeAreFoundUnderTheirNewKeys) {
    expect(201, sign_up("Ünal@example.com"));
    expect(200, verify(mailed_token("Ünal@example.com")));
    const auto invitation = expect(201, invite(ada, "Zoë@example.com")).text("/id");
    ASSERT_EQ(server.end(SIGTERM), 0);
    keep_as_before(invitation);
    server.start();
    EXPECT_EQ(owner_of("bo@xn--bcher-kva.example"), "bo@xn--bcher-kva.example true");
    EXPECT_EQ(owner_of("ünal@example.com"), "Ünal@example.com true")
        << "though another had the key";
    EXPECT_EQ(owner_of("kay@example.com"), "kay@example.com true") << "as ASCII has rivals, too";
    EXPECT_EQ(ask("SELECT count(*) FROM users WHERE email_key !~ '@'"), "2");
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "5") << "no account is lost";
    expect(200, log_in("ÜNAL@example.com"));
    EXPECT_EQ(
        ask("SELECT string_agg(status || ' ' || (id = '" + invitation +
            "'), ', ' ORDER BY created_time) FROM invitations WHERE email_key = 'zoë@example.com'"),
        "expired false, pending true"
    ) << "the newer one stays";
    EXPECT_NE(ask("SELECT renewed_at FROM address_keys"), "");
}

TEST_F(Addresses, AreOneAccountHoweverTheyAreSpelt) {
    for (const char* each : {"Ünal@example.com", "ünal@example.com", "u\xCC\x88nal@Example.com"})
        expect(201, sign_up(each));
    expect(200, verify(mailed_token("Ünal@example.com")));
    expect(200, log_in("u\xCC\x88NAL@example.com"));
    expect(201, sign_up("ÜNAL@example.com"));
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "2");
}

TEST_F(Addresses, AreOneAccountThoughSpellingsAreConfirmedAtOnce) {
    const std::vector<std::string> spellings{
        "Ünal@example.com", "ünal@example.com", "u\xCC\x88nal@example.com"};
    std::vector<std::string> tokens;
    for (const auto& each : spellings) {
        expect(201, sign_up(each));
        tokens.push_back(mailed_token(each));
    }
    const auto done = at_once(static_cast<int>(tokens.size()), [&](int which) {
        return verify(tokens[static_cast<std::size_t>(which)]).status;
    });
    EXPECT_EQ(std::ranges::count(done, 200), 1);
    EXPECT_EQ(std::ranges::count(done, 422), static_cast<std::ptrdiff_t>(tokens.size()) - 1);
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "2");
}

}  // namespace
}  // namespace svc::test
