#include "tests/support/accounts_fixture.hpp"

#include "core/secret.hpp"
#include "svc/encoding.hpp"

#include <openssl/hmac.h>

#include <atomic>
#include <thread>

namespace svc::test {
namespace {

using testing::HasSubstr;

constexpr const char* server_secret = "a secret of at least thirty-two characters";

class Sessions : public AccountsTest {
protected:
    Sessions() : AccountsTest({std::string("server.secret=") + server_secret}) {
        browser = person("ada@example.com");
    }

    /// What a browser would send.
    static Headers cookies(const Client& of) {
        return {
            {"Cookie",
             "svc_session=" + of.cookie("svc_session") + "; svc_csrf=" + of.cookie("svc_csrf")}};
    }
    static Headers with(Headers headers, const char* name, const std::string& value) {
        headers.emplace_back(name, value);
        return headers;
    }
    Reply me(const std::string& session_cookie) {
        return once("GET", "/v1/me", nullptr, {{"Cookie", "svc_session=" + session_cookie}});
    }
    /// A cookie as the server would sign it.
    static std::string signed_cookie(const json::value& header, const json::value& payload) {
        const auto text = base64(json::serialize(header)) + "." + base64(json::serialize(payload));
        const auto key = core::Secret(server_secret, {}).sign("auth.session", "");
        unsigned char mac[32];
        unsigned int size = sizeof mac;
        HMAC(
            EVP_sha256(),
            key.data(),
            static_cast<int>(key.size()),
            reinterpret_cast<const unsigned char*>(text.data()),
            text.size(),
            mac,
            &size
        );
        return text + "." + base64({reinterpret_cast<const char*>(mac), size});
    }
    std::string session_id() { return ask("SELECT id FROM sessions WHERE revoked_at IS NULL"); }

    Client browser = client();
};

// ---- the cookie

TEST_F(Sessions, TheCookieSaysWhoAndWhere) {
    const auto org = expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    const auto cookie = browser.cookie("svc_session");
    const auto dot = cookie.find('.');
    const auto payload =
        json::parse(*from_base64(cookie.substr(dot + 1, cookie.find('.', dot + 1) - dot - 1)));
    const auto who = browser.get("/v1/me");
    EXPECT_EQ(payload.at("sub"), json::value(who.text("/id")));
    EXPECT_EQ(payload.at("sid"), json::value(session_id()));
    EXPECT_EQ(payload.at("org"), json::value(org.text("/id")));
    EXPECT_EQ(payload.at("role"), "owner");
    EXPECT_TRUE(payload.as_object().contains("exp"));
}

TEST_F(Sessions, OnlyACookieOfOursCounts) {
    const json::value hs256{{"alg", "HS256"}, {"typ", "JWT"}};
    const json::object good{{"sid", session_id()}, {"exp", 4102444800}};
    const auto changed = [&](const char* key, const json::value& value) {
        json::object payload = good;
        payload[key] = value;
        return json::value(payload);
    };
    expect(200, me(signed_cookie(hs256, good)));

    expect(401, me(signed_cookie(hs256, changed("exp", 1'000'000'000))));
    expect(401, me(signed_cookie(hs256, changed("nbf", 4102444700))));
    expect(401, me(signed_cookie(hs256, changed("sid", "nonsense"))));
    expect(401, me(signed_cookie(hs256, changed("sid", json::value(Uuid{}.str())))));
    expect(401, me(signed_cookie(hs256, changed("sid", json::value()))));
    expect(401, me(signed_cookie(hs256, {{"exp", 4102444800}})));
    expect(401, me(signed_cookie(hs256, {{"sid", session_id()}})));
    expect(401, me(signed_cookie({{"alg", "none"}, {"typ", "JWT"}}, good)));
    expect(401, me(signed_cookie({{"alg", "HS384"}, {"typ", "JWT"}}, good)));

    const auto genuine = signed_cookie(hs256, good);
    expect(401, me(genuine.substr(0, genuine.rfind('.') + 1)));
    expect(401, me(genuine.substr(0, genuine.size() - 2)));
    for (const char* more : {"=", "==", ".", ".x", "%3D", "~"}) expect(401, me(genuine + more));
    expect(401, me("=" + genuine));
    std::string padded = genuine;
    padded.insert(padded.rfind('.'), "=");
    expect(401, me(padded));
    for (const char last : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {  // spare bits
        std::string other = genuine;
        if (std::exchange(other.back(), last) != last) expect(401, me(other));
    }
    std::string forged = genuine;
    forged[forged.size() - 10] = forged[forged.size() - 10] == 'A' ? 'B' : 'A';
    expect(401, me(forged));
    for (const char* nonsense : {"x", "a.b.c", "..", "eyJhbGciOiJIUzI1NiJ9.e30."})
        expect(401, me(nonsense));
}

TEST_F(Sessions, ManyAreReadAtOnce) {
    std::vector<std::thread> threads;
    std::atomic<int> answered = 0, others = 0;
    constexpr int tabs = 24, rounds = 300;
    for (int i = 0; i < tabs; ++i)
        threads.emplace_back([&, tab = browser]() mutable {
            for (int round = 0; round < rounds; ++round) {
                const int status = tab.get("/v1/me").status;
                (status == 200 || status == 429 ? answered : others) += 1;
            }
        });
    for (auto& each : threads) each.join();
    EXPECT_EQ(answered, tabs * rounds);
    EXPECT_EQ(others, 0);
}

TEST_F(Sessions, AnEndedOneIsNoneAtOnce) {
    expect(200, browser.get("/v1/me"));
    ask("UPDATE sessions SET expires_at = now() RETURNING id");
    expect(401, browser.get("/v1/me"));
}

// ---- writes need proof that a page of ours meant them

TEST_F(Sessions, AWriteNeedsTheTokenOfThisSession) {
    const json::value body{{"name", "Acme"}};
    const auto own = browser.cookie("svc_csrf");
    Client other = person("eve@example.com");
    const auto foreign = other.cookie("svc_csrf");
    const auto session = "svc_session=" + browser.cookie("svc_session");
    const auto write = [&](const Headers& headers) {
        return once("POST", "/v1/orgs", body, headers);
    };

    for (const Headers& headers :
         {cookies(browser),
          with(cookies(browser), "X-CSRF-Token", foreign),
          with(cookies(browser), "X-CSRF-Token", own + "A"),
          Headers{{"Cookie", session}, {"X-CSRF-Token", own}},
          Headers{{"Cookie", session + "; svc_csrf=" + foreign}, {"X-CSRF-Token", foreign}},
          Headers{{"Cookie", session + "; svc_csrf=A"}, {"X-CSRF-Token", "A"}},
          with(with(cookies(browser), "X-CSRF-Token", own), "Origin", "https://evil.example"),
          with(with(cookies(browser), "X-CSRF-Token", own), "Sec-Fetch-Site", "cross-site")})
        EXPECT_EQ(expect(403, write(headers)).text("/code"), "csrf_failed");

    expect(201, write(with(cookies(browser), "X-CSRF-Token", own)));
    expect(
        201, write(with(with(cookies(browser), "X-CSRF-Token", own), "Origin", "http://127.0.0.1"))
    );
}

TEST_F(Sessions, ATokenFromBeforeTheLogInIsNotTheSessions) {
    Client early = client();
    const auto before = expect(200, early.get("/v1/auth/csrf")).text("/csrf_token");
    EXPECT_EQ(early.cookie("svc_csrf"), before);
    expect(200, log_in(early, "ada@example.com"));
    const Headers headers{
        {"Cookie", "svc_session=" + early.cookie("svc_session") + "; svc_csrf=" + before},
        {"X-CSRF-Token", before}};
    expect(403, once("POST", "/v1/orgs", {{"name", "Acme"}}, headers));
}

TEST_F(Sessions, TheTokenIsGivenAgainAsLongAsItIsGood) {
    const auto held = browser.cookie("svc_csrf");
    EXPECT_EQ(expect(200, browser.get("/v1/auth/csrf")).text("/csrf_token"), held);
    const auto lost = once(
        "GET",
        "/v1/auth/csrf",
        nullptr,
        {{"Cookie", "svc_session=" + browser.cookie("svc_session")}}
    );
    const auto fresh = lost.text("/csrf_token");
    EXPECT_NE(fresh, held);
    const Headers headers{
        {"Cookie", "svc_session=" + browser.cookie("svc_session") + "; svc_csrf=" + fresh},
        {"X-CSRF-Token", fresh}};
    expect(201, once("POST", "/v1/orgs", {{"name", "Acme"}}, headers));
}

TEST_F(Sessions, ReadingNeedsNoToken) {
    expect(200, once("GET", "/v1/me", nullptr, cookies(browser)));
}

// ---- signing out

TEST_F(Sessions, SigningOutEndsThemAndTakesTheCookies) {
    const auto session = browser.cookie("svc_session");
    const auto out = expect(204, browser.post("/v1/auth/logout"));
    EXPECT_EQ(browser.cookie("svc_session"), "");
    EXPECT_EQ(browser.cookie("svc_csrf"), "");
    EXPECT_THAT(out.header("set-cookie"), HasSubstr("Max-Age=0"));
    expect(401, me(session));
}

TEST_F(Sessions, NobodySignsAnotherOut) {
    expect(403, once("POST", "/v1/auth/logout", nullptr, cookies(browser)));
    expect(200, browser.get("/v1/me"));
}

TEST_F(Sessions, SigningOutTwiceIsNoError) {
    const Headers stale = cookies(browser);
    expect(204, browser.post("/v1/auth/logout"));
    expect(204, once("POST", "/v1/auth/logout", nullptr, stale));
    expect(204, once("POST", "/v1/auth/logout"));
    expect(204, once("POST", "/v1/auth/logout", nullptr, {{"Cookie", "svc_session=nonsense"}}));
}

// ---- looking after them

TEST_F(Sessions, AreListedNewestFirst) {
    Client second = client();
    expect(200, log_in(second, "ada@example.com"));
    const auto list = expect(200, second.get("/v1/me/sessions"));
    EXPECT_EQ(list.text("/results/0/is_current"), "true");
    EXPECT_EQ(list.text("/results/0/auth_method"), "password");
    EXPECT_EQ(list.text("/results/1/is_current"), "false");
    EXPECT_EQ(list.text("/results/1/auth_method"), "email_verification");
    EXPECT_EQ(list.json().at("results").as_array().size(), 2u);

    const auto first_page = expect(200, second.get("/v1/me/sessions?page_size=1"));
    EXPECT_EQ(first_page.text("/has_more"), "true");
    const auto rest = expect(
        200,
        second.get("/v1/me/sessions?page_size=1&start_cursor=" + first_page.text("/next_cursor"))
    );
    EXPECT_EQ(rest.text("/results/0/id"), list.text("/results/1/id"));
    EXPECT_EQ(rest.text("/has_more"), "false");
    expect(422, browser.get("/v1/me/sessions?start_cursor=nonsense"));
}

TEST_F(Sessions, OneCanBeEnded) {
    Client second = client();
    const auto id = expect(200, log_in(second, "ada@example.com")).text("/session/id");
    expect(204, browser.send("DELETE", "/v1/me/sessions/" + id));
    expect(401, second.get("/v1/me"));
    expect(200, browser.get("/v1/me"));
    expect(404, browser.send("DELETE", "/v1/me/sessions/" + id));
    EXPECT_EQ(
        expect(200, browser.get("/v1/me/sessions")).json().at("results").as_array().size(), 1u
    );
}

TEST_F(Sessions, AnothersAreOutOfSight) {
    Client eve = person("eve@example.com");
    const auto hers = expect(200, eve.get("/v1/me/sessions")).text("/results/0/id");
    const auto foreign = expect(404, browser.send("DELETE", "/v1/me/sessions/" + hers));
    const auto absent =
        expect(404, browser.send("DELETE", "/v1/me/sessions/0192f0c1-2d3e-7f40-8123-456789abcdef"));
    EXPECT_EQ(without_ids(foreign), without_ids(absent));
    expect(200, eve.get("/v1/me"));
}

TEST_F(Sessions, AllCanBeEndedAtOnce) {
    Client second = client();
    expect(200, log_in(second, "ada@example.com"));
    const auto own = browser.cookie("svc_session");
    expect(204, browser.send("DELETE", "/v1/me/sessions"));
    EXPECT_EQ(browser.cookie("svc_session"), "");
    expect(401, me(own));
    expect(401, second.get("/v1/me"));
}

TEST_F(Sessions, OfItsOwnerAnIntegrationTokenSeesThemAndAnAgentNone) {
    expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    const auto mint = [&](const json::value& body) {
        return expect(201, browser.post("/v1/tokens", body)).text("/token");
    };
    Client program = client(), agent = client();
    program.token(mint({{"kind", "integration"}, {"name", "Importer"}}));
    agent.token(mint({{"kind", "agent"}, {"name", "Robot"}, {"agent", {{"name", "Robot"}}}}));
    const auto theirs = expect(200, program.get("/v1/me/sessions"));
    EXPECT_EQ(theirs.json().at("results").as_array().size(), 1u);
    EXPECT_EQ(theirs.text("/results/0/is_current"), "false");
    EXPECT_EQ(expect(200, agent.get("/v1/me/sessions")).json().at("results"), json::array());
    EXPECT_EQ(expect(200, agent.get("/v1/me/memberships")).json().at("results"), json::array());
    expect(403, agent.send("DELETE", "/v1/me/sessions"));
    expect(204, program.send("DELETE", "/v1/me/sessions"));
    expect(401, browser.get("/v1/me"));
}

// ---- the workspace of a request

TEST_F(Sessions, WorkInTheNamedWorkspaceIfItIsTheirs) {
    const auto first = expect(201, browser.post("/v1/orgs", json::value{{"name", "First"}}));
    const auto second = expect(201, browser.post("/v1/orgs", json::value{{"name", "Second"}}));
    Client eve = person("eve@example.com");
    const auto foreign = expect(201, eve.post("/v1/orgs", json::value{{"name", "Eve's"}}));

    EXPECT_EQ(browser.get("/v1/me").text("/active_org_id"), first.text("/id"));
    const auto in = [&](const std::string& org) {
        return once("GET", "/v1/me", nullptr, with(cookies(browser), "X-Svc-Org", org));
    };
    EXPECT_EQ(expect(200, in(second.text("/id"))).text("/active_org_id"), second.text("/id"));
    const auto strange = expect(404, in(foreign.text("/id")));
    const auto absent = expect(404, in("0192f0c1-2d3e-7f40-8123-456789abcdef"));
    EXPECT_EQ(without_ids(strange), without_ids(absent));
    expect(422, in("nonsense"));
}

TEST_F(Sessions, OfAFormerMemberWorkNowhere) {
    const auto org = expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    EXPECT_EQ(browser.get("/v1/me").text("/role"), "owner");
    ask("DELETE FROM memberships RETURNING id");
    EXPECT_EQ(browser.get("/v1/me").text("/active_org_id"), "null");
    expect(404, browser.get("/v1/orgs/" + org.text("/id")));
    expect(404, browser.get("/v1/tokens"));
}

TEST_F(Sessions, SeeAChangedRoleAtOnce) {
    const auto org = expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    EXPECT_EQ(browser.get("/v1/me").text("/role"), "owner");
    ask("UPDATE memberships SET role = 'viewer' RETURNING id");
    EXPECT_EQ(browser.get("/v1/me").text("/role"), "viewer");
    const json::value agent{{"kind", "agent"}, {"name", "Robot"}, {"agent", {{"name", "Robot"}}}};
    expect(403, browser.post("/v1/tokens", agent));
}

}  // namespace
}  // namespace svc::test
