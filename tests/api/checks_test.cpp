// The order in which a request is checked (contract section 4.3), the headers every request
// shares, and what is kept for a client that repeats itself.

#include "tests/support/descriptions.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <thread>

namespace svc::test {
namespace {

namespace json = boost::json;

class Checks : public testing::Test {
protected:
    static void SetUpTestSuite() {
        server_ = std::make_unique<Server>(Server::Options{
            .database_url = Postgres::shared().fresh_database()});
        workspace_ = std::make_unique<Workspace>(make_workspace(*server_));
        token_ = workspace_->mint("integration", "checks");
    }
    static void TearDownTestSuite() {
        workspace_.reset();
        server_.reset();
    }
    static Client with_token() {
        Client client = server_->client();
        client.token(token_);
        return client;
    }
    static std::string code(const Reply& reply) { return reply.text("/code"); }
    static json::value place(const Reply& reply) {
        return reply.json().at("detail").at(0).at("loc");
    }

    static std::unique_ptr<Server> server_;
    static std::unique_ptr<Workspace> workspace_;
    static std::string token_;
};
std::unique_ptr<Server> Checks::server_;
std::unique_ptr<Workspace> Checks::workspace_;
std::string Checks::token_;

TEST_F(Checks, TheVersionComesBeforeTheRouteAndTheCaller) {
    Client client = server_->client();
    client.always("X-Board-Version", "");
    EXPECT_EQ(code(expect(400, client.get("/v1/nowhere"))), "missing_version");
    EXPECT_EQ(code(expect(400, client.get("/v1/me"))), "missing_version");
    client.always("Compat-Version", "2025-09-03");
    EXPECT_EQ(code(expect(401, client.get("/v1/me"))), "unauthorized");
    expect(200, client.always("Compat-Version", "").get("/healthz"));
}

TEST_F(Checks, TheRouteComesBeforeTheCaller) {
    Client client = server_->client();
    EXPECT_EQ(code(expect(404, client.get("/v1/nowhere"))), "invalid_request_url");
    const Reply wrong = expect(405, client.send("PUT", "/v1/boards"));
    EXPECT_EQ(code(wrong), "invalid_request");
    EXPECT_EQ(wrong.header("allow"), "GET, HEAD, POST, OPTIONS");
}

TEST_F(Checks, AWrongMethodIsToldTheRightOnes) {
    Client client = server_->client();
    for (const char* path : {"/healthz", "/metrics", "/openapi.json", "/docs/"}) {
        const Reply wrong = expect(405, client.send("DELETE", path));
        EXPECT_EQ(code(wrong), "invalid_request") << path;
        EXPECT_EQ(wrong.header("allow"), "GET, HEAD, OPTIONS") << path;
        const Reply asked = expect(204, client.send("OPTIONS", path));
        EXPECT_EQ(asked.header("allow"), "GET, HEAD, OPTIONS") << path;
    }
    const auto everything = expect(204, server_->client().send("OPTIONS", "*")).header("allow");
    EXPECT_EQ(expect(405, client.send("TRACE", "/v1/me")).header("allow"), everything);
    EXPECT_TRUE(everything.starts_with("DELETE, GET, HEAD, PATCH, POST, ")) << everything;
    EXPECT_EQ(
        expect(204, server_->client().send("OPTIONS", "/v1/boards")).header("allow"),
        "GET, HEAD, POST, OPTIONS"
    );
}

TEST_F(Checks, AnAnswerTheClientHasWholeIsNotSentAgain) {
    Client client = with_token();
    const Reply board = expect(201, client.post("/v1/boards", R"({"name": "Known"})"));
    const Reply card = expect(
        201,
        client.post(
            "/v1/boards/" + board.text("/id") + "/cards",
            R"({"title": "Known", "column_id": ")" + board.text("/column_ids/0") + "\"}"
        )
    );
    const std::string path = "/v1/cards/" + card.text("/id");
    const std::string tag = expect(200, client.get(path + "/context")).header("etag");
    const auto status = [&](const std::string& of, const std::string& known) {
        return client.send("GET", of, {}, {{"If-None-Match", known}}).status;
    };
    for (const std::string& known :
         {tag, "W/" + tag, R"("7", )" + tag, R"("7",W/)" + tag + R"( , "8")", std::string("*")})
        EXPECT_EQ(status(path + "/context", known), 304) << known;
    for (const char* known : {R"("7")", "1", R"(W/"7", "8")", R"("11")"})
        EXPECT_EQ(status(path + "/context", known), 200) << known;
    EXPECT_EQ(status(path, "\"1\""), 200) << "a version stands for what was written alone";
}

TEST_F(Checks, TheCallerComesBeforeTheInput) {
    Client client = server_->client();
    const Reply reply = expect(401, client.post("/v1/boards?x=1", "{not json"));
    EXPECT_EQ(reply.header("www-authenticate"), "Bearer");
}

TEST_F(Checks, BadCredentialsAreAllTheSame) {
    Client client = server_->client();
    std::string wrong = token_;
    wrong[10] = wrong[10] == 'a' ? 'b' : 'a';
    for (const std::string& token : {std::string("nonsense"), std::string("svc_"), wrong}) {
        const Reply reply = expect(401, client.token(token).get("/v1/me"));
        EXPECT_EQ(code(reply), "unauthorized");
    }
}

TEST_F(Checks, TheProofOfIntentComesBeforeTheInput) {
    // Another site's page: the browser adds the cookies, nobody adds the header.
    Client browser = server_->client();
    browser.always("Cookie", "svc_session=" + workspace_->client.cookie("svc_session"));
    EXPECT_EQ(code(expect(403, browser.post("/v1/boards", "{not json"))), "csrf_failed");
}

TEST_F(Checks, TheSyntaxComesBeforeTheWorkspace) {
    Client client = with_token();
    client.always("X-Svc-Org", "0190d3c0-0000-7000-8000-000000000000");
    EXPECT_EQ(
        place(expect(422, client.post("/v1/boards", "{\"name\": }"))), json::parse(R"(["body", 9])")
    );
    EXPECT_EQ(code(expect(404, client.post("/v1/boards", "{}"))), "object_not_found");
}

TEST_F(Checks, AWorkspaceThatIsNoUuidIsNamed) {
    Client client = with_token();
    const Reply reply = expect(422, client.always("X-Svc-Org", "42").get("/v1/boards"));
    EXPECT_EQ(place(reply), json::parse(R"(["header", "x-svc-org"])"));
}

TEST_F(Checks, EveryWrongFieldIsNamedAtOnce) {
    const Reply reply = expect(
        422, with_token().post("/v1/boards", R"({"name": "", "visibility": "secret", "nme": 1})")
    );
    const auto detail = reply.json().at("detail").as_array();
    ASSERT_EQ(detail.size(), 3u) << reply.body;
    EXPECT_EQ(code(reply), "validation_error");
    EXPECT_EQ(reply.text("/request_id"), reply.header("x-request-id"));
}

TEST_F(Checks, HostileJsonIsRefusedAtItsPlace) {
    Client client = with_token();
    const std::string deep = std::string(200, '[') + std::string(200, ']');
    for (const std::string& body :
         {std::string(R"({"name": "a", "name": "b"})"),
          R"({"name": )" + deep + "}",
          std::string(R"({"name": "\u0000"})"),
          std::string(R"({"name": "\ud800"})"),
          std::string("{\"name\": \"\xff\"}"),
          std::string(R"({"name": 1e400})"),
          std::string("{\"name\": \"a\"} x"),
          std::string("[]"),
          std::string("7"),
          std::string("{")}) {
        const Reply reply = expect(422, client.post("/v1/boards", body));
        EXPECT_EQ(place(reply).at(0), "body") << body;
    }
    expect(200, client.get("/v1/me"));
}

TEST_F(Checks, TheRequestIdIsOursAndInEveryAnswer) {
    const std::regex uuid("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    Client client = with_token();
    client.always("X-Request-Id", "0190d3c0-0000-7000-8000-000000000000");
    for (const char* path : {"/v1/me", "/v1/nowhere", "/healthz"}) {
        const auto id = client.get(path).header("x-request-id");
        EXPECT_TRUE(std::regex_match(id, uuid)) << id;
        EXPECT_NE(id, "0190d3c0-0000-7000-8000-000000000000");
    }
}

// ---------------------------------------------------------------- versions

TEST_F(Checks, AVersionThatHasPassedIs412AndTheCardStays) {
    Client client = with_token();
    const Reply board = expect(201, client.post("/v1/boards", R"({"name": "Versions"})"));
    const std::string column = board.text("/column_ids/0");
    const Reply card = expect(
        201,
        client.post(
            "/v1/boards/" + board.text("/id") + "/cards",
            R"({"title": "One", "column_id": ")" + column + "\"}"
        )
    );
    const std::string path = "/v1/cards/" + card.text("/id");
    EXPECT_EQ(card.header("etag"), "\"1\"");
    const Reply two =
        expect(200, client.send("PATCH", path, R"({"title": "Two"})", {{"If-Match", "\"1\""}}));
    EXPECT_EQ(two.header("etag"), "\"2\"");
    const Reply late =
        expect(412, client.send("PATCH", path, R"({"title": "Late"})", {{"If-Match", "1"}}));
    EXPECT_EQ(code(late), "version_conflict");
    EXPECT_EQ(late.text("/additional_data/current_version"), "2");
    const Reply now = expect(200, client.get(path));
    EXPECT_EQ(now.text("/title"), "Two");
    const Reply odd = expect(422, client.send("PATCH", path, "{}", {{"If-Match", "\"x\""}}));
    EXPECT_EQ(place(odd), json::parse(R"(["header", "if-match"])"));
}

TEST_F(Checks, WhateverHasAVersionIsChangedOnlyAtTheVersionThatIsNamed) {
    const json::value document = server_->client().get("/openapi.json").json();
    int changes = 0;
    for (const auto& [path, methods] : document.at("paths").as_object()) {
        const auto* get = methods.as_object().if_contains("get");
        const auto* answer = get ? get->at("responses").as_object().if_contains("200") : nullptr;
        if (!answer || !answer->at("headers").as_object().contains("ETag")) continue;
        for (const char* method : {"patch", "delete"}) {
            const auto* change = methods.as_object().if_contains(method);
            if (!change) continue;
            ++changes;
            EXPECT_NE(
                json::serialize(change->at("parameters")).find("#/components/parameters/IfMatch"),
                std::string::npos
            ) << method
              << " " << path;
        }
    }
    EXPECT_GE(changes, 15);
}

// ------------------------------------------------------------------------ descriptions

TEST_F(Checks, EveryFieldOfTheInterfaceExplainsItself) {
    json::value document = server_->client().get("/openapi.json").json();
    // Exactly as FastAPI has them, since clients know them so.
    auto& schemas = document.at("components").at("schemas").as_object();
    schemas.erase("ValidationError");
    schemas.erase("HTTPValidationError");
    std::vector<std::string> silent;
    int fields = 0;
    find_undescribed(document, "", silent, fields);
    for (const auto& each : silent) ADD_FAILURE() << each;
    EXPECT_GT(fields, 1500);
    int parameters = 0;
    for (const auto& [path, methods] : document.at("paths").as_object())
        for (const auto& [method, operation] : methods.as_object()) {
            const auto* list = operation.as_object().if_contains("parameters");
            if (!list) continue;
            for (const auto& each : list->as_array()) {
                if (each.as_object().contains("$ref")) continue;
                ++parameters;
                EXPECT_FALSE(each.at("description").as_string().empty()) << method << " " << path;
            }
        }
    EXPECT_GT(parameters, 150);
}

// ---------------------------------------------------------------- idempotency keys

TEST_F(Checks, ARepeatedKeyGetsTheSameAnswerAndDoesNothingTwice) {
    Client client = with_token();
    const Headers key{{"Idempotency-Key", "repeat-1"}};
    const Reply first = expect(201, client.post("/v1/boards", R"({"name": "Once"})", key));
    EXPECT_EQ(first.header("idempotency-replayed"), "");
    const Reply again = expect(201, client.post("/v1/boards", R"({"name": "Once"})", key));
    EXPECT_EQ(again.header("idempotency-replayed"), "true");
    EXPECT_EQ(again.text("/id"), first.text("/id"));
    EXPECT_EQ(first.header("etag"), "\"1\"");
    EXPECT_EQ(again.header("etag"), "\"1\"");
    const Reply other = expect(422, client.post("/v1/boards", R"({"name": "Twice"})", key));
    EXPECT_EQ(other.text("/detail/0/type"), "idempotency_mismatch");
    EXPECT_EQ(place(other), json::parse(R"(["header", "idempotency-key"])"));
}

TEST_F(Checks, AKeyBelongsToItsCaller) {
    Client one = with_token(), two = server_->client();
    two.token(workspace_->mint("agent", "another"));
    const Headers key{{"Idempotency-Key", "shared-1"}};
    const auto first = one.post("/v1/boards", R"({"name": "Mine"})", key).text("/id");
    EXPECT_NE(expect(201, two.post("/v1/boards", R"({"name": "Mine"})", key)).text("/id"), first);
}

TEST_F(Checks, AKeyDoesNotGiveASecretToAWeakerCredential) {
    const Headers key{{"Idempotency-Key", "deploy-1"}};
    const std::string body = R"({"kind": "integration", "name": "Deploy", "role": "member"})";
    const auto shown = expect(201, workspace_->client.post("/v1/tokens", body, key)).text("/token");
    EXPECT_EQ(expect(201, workspace_->client.post("/v1/tokens", body, key)).text("/token"), shown);
    const Reply other = with_token().post("/v1/tokens", body, key);
    EXPECT_EQ(other.header("idempotency-replayed"), "");
    EXPECT_EQ(other.body.find(shown), std::string::npos);
}

TEST_F(Checks, AKeyHoldsAcrossAStepIntoAnotherWorkspace) {
    Workspace person = make_workspace(*server_, "grace@example.com", "First");
    const Headers key{{"Idempotency-Key", "found it"}};
    const auto id =
        expect(201, person.client.post("/v1/orgs", R"({"name": "Second"})", key)).text("/id");
    const Reply again = expect(201, person.client.post("/v1/orgs", R"({"name": "Second"})", key));
    EXPECT_EQ(again.text("/id"), id);
    EXPECT_EQ(again.header("idempotency-replayed"), "true");
}

TEST_F(Checks, ARefusedRequestLeavesItsKeyFree) {
    Client client = with_token();
    const Headers key{{"Idempotency-Key", "refused-1"}};
    expect(422, client.post("/v1/boards", R"({"name": ""})", key));
    expect(201, client.post("/v1/boards", R"({"name": "Now"})", key));
}

TEST_F(Checks, ManyAtOnceWithOneKeyMakeOneThing) {
    constexpr int crowd = 12;
    std::atomic<int> made = 0, replayed = 0, refused = 0, other = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < crowd; ++i)
        threads.emplace_back([&] {
            const Reply reply = with_token().post(
                "/v1/boards", R"({"name": "Crowd"})", {{"Idempotency-Key", "crowd-1"}}
            );
            if (reply.status == 409) ++refused;
            else if (reply.status != 201) ++other;
            else if (reply.header("idempotency-replayed") == "true") ++replayed;
            else ++made;
        });
    for (auto& each : threads) each.join();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(other, 0);
    EXPECT_EQ(made + replayed + refused, crowd);
}

TEST_F(Checks, AKeyThatIsNoKeyIsNamed) {
    const Reply reply = expect(
        422,
        with_token().post(
            "/v1/boards", R"({"name": "x"})", {{"Idempotency-Key", std::string(256, 'k')}}
        )
    );
    EXPECT_EQ(place(reply), json::parse(R"(["header", "idempotency-key"])"));
    const Reply empty =
        expect(422, with_token().post("/v1/boards", R"({"name": "x"})", {{"Idempotency-Key", ""}}));
    EXPECT_EQ(place(empty), json::parse(R"(["header", "idempotency-key"])"));
}

TEST_F(Checks, AKeyIsTheSameWhicheverWayTheColonIsWritten) {
    Client client = with_token();
    const Reply board = expect(201, client.post("/v1/boards", R"({"name": "Colons"})"));
    const json::value card{{"title", "Once"}, {"column_id", board.text("/column_ids/0")}};
    const Reply made = expect(201, client.post("/v1/boards/" + board.text("/id") + "/cards", card));
    const std::string path = "/v1/cards/" + made.text("/id");
    const Headers key{{"Idempotency-Key", "colon-1"}};
    expect(200, client.post(path + ":archive", "{}", key));
    for (const char* colon : {"%3A", "%3a", ":"}) {
        const Reply again = expect(200, client.post(path + colon + "archive", "{}", key));
        EXPECT_EQ(again.header("idempotency-replayed"), "true") << colon;
    }
}

// ---------------------------------------------------------------- cursors

TEST_F(Checks, ACursorStaysInItsList) {
    Client client = with_token();
    for (int i = 0; i < 3; ++i) expect(201, client.post("/v1/boards", R"({"name": "Paged"})"));
    const Reply first = expect(200, client.get("/v1/boards?page_size=1"));
    EXPECT_TRUE(first.json().at("has_more").as_bool());
    const std::string cursor = first.text("/next_cursor");
    const Reply second = expect(200, client.get("/v1/boards?page_size=1&start_cursor=" + cursor));
    EXPECT_NE(second.text("/results/0/id"), first.text("/results/0/id"));
    const auto refused = [&](const std::string& path) {
        const Reply reply = expect(422, client.get(path));
        EXPECT_EQ(place(reply), json::parse(R"(["query", "start_cursor"])")) << path;
    };
    refused("/v1/boards?start_cursor=nonsense");
    refused("/v1/boards?start_cursor=" + cursor + "A");
    refused("/v1/cards?start_cursor=" + cursor);
    Client other = server_->client();
    other.token(workspace_->mint("agent", "somebody else"));
    expect(422, other.get("/v1/boards?start_cursor=" + cursor));
}

// ---------------------------------------------------------------- what the operator sees

TEST_F(Checks, MetricsCountRequestsAndRoundTrips) {
    Client client = with_token();
    expect(200, client.get("/v1/me"));
    const auto trips = [&] {
        std::smatch found;
        const std::string text = client.get("/metrics").body;
        const std::regex line("workboard_request_round_trips_total\\{operation=\"get_me\"\\} (\\d+)"
        );
        return std::regex_search(text, found, line) ? std::stoi(found[1]) : -1;
    };
    const int before = trips();
    for (int i = 0; i < 10; ++i) expect(200, client.get("/v1/me"));
    EXPECT_EQ(trips() - before, 10) << "a read with a known caller is one round trip";
}

TEST_F(Checks, ReadyWhileTheDatabaseAnswers) {
    EXPECT_EQ(expect(200, server_->client().get("/readyz")).body, "ready\n");
}

}  // namespace
}  // namespace svc::test
