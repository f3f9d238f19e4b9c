// What an agent's attempts came to.

#include "tests/unit/queue/queue_fixture.hpp"

namespace svc::test {

namespace {

void finish(QueueFixture& fixture, const std::string& how, const json::object& more) {
    fixture.card();
    const Reply claim = fixture.claim();
    json::object body = more;
    body["lease_token"] = claim.text("/lease_token");
    expect(200, fixture.post("/v1/leases/" + claim.text("/lease/id") + ":" + how, body));
}

}  // namespace

TEST(AgentWork, IsSummedUpByOutcomeAndCurrency) {
    QueueFixture fixture;
    const auto agent = expect(200, fixture.client.get("/v1/me")).text("/id");
    const auto path = "/v1/agents/" + agent + "/work";
    const auto work = [&] { return expect(200, fixture.workspace.client.get(path)).json(); };
    EXPECT_TRUE(work().at("since").is_null());
    const auto dollars = [](double amount) {
        return json::object{
            {"cost",
             {{"amount", amount}, {"currency", "USD"}, {"input_tokens", 100}, {"output_tokens", 7}}}
        };
    };
    finish(fixture, "complete", dollars(0.25));
    finish(fixture, "complete", dollars(0.5));
    finish(fixture, "complete", {{"cost", {{"amount", 2}, {"currency", "EUR"}}}});
    finish(fixture, "fail", [&] {
        auto body = dollars(0.25);
        body["error"] = "No lamp";
        return body;
    }());
    finish(fixture, "release", {});
    const auto sum = work();
    EXPECT_EQ(sum.at("completed").as_int64(), 3);
    EXPECT_EQ(sum.at("failed").as_int64(), 1);
    EXPECT_EQ(sum.at("released").as_int64(), 1);
    EXPECT_EQ(sum.at("input_tokens").as_int64(), 300);
    EXPECT_EQ(sum.at("output_tokens").as_int64(), 21);
    std::map<std::string, double> costs;
    for (const auto& each : sum.at("costs").as_array())
        costs[std::string(each.at("currency").as_string())] = each.at("amount").to_number<double>();
    EXPECT_EQ(costs, (std::map<std::string, double>{{"EUR", 2}, {"USD", 1}}));
}

TEST(AgentWork, IsANumberWhateverTheAgentSays) {
    QueueFixture fixture;
    const auto agent = expect(200, fixture.client.get("/v1/me")).text("/id");
    for (int i = 0; i < 2; ++i)
        finish(fixture, "complete", {{"cost", {{"amount", 1.7e308}, {"currency", "USD"}}}});
    const auto sum = expect(200, fixture.workspace.client.get("/v1/agents/" + agent + "/work"));
    EXPECT_EQ(sum.json().at("costs").at(0).at("amount").to_number<double>(), 2e15);
}

TEST(AgentWork, IsForAdminsOfItsWorkspace) {
    QueueFixture fixture;
    const auto agent = expect(200, fixture.client.get("/v1/me")).text("/id");
    const auto path = "/v1/agents/" + agent + "/work";
    EXPECT_EQ(fixture.client.get(path).status, 403);
    Workspace elsewhere = make_workspace(fixture.server, "eve@example.com");
    EXPECT_EQ(elsewhere.client.get(path).status, 404);
}

}  // namespace svc::test
