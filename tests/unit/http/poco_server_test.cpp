#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

/// What becomes of handlers written against POCO in a real server, with the routes of
/// tests/modules/poco_handlers.
namespace svc::test {

class PocoServer : public testing::Test {
protected:
    static void SetUpTestSuite() {
        server_ = std::make_unique<Server>(Server::Options{
            .database_url = Postgres::shared().fresh_database(),
            .settings = {"modules=mail,orgs,auth,poco_handlers"},
        });
    }
    static void TearDownTestSuite() { server_.reset(); }

    const Server& server() const { return *server_; }
    Client client = server_->client();

    /// A 500 as the API answers it: what went wrong is in the log alone, under the id of the
    /// request.
    void expect_noted(const std::string& path, const std::string& why) {
        const auto reply = expect(500, client.get(path));
        EXPECT_EQ(reply.header("content-type"), "application/json");
        EXPECT_EQ(reply.text("/object"), "error");
        EXPECT_EQ(reply.text("/code"), "internal_server_error");
        EXPECT_EQ(reply.text("/request_id"), reply.header("x-request-id"));
        EXPECT_EQ(reply.body.find(why), std::string::npos) << reply.body;
        EXPECT_EQ(reply.body.find("half an answer"), std::string::npos) << reply.body;
        EXPECT_EQ(reply.header("x-half"), "") << "of the answer that was given up";
        const std::string line = "request " + reply.header("x-request-id") + ": ";
        EXPECT_TRUE(eventually([&] {
            const auto log = server().output();
            const auto at = log.find(line);
            return at != std::string::npos && log.find(why, at) < log.find('\n', at);
        })) << server().output();
    }

private:
    static inline std::unique_ptr<Server> server_;
};

TEST_F(PocoServer, PassesHeadersAndCookiesBothWays) {
    const Headers headers{{"X-Name", "a value"}};
    const auto first = expect(200, client.send("GET", "/poco/headers", "", headers));
    EXPECT_EQ(first.body, "GET /poco/headers 127.0.0.1");
    EXPECT_EQ(first.header("x-echo"), "a value");
    EXPECT_EQ(first.header("set-cookie"), "visits=i; HttpOnly");
    EXPECT_EQ(client.cookie("second"), "2") << "both cookies have headers of their own";
    const auto second = expect(200, client.send("GET", "/poco/headers", "", headers));
    EXPECT_EQ(second.header("set-cookie"), "visits=ii; HttpOnly");
}

TEST_F(PocoServer, AddsWhatEveryAnswerHas) {
    const auto reply = expect(200, client.get("/poco/headers"));
    EXPECT_EQ(reply.header("x-content-type-options"), "nosniff");
    EXPECT_EQ(
        reply.header("content-security-policy"), "default-src 'none'; frame-ancestors 'none'"
    );
    EXPECT_NE(reply.header("x-request-id"), "");
}

TEST_F(PocoServer, AnswersWhatHandlersThrowAsItsOwnFailures) {
    expect_noted("/poco/throws", "the tape has torn");
    expect_noted("/poco/throws-standard", "the belt has slipped");
    expect_noted("/poco/throws-number", "no std::exception");
    const auto missing = expect(404, client.get("/poco/throws-failure"));
    EXPECT_EQ(missing.text("/message"), "There is no such tape.");
    EXPECT_EQ(client.get("/poco/headers").status, 200) << "the next is served as ever";
}

TEST_F(PocoServer, AnswersA501WhenTheFactoryMakesNoHandler) {
    const auto reply = expect(501, client.get("/poco/nothing"));
    EXPECT_EQ(reply.body, "");
    EXPECT_EQ(reply.header("content-length"), "0");
    EXPECT_EQ(client.post("/poco/nothing", "body").status, 501);
    EXPECT_EQ(client.get("/poco/headers").status, 200);
}

TEST_F(PocoServer, FramesAnswersItselfWhateverHandlersSay) {
    const auto reply = expect(200, client.get("/poco/frames"));
    EXPECT_EQ(reply.body, "more than three");
    EXPECT_EQ(reply.header("transfer-encoding"), "");
    EXPECT_EQ(reply.header("content-length"), "15");
    EXPECT_EQ(reply.header("x-made-up"), "") << "no handler adds a line by way of a value";
    EXPECT_EQ(client.get("/poco/headers").status, 200);
}

TEST_F(PocoServer, SendsBigAnswersWhole) {
    const auto reply = expect(200, client.get("/poco/much"));
    EXPECT_EQ(reply.body, std::string(16 << 20, 'm'));
    const auto head = expect(200, client.send("HEAD", "/poco/much"));
    EXPECT_EQ(head.header("content-length"), std::to_string(16 << 20));
    EXPECT_EQ(client.get("/poco/headers").status, 200);
}

TEST_F(PocoServer, LetsInWhomTheRouteLetsIn) {
    EXPECT_EQ(expect(401, client.get("/members")).text("/code"), "unauthorized");
    auto member = make_workspace(server());
    EXPECT_EQ(expect(200, member.client.get("/members")).body, "GET /members 127.0.0.1");
}

}  // namespace svc::test
