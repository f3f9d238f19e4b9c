#include "tests/support/eventually.hpp"
#include "tests/support/places.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

#include <csignal>

/// The way of a newcomer through the whole product, on the real program with its own database:
/// sign up, read the mail, make a workspace and a board, have software work on it by REST and by
/// MCP, see a script answer, stop the server and kill it, and find everything as it was.
namespace svc::test {

namespace json = boost::json;
using std::chrono::seconds;

namespace {

constexpr int lease_seconds = 20;

class Tour : public testing::Test {
protected:
    // ---- the account
    void sign_up() {
        const json::value person{
            {"email", "grace@example.com"},
            {"password", "correct horse battery"},
            {"name", "Grace"}};
        const auto made = expect(201, browser_.post("/v1/auth/signup", person));
        EXPECT_EQ(made.text("/email_verified"), "false");
        const json::value login{
            {"email", "grace@example.com"}, {"password", "correct horse battery"}};
        EXPECT_EQ(browser_.post("/v1/auth/login", login).status / 100, 4) << "not verified yet";
        const auto mail = server_.mail_to("grace@example.com");
        const json::value token{{"token", mail_value(mail, "token=")}};
        const auto session = expect(200, browser_.post("/v1/auth/verify-email", token));
        EXPECT_EQ(session.text("/user/email_verified"), "true");
        expect(204, browser_.post("/v1/auth/logout"));
        expect(401, browser_.get("/v1/me"));
        expect(200, browser_.post("/v1/auth/login", login));
        EXPECT_EQ(expect(200, browser_.get("/v1/me")).text("/email"), "grace@example.com");
    }

    // ---- the workspace, its tokens, its board
    void set_up() {
        org_ =
            expect(201, browser_.post("/v1/orgs", json::value{{"name", "Compilers"}})).text("/id");
        browser_.always("X-Svc-Org", org_);
        program_.token(mint({{"kind", "integration"}, {"name", "Importer"}, {"role", "member"}}));
        agent_token_ = mint(
            {{"kind", "agent"},
             {"name", "Worker"},
             {"role", "member"},
             {"agent", {{"name", "Worker"}}}}
        );
        agent_.token(agent_token_);
        EXPECT_EQ(expect(200, agent_.get("/v1/me")).text("/type"), "bot");
        board_ =
            expect(201, program_.post("/v1/boards", json::value{{"name", "Bugs"}})).text("/id");
        const json::value inbox{
            {"name", "Inbox"},
            {"kind", "queue"},
            {"queue", {{"enabled", true}, {"lease_ttl_seconds", 120}, {"backoff_seconds", 0}}},
        };
        inbox_ = expect(201, program_.post(columns(), inbox)).text("/id");
        const json::value fixed{{"name", "Fixed"}, {"kind", "done"}};
        fixed_ = expect(201, program_.post(columns(), fixed)).text("/id");
        for (const char* title : {"Crash on start", "Typo in the help", "Slow export"})
            cards_.push_back(create_card(title));
    }
    std::string mint(const json::value& body) {
        return expect(201, browser_.post("/v1/tokens", body)).text("/token");
    }
    std::string create_card(const std::string& title) {
        const json::value card{{"column_id", inbox_}, {"title", title}};
        return expect(201, program_.post("/v1/boards/" + board_ + "/cards", card)).text("/id");
    }
    std::string columns() const { return "/v1/boards/" + board_ + "/columns"; }

    // ---- the work
    Reply claim(const json::value& how = json::object()) {
        return expect(200, agent_.post(columns() + "/" + inbox_ + ":claim-next", how));
    }
    Reply end_lease(const Reply& claimed, const std::string& verb, json::object with) {
        with["lease_token"] = claimed.text("/lease_token");
        return expect(
            200,
            agent_.post("/v1/leases/" + claimed.text("/lease/id") + ":" + verb, json::value(with))
        );
    }
    void work_by_rest() {
        const auto first = claim();
        ASSERT_EQ(first.text("/card/id"), cards_[0]);
        EXPECT_EQ(first.text("/lease/holder/name"), "Worker");
        const auto completed = end_lease(
            first, "complete", {{"target_column_id", fixed_}, {"result", {{"commit", "4f2a"}}}}
        );
        EXPECT_EQ(completed.text("/lease/state"), "completed");
        EXPECT_EQ(completed.text("/card/column_id"), fixed_);

        const auto second = claim();
        ASSERT_EQ(second.text("/card/id"), cards_[1]);
        const auto failed = end_lease(second, "fail", {{"error", "The dictionary is missing"}});
        EXPECT_EQ(failed.text("/lease/state"), "failed");
        const auto card = get_card(cards_[1]);
        EXPECT_EQ(card.text("/queue/last_error"), "The dictionary is missing");
        EXPECT_EQ(card.text("/queue/attempts"), "1");
    }
    Reply call_tool(const std::string& tool, const json::object& arguments) {
        const auto called =
            run({"node",
                 "tests/clients/support/call_tool.mjs",
                 "http://127.0.0.1:" + std::to_string(server_.port()),
                 agent_token_,
                 tool,
                 json::serialize(arguments)},
                {},
                source_folder());
        EXPECT_EQ(called.code, 0) << called.output;
        return {.status = 200, .headers = {}, .body = called.output};
    }
    void work_by_mcp() {
        const json::object queue{{"board_id", board_}, {"column_id", inbox_}};
        // The failed card went back to its place in the queue, in front of the third.
        const auto again = call_tool("claim_next_card", queue);
        EXPECT_EQ(again.text("/card/id"), cards_[1]);
        EXPECT_EQ(again.text("/lease/attempt"), "2");
        const auto third = call_tool("claim_next_card", queue);
        EXPECT_EQ(third.text("/card/id"), cards_[2]);
        const auto done = call_tool(
            "complete_lease",
            {{"lease_id", third.text("/lease/id")},
             {"lease_token", third.text("/lease_token")},
             {"target_column_id", fixed_}}
        );
        EXPECT_EQ(done.text("/card/column_id"), fixed_);
        const auto failed = call_tool(
            "fail_lease",
            {{"lease_id", again.text("/lease/id")},
             {"lease_token", again.text("/lease_token")},
             {"error", "Still no dictionary"}}
        );
        EXPECT_EQ(failed.text("/lease/state"), "failed");
    }
    /// The one that is on answers a completed lease with a label.
    void see_the_script() {
        for (const auto& card : {cards_[0], cards_[2]})
            EXPECT_TRUE(eventually([&] {
                return get_card(card).json().at("labels").as_array().size() == 1;
            })) << get_card(card).body
                << server_.output();
    }

    // ---- the end, twice
    void stop_in_the_middle() {
        for (auto left = claim(); left.text("/claimed") == "true"; left = claim())
            end_lease(left, "complete", {{"target_column_id", fixed_}});
        Connection waiting(server_.port());
        waiting.write(agent_.request(
            "POST", columns() + "/" + inbox_ + ":claim-next", R"({"wait_seconds": 40})"
        ));
        ASSERT_TRUE(eventually([&] {
            return browser_.get("/metrics").body.find("workboard_calls_waiting 1") !=
                   std::string::npos;
        }));
        server_.signal(SIGTERM);
        const auto answer = waiting.read("POST");
        EXPECT_EQ(answer.status, 200);
        EXPECT_EQ(answer.text("/claimed"), "false");
        EXPECT_EQ(server_.end(SIGTERM), 0);
    }
    void survive_a_kill() {
        server_.start();
        for (const auto& card : cards_) EXPECT_EQ(get_card(card).text("/column_id"), fixed_);
        const auto kept = create_card("Held by somebody who is gone");
        const auto held = claim({{"lease_ttl_seconds", lease_seconds}});
        ASSERT_EQ(held.text("/card/id"), kept);
        const auto before = get_card(kept);
        const auto late = create_card("Written a moment before the end");
        EXPECT_EQ(server_.end(SIGKILL), 128 + SIGKILL);
        server_.start();
        EXPECT_EQ(get_card(late).text("/title"), "Written a moment before the end");
        EXPECT_EQ(get_card(kept).json(), before.json());
        // The lease ends with its time, whoever held it is gone.
        Reply claimed;
        EXPECT_TRUE(eventually([&] {
            claimed = claim();
            return claimed.text("/claimed") == "true" && claimed.text("/card/id") == kept;
        }));
        EXPECT_EQ(claimed.text("/lease/attempt"), "2") << claimed.body;
    }

    Reply get_card(const std::string& id) { return expect(200, program_.get("/v1/cards/" + id)); }

    Server server_{{.settings = {"automations.scripts=label-results.lua"}}};
    Client browser_ = server_.client(), program_ = server_.client(), agent_ = server_.client();
    std::string org_, agent_token_, board_, inbox_, fixed_;
    std::vector<std::string> cards_;
};

}  // namespace

TEST_F(Tour, ANewcomersBoardIsWorkedOnAndOutlivesTheServer) {
    ASSERT_NO_FATAL_FAILURE(sign_up());
    ASSERT_NO_FATAL_FAILURE(set_up());
    ASSERT_NO_FATAL_FAILURE(work_by_rest());
    ASSERT_NO_FATAL_FAILURE(work_by_mcp());
    ASSERT_NO_FATAL_FAILURE(see_the_script());
    ASSERT_NO_FATAL_FAILURE(stop_in_the_middle());
    ASSERT_NO_FATAL_FAILURE(survive_a_kill());
}

}  // namespace svc::test
