#include "tests/support/accounts_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class LogIn : public AccountsTest {
protected:
    LogIn() { person("ada@example.com"); }
};

TEST_F(LogIn, GivesASession) {
    Client browser = client();
    const auto session = expect(200, log_in(browser, "ada@example.com"));
    EXPECT_EQ(session.text("/object"), "auth_session");
    EXPECT_EQ(session.text("/user/email"), "ada@example.com");
    EXPECT_EQ(session.text("/user/auth_methods"), R"(["password"])");
    EXPECT_EQ(session.text("/session/auth_method"), "password");
    EXPECT_EQ(session.text("/session/ip_address"), "127.0.0.1");
    EXPECT_EQ(session.text("/csrf_token"), browser.cookie("svc_csrf"));
    EXPECT_EQ(expect(200, browser.get("/v1/me")).text("/id"), session.text("/user/id"));
    EXPECT_EQ(browser.get("/v1/users/me").body, browser.get("/v1/me").body);
}

TEST_F(LogIn, SetsCookiesThatScriptsAndOtherSitesCannotUse) {
    const auto session = expect(200, log_in("ada@example.com"));
    std::map<std::string, std::string> cookies;
    for (const auto& [name, value] : session.headers)
        if (name == "set-cookie") cookies[value.substr(0, value.find('='))] = value;
    ASSERT_EQ(cookies.size(), 2u);
    EXPECT_THAT(cookies["svc_session"], HasSubstr("; HttpOnly"));
    EXPECT_THAT(cookies["svc_csrf"], Not(HasSubstr("HttpOnly")));
    for (const auto& [name, cookie] : cookies) {
        EXPECT_THAT(cookie, HasSubstr("; Path=/"));
        EXPECT_THAT(cookie, HasSubstr("; SameSite=Lax"));
        EXPECT_THAT(cookie, HasSubstr("; Max-Age=7776000"));
        EXPECT_THAT(cookie, Not(HasSubstr("Secure"))) << "the address is http";
    }
}

TEST_F(LogIn, AnUnknownAddressAndAWrongPasswordAreAnsweredAlike) {
    const auto unknown = expect(401, log_in("nobody@example.com"));
    const auto wrong = expect(401, log_in("ada@example.com", other_password));
    EXPECT_EQ(without_ids(unknown), without_ids(wrong));
    EXPECT_EQ(header_names(unknown), header_names(wrong));
    EXPECT_EQ(unknown.header("www-authenticate"), "Bearer");
}

TEST_F(LogIn, TooManyWrongOnesAreRefused) {
    for (int i = 0; i < 10; ++i) expect(401, log_in("ada@example.com", other_password));
    const auto refused = expect(429, log_in("ada@example.com", other_password));
    EXPECT_EQ(refused.text("/code"), "rate_limited");
    EXPECT_EQ(refused.text("/additional_data/rate_limit_reason"), "log_in");
    EXPECT_GE(std::stoi(refused.header("retry-after")), 1);
    EXPECT_LE(std::stoi(refused.header("retry-after")), 900);
    expect(429, log_in("ada@example.com", password));
    expect(401, log_in("nobody@example.com"));
}

TEST_F(LogIn, AnUnknownAddressIsLimitedAlike) {
    for (int i = 0; i < 10; ++i) expect(401, log_in("nobody@example.com"));
    expect(429, log_in("nobody@example.com"));
}

TEST_F(LogIn, GuessesAtOnceAreCountedOneByOne) {
    const auto replies =
        at_once(20, [&](int) { return log_in("ada@example.com", other_password); });
    EXPECT_EQ(count_status(replies, 401), 10);
    EXPECT_EQ(count_status(replies, 429), 10);
}

TEST_F(LogIn, RightOnesAreNotCounted) {
    for (int i = 0; i < 12; ++i) expect(200, log_in("ada@example.com"));
    for (int i = 0; i < 10; ++i) expect(401, log_in("ada@example.com", other_password));
    expect(429, log_in("ada@example.com"));
}

TEST_F(LogIn, AWindowEnds) {
    for (int i = 0; i < 11; ++i) log_in("ada@example.com", other_password);
    expect(429, log_in("ada@example.com"));
    ask("UPDATE rate_windows SET opened_at = now() - interval '15 minutes' RETURNING count");
    expect(200, log_in("ada@example.com"));
}

TEST_F(LogIn, EndsTheSessionTheBrowserHadBefore) {
    Client browser = client();
    expect(200, log_in(browser, "ada@example.com"));
    const auto before = browser.cookie("svc_session");
    expect(200, log_in(browser, "ada@example.com"));
    EXPECT_NE(browser.cookie("svc_session"), before);
    expect(401, once("GET", "/v1/me", nullptr, {{"Cookie", "svc_session=" + before}}));
    expect(200, browser.get("/v1/me"));
}

TEST_F(LogIn, AnotherSitesPageCannotLogAnybodyIn) {
    const json::value body{{"email", "ada@example.com"}, {"password", password}};
    for (const Headers& headers :
         {Headers{{"Origin", "https://evil.example"}}, Headers{{"Sec-Fetch-Site", "cross-site"}}})
        EXPECT_EQ(
            expect(403, once("POST", "/v1/auth/login", body, headers)).text("/code"), "csrf_failed"
        );
    expect(
        200,
        once(
            "POST",
            "/v1/auth/login",
            body,
            {{"Origin", "http://127.0.0.1:" + std::to_string(server.port())}}
        )
    );
}

TEST_F(LogIn, ABadBearerDoesNotMatter) {
    const json::value body{{"email", "ada@example.com"}, {"password", password}};
    expect(200, once("POST", "/v1/auth/login", body, {{"Authorization", "Bearer nonsense"}}));
}

TEST_F(LogIn, BeginsInTheWorkspaceOneWasInLast) {
    Client browser = client();
    expect(200, log_in(browser, "ada@example.com"));
    const auto org = expect(201, browser.post("/v1/orgs", json::value{{"name", "Acme"}}));
    const auto session = expect(200, log_in("ada@example.com"));
    EXPECT_EQ(session.text("/active_org_id"), org.text("/id"));
    EXPECT_EQ(session.text("/user/active_org_id"), org.text("/id"));
    EXPECT_EQ(session.text("/user/role"), "owner");
}

TEST_F(LogIn, RenewsAHashOfAnotherCost) {
    EXPECT_THAT(ask("SELECT hash FROM passwords"), HasSubstr("m=8192,"));
    Server dearer({.database_url = database, .settings = {"auth.password_memory_mib=9"}});
    Client browser = dearer.client();
    expect(200, log_in(browser, "ada@example.com"));
    EXPECT_THAT(ask("SELECT hash FROM passwords"), HasSubstr("m=9216,"));
    expect(200, log_in("ada@example.com"));
}

class LogInOverHttps : public AccountsTest {
protected:
    LogInOverHttps() : AccountsTest({"server.base_url=https://board.example.com"}) {}
};

TEST_F(LogInOverHttps, CookiesAreForHttpsAlone) {
    person("ada@example.com");
    EXPECT_THAT(
        server.mail_to("ada@example.com", 1),
        HasSubstr("https://board.example.com/verify-email?token=")
    );
    const auto session = expect(200, log_in("ada@example.com"));
    for (const auto& [name, value] : session.headers)
        if (name == "set-cookie") {
            EXPECT_THAT(value, HasSubstr("; Secure"));
        }
    const json::value body{{"email", "ada@example.com"}, {"password", password}};
    for (const char* own : {"https://board.example.com", "https://BOARD.example.com:443"})
        expect(200, once("POST", "/v1/auth/login", body, {{"Origin", own}}));
    // Whoever sits on the wire can answer in our name where there is no TLS.
    for (const char* other :
         {"http://board.example.com",
          "https://board.example.com:8443",
          "https://board.example.com.evil.example",
          "https://evil.example/board.example.com",
          "null"})
        expect(403, once("POST", "/v1/auth/login", body, {{"Origin", other}}));
}

/// Two workers, one slow hash at a time.
class LogInUnderLoad : public AccountsTest {
protected:
    LogInUnderLoad()
        : AccountsTest(
              {"server.workers=2",
               "auth.hash_threads=1",
               "auth.hash_queue=4",
               "auth.log_ins=1000",
               "auth.password_memory_mib=64"}
          ) {}
};

TEST_F(LogInUnderLoad, HoldsNoWorkerWhileItHashes) {
    std::atomic<int> running{4};
    auto storm = std::async(std::launch::async, [&] {
        return at_once(4, [&](int i) {
            auto reply = log_in("nobody" + std::to_string(i) + "@example.com");
            --running;
            return reply;
        });
    });
    Client quick = client();
    int answered_meanwhile = 0;
    // Until the storm is over, not until all have counted themselves out: one that throws does not.
    while (storm.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
        expect(200, quick.get("/healthz"));
        if (running > 1) ++answered_meanwhile;
    }
    EXPECT_EQ(count_status(storm.get(), 401), 4);
    // Four hashes one after the other take a good part of a second; with both workers held by
    // the first two nothing would be answered before a half of them is done.
    EXPECT_GT(answered_meanwhile, 20);
}

TEST_F(LogInUnderLoad, BeyondTheQueueIsRefusedForAMoment) {
    const auto replies =
        at_once(12, [&](int i) { return log_in("nobody" + std::to_string(i) + "@example.com"); });
    const int refused = count_status(replies, 503);
    EXPECT_GE(refused, 1);
    EXPECT_EQ(count_status(replies, 401), 12 - refused);
    for (const auto& each : replies)
        if (each.status == 503) {
            EXPECT_EQ(each.text("/code"), "service_unavailable");
            EXPECT_GE(std::stoi(each.header("retry-after")), 1);
        }
    expect(401, log_in("nobody@example.com"));
}

}  // namespace
}  // namespace svc::test
