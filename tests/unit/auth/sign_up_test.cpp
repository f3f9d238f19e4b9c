#include "tests/support/accounts_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class SignUp : public AccountsTest {};

TEST_F(SignUp, MakesNobodyUntilTheLinkIsFollowed) {
    const auto made = expect(201, sign_up("ada@example.com"));
    EXPECT_EQ(made.text("/object"), "user");
    EXPECT_EQ(made.text("/email"), "ada@example.com");
    EXPECT_EQ(made.text("/person/email"), "ada@example.com");
    EXPECT_EQ(made.text("/email_verified"), "false");
    EXPECT_THAT(made.header("set-cookie"), Not(HasSubstr("svc_session")));
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "0");

    EXPECT_EQ(expect(403, log_in("ada@example.com")).text("/code"), "email_not_verified");
    expect(401, log_in("ada@example.com", other_password));

    const auto session = expect(200, verify(mailed_token("ada@example.com")));
    EXPECT_EQ(session.text("/object"), "auth_session");
    EXPECT_EQ(session.text("/user/email_verified"), "true");
    EXPECT_EQ(session.text("/session/auth_method"), "email_verification");
    EXPECT_EQ(session.text("/session/is_current"), "true");
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "1");
    EXPECT_EQ(ask("SELECT count(*) FROM sign_ups"), "0");
    expect(200, log_in("ada@example.com"));
}

TEST_F(SignUp, KeepsNeitherPasswordNorTokenInTheClear) {
    expect(201, sign_up("ada@example.com"));
    const auto token = mailed_token("ada@example.com");
    const auto row = ask("SELECT s::text FROM sign_ups s");
    EXPECT_THAT(row, Not(HasSubstr(password)));
    EXPECT_THAT(row, Not(HasSubstr(token)));
    EXPECT_THAT(row, HasSubstr("$argon2id$"));
    // A mail that has gone out leaves nothing that could be followed.
    EXPECT_TRUE(eventually([&] { return ask("SELECT status FROM mail_outbox") == "sent"; }));
    EXPECT_THAT(ask("SELECT m::text FROM mail_outbox m"), Not(HasSubstr(token)));
}

TEST_F(SignUp, ALinkWorksOnce) {
    expect(201, sign_up("ada@example.com"));
    const auto token = mailed_token("ada@example.com");
    expect(200, verify(token));
    const auto again = expect(422, verify(token));
    EXPECT_EQ(again.text("/code"), "validation_error");
    EXPECT_EQ(first_loc(again), json::parse(R"(["body","token"])"));
    expect(422, verify("nonsense"));
}

TEST_F(SignUp, ALinkRunsOut) {
    expect(201, sign_up("ada@example.com"));
    ask("UPDATE sign_ups SET expires_at = now() RETURNING id");
    expect(422, verify(mailed_token("ada@example.com")));
    expect(401, log_in("ada@example.com"));
}

TEST_F(SignUp, AnAddressIsTheSameWhateverItsCase) {
    expect(201, sign_up("Ada.L@Example.com"));
    const auto session = expect(200, verify(mailed_token("Ada.L@Example.com")));
    EXPECT_EQ(session.text("/user/email"), "Ada.L@Example.com");
    expect(200, log_in("aDa.l@eXample.COM"));
}

// ---- what a stranger learns: nothing

TEST_F(SignUp, TheAnswerDoesNotTellWhetherThereIsAnAccount) {
    person("ada@example.com");
    const auto known = expect(201, sign_up("ada@example.com"));
    const auto unknown = expect(201, sign_up("eve@example.com"));
    const auto mask = [](const Reply& reply, const std::string& email) {
        return std::regex_replace(without_ids(reply), std::regex(email), "ADDRESS");
    };
    EXPECT_EQ(mask(known, "ada@example.com"), mask(unknown, "eve@example.com"));
    EXPECT_EQ(header_names(known), header_names(unknown));
}

TEST_F(SignUp, EveryAnswerHasAnIdOfItsOwn) {
    const auto real = person("ada@example.com").get("/v1/me").text("/id");
    for (const char* email : {"ada@example.com", "eve@example.com"}) {
        const auto first = sign_up(email).text("/id"), second = sign_up(email).text("/id");
        EXPECT_NE(first, second) << email;
        EXPECT_NE(first, real);
    }
}

TEST_F(SignUp, TheOwnerOfAnAccountIsToldAndNothingChanges) {
    person("ada@example.com");
    expect(201, sign_up("ada@example.com", other_password));
    const auto mail = server.mail_to("ada@example.com", 2);
    EXPECT_THAT(mail, HasSubstr("already have a Workboard account"));
    EXPECT_THAT(mail, Not(HasSubstr("token=")));
    expect(403, log_in("ada@example.com", other_password));
    expect(200, log_in("ada@example.com"));
}

// Whoever signs up with somebody's address knows a password that goes with it.
TEST_F(SignUp, APasswordPreparedByAStrangerDoesNotTellWhetherThereIsAnAccount) {
    person("ada@example.com");
    expect(201, sign_up("ada@example.com", other_password));
    expect(201, sign_up("eve@example.com", other_password));
    const auto known = expect(403, log_in("ada@example.com", other_password));
    const auto unknown = expect(403, log_in("eve@example.com", other_password));
    EXPECT_EQ(without_ids(known), without_ids(unknown));
    EXPECT_EQ(header_names(known), header_names(unknown));
}

TEST_F(SignUp, MailsToOneAddressAreLimitedWithoutItShowing) {
    std::vector<std::string> answers;
    for (int i = 0; i < 8; ++i)
        answers.push_back(without_ids(expect(201, sign_up("ada@example.com"))));
    for (const auto& each : answers) EXPECT_EQ(each, answers.front());
    EXPECT_EQ(ask("SELECT count(*) FROM mail_outbox"), "5");
}

// ---- what a stranger can prepare: nothing

TEST_F(SignUp, APasswordPreparedByAStrangerIsWorthNothing) {
    expect(201, sign_up("ada@example.com", other_password));
    const auto strangers = mailed_token("ada@example.com", 1);
    expect(201, sign_up("ada@example.com", password));
    server.mail_to("ada@example.com", 2);
    std::string own;
    for (const auto& mail : server.mails_to("ada@example.com"))
        if (mail_value(mail, "token=") != strangers) own = mail_value(mail, "token=");
    expect(200, verify(own));
    expect(422, verify(strangers));
    // As before the link was followed: the stranger does not learn that it was.
    expect(403, log_in("ada@example.com", other_password));
    expect(200, log_in("ada@example.com", password));
}

TEST_F(SignUp, APersonWhomAnAdminAddedIsVerifiedByIt) {
    ask("INSERT INTO users (id, email, email_key, email_verified, name) VALUES "
        "('0192f0c1-2d3e-7f40-8123-456789abcdef', 'ada@example.com', 'ada@example.com', false, "
        "'Placeholder') RETURNING id");
    expect(401, log_in("ada@example.com"));
    expect(201, sign_up("ada@example.com"));
    const auto session = expect(200, verify(mailed_token("ada@example.com")));
    EXPECT_EQ(session.text("/user/id"), "0192f0c1-2d3e-7f40-8123-456789abcdef");
    EXPECT_EQ(session.text("/user/name"), "Ada");
    EXPECT_EQ(session.text("/user/version"), "2");
}

// ---- at once

TEST_F(SignUp, TwoAtOnceForOneAddressMakeOnePerson) {
    const auto replies = at_once(4, [&](int) { return sign_up("ada@example.com"); });
    EXPECT_EQ(count_status(replies, 201), 4);
    server.mail_to("ada@example.com", 4);
    std::vector<std::string> tokens;
    for (const auto& mail : server.mails_to("ada@example.com"))
        tokens.push_back(mail_value(mail, "token="));
    const auto verified = at_once(4, [&](int i) { return verify(tokens.at(i)); });
    EXPECT_EQ(count_status(verified, 200), 1);
    EXPECT_EQ(count_status(verified, 422), 3);
    EXPECT_EQ(ask("SELECT count(*) FROM users"), "1");
}

TEST_F(SignUp, OneLinkFollowedTwiceAtOnceSignsInOnce) {
    expect(201, sign_up("ada@example.com"));
    const auto token = mailed_token("ada@example.com");
    const auto replies = at_once(4, [&](int) { return verify(token); });
    EXPECT_EQ(count_status(replies, 200), 1);
    EXPECT_EQ(count_status(replies, 422), 3);
    EXPECT_EQ(ask("SELECT count(*) FROM sessions"), "1");
}

// ---- what is refused

TEST_F(SignUp, EveryWrongFieldIsNamed) {
    const auto refused = expect(
        422,
        once(
            "POST",
            "/v1/auth/signup",
            {{"email", "nobody"},
             {"password", "seven77"},
             {"name", "  "},
             {"locale", "German"},
             {"timezone", "Europe Zurich"},
             {"admin", true}}
        )
    );
    std::vector<std::string> fields;
    const auto body = refused.json();
    for (const auto& each : body.at("detail").as_array())
        fields.emplace_back(each.at("loc").at(1).as_string());
    EXPECT_THAT(
        fields, testing::UnorderedElementsAre("email", "password", "name", "timezone", "admin")
    );
    EXPECT_THAT(refused.body, Not(HasSubstr("seven77")));
}

TEST_F(SignUp, ATimeZoneHasToExist) {
    const auto sign_up_in = [&](const char* zone) {
        return once(
            "POST",
            "/v1/auth/signup",
            {{"email", "ada@example.com"}, {"password", password}, {"timezone", zone}}
        );
    };
    EXPECT_EQ(
        first_loc(expect(422, sign_up_in("Europe/Atlantis"))), json::parse(R"(["body","timezone"])")
    );
    expect(201, sign_up_in("Europe/Zurich"));
}

TEST_F(SignUp, AnotherSitesPageCannotSignAnybodyUp) {
    const json::value body{{"email", "ada@example.com"}, {"password", password}};
    for (const Headers& headers :
         {Headers{{"Origin", "https://evil.example"}},
          Headers{{"Origin", "null"}},
          Headers{{"Sec-Fetch-Site", "cross-site"}}})
        EXPECT_EQ(
            expect(403, once("POST", "/v1/auth/signup", body, headers)).text("/code"), "csrf_failed"
        );
    expect(201, once("POST", "/v1/auth/signup", body, {{"Origin", "http://127.0.0.1"}}));
}

class SignUpFromOnePlace : public AccountsTest {
protected:
    SignUpFromOnePlace() : AccountsTest({"auth.sign_ups_from_one_place=3"}) {}
};

TEST_F(SignUpFromOnePlace, IsLimited) {
    for (int i = 0; i < 3; ++i) expect(201, sign_up("ada" + std::to_string(i) + "@example.com"));
    const auto refused = expect(429, sign_up("ada4@example.com"));
    EXPECT_EQ(refused.text("/code"), "rate_limited");
    EXPECT_EQ(refused.text("/additional_data/rate_limit_reason"), "sign_up");
    EXPECT_GT(std::stoi(refused.header("retry-after")), 3000);
}

// ---- whose password it is

const Headers of_our_page{{"Sec-Fetch-Site", "same-origin"}};

std::string as_text(const json::value& body) { return json::serialize(body); }

TEST_F(SignUp, ConfirmedInTheSameBrowserBringsItsPassword) {
    Client browser = client();
    const json::value body{{"email", "ada@example.com"}, {"password", password}};
    const auto waiting = expect(201, browser.post("/v1/auth/signup", as_text(body), of_our_page));
    EXPECT_THAT(waiting.header("set-cookie"), HasSubstr("HttpOnly"));
    const json::value token{{"token", mailed_token("ada@example.com")}};
    const auto session =
        expect(200, browser.post("/v1/auth/verify-email", as_text(token), of_our_page));
    EXPECT_EQ(session.text("/user/has_password"), "true");
    expect(200, log_in("ada@example.com"));
}

// Mallory signs up with somebody's address and waits for its owner to press the button in the mail.
TEST_F(SignUp, ConfirmedInAnotherBrowserBringsNoPassword) {
    Client mallory = client(), victim = client();
    const json::value body{{"email", "ada@example.com"}, {"password", password}};
    const auto waiting = expect(201, mallory.post("/v1/auth/signup", as_text(body), of_our_page));
    // A sign-up of Mallory's own does not make the other one Mallory's, nor does the other's id
    // alone.
    const json::value own{{"email", "victim@example.com"}, {"password", other_password}};
    expect(201, victim.post("/v1/auth/signup", as_text(own), of_our_page));
    const json::value token{{"token", mailed_token("ada@example.com")}};
    const auto session =
        expect(200, victim.post("/v1/auth/verify-email", as_text(token), of_our_page));
    EXPECT_EQ(session.text("/user/has_password"), "false");
    EXPECT_EQ(victim.get("/v1/me").text("/has_password"), "false");
    EXPECT_EQ(victim.get("/v1/me").text("/email"), "ada@example.com");
    expect(401, log_in("ada@example.com"));
}

TEST_F(SignUp, AForgedCookieBringsNoPassword) {
    const json::value body{{"email", "ada@example.com"}, {"password", password}};
    const auto waiting = expect(201, once("POST", "/v1/auth/signup", body));
    const json::value token{{"token", mailed_token("ada@example.com")}};
    const Headers forged{
        {"Origin", "http://127.0.0.1:" + std::to_string(server.port())},
        {"Cookie", "svc_signup=" + waiting.text("/id") + "." + std::string(43, 'A')}};
    const auto session = expect(200, once("POST", "/v1/auth/verify-email", token, forged));
    EXPECT_EQ(session.text("/user/has_password"), "false");
    EXPECT_EQ(ask("SELECT count(*) FROM passwords"), "0");
}

}  // namespace
}  // namespace svc::test
