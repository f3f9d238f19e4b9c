// What only a request can ask for: versions, leases and joins named in headers; and its round
// trips.

#include "tests/unit/queue/queue_fixture.hpp"

#include <gtest/gtest.h>

namespace svc::test {

// One statement claims them and COMMIT goes along; then they are looked at, and written.
TEST(RoundTrips, OfManyCardsAreAsManyAsOfOne) {
    QueueFixture& s = one_queue();
    const auto round_trips = [&] {
        int sum = 0;
        const auto metrics = s.server.client().get("/metrics").body;
        for (const char* operation : {"claim_next_card", "complete_leases"}) {
            const std::string name =
                std::string("\nworkboard_request_round_trips_total{operation=\"") + operation +
                "\"} ";
            const auto at = metrics.find(name);
            if (at != metrics.npos) sum += std::stoi(metrics.substr(at + name.size()));
        }
        return sum;
    };
    const auto claim_and_complete = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) s.card();
        const auto claim = expect(200, s.post(s.claim_path(), {{"max_cards", count}}));
        json::array leases{{{"lease_token", claim.text("/lease_token")}}};
        const auto claimed = claim.json();
        for (const auto& each : claimed.at("additional_claims").as_array())
            leases.push_back({{"lease_token", each.at("lease_token")}});
        EXPECT_EQ(leases.size(), count);
        const auto batch = expect(200, s.post("/v1/leases:complete", {{"leases", leases}}));
        EXPECT_EQ(batch.json().at("succeeded_count").as_int64(), static_cast<std::int64_t>(count));
    };
    claim_and_complete(1);  // known from here on
    const int before = round_trips();
    claim_and_complete(1);
    const int one = round_trips() - before;
    claim_and_complete(25);
    EXPECT_EQ(round_trips() - before - one, one);
    EXPECT_LE(one, 3);
}

TEST(Headers, AStaleVersionIsRefusedWithTheCurrentOne) {
    QueueFixture& s = one_queue();
    const std::string path = "/v1/cards/" + s.card().text("/id");
    const auto patch = [&](const std::string& version, const char* title) {
        return s.client.send(
            "PATCH", path, json::serialize(json::value{{"title", title}}), {{"If-Match", version}}
        );
    };
    EXPECT_EQ(s.client.get(path).header("etag"), "\"1\"");
    const auto changed = expect(200, patch("\"1\"", "two"));
    EXPECT_EQ(changed.header("etag"), "\"2\"");
    const auto stale = patch("\"1\"", "three");
    EXPECT_EQ(stale.status, 412);
    EXPECT_EQ(stale.text("/code"), "version_conflict");
    EXPECT_EQ(stale.text("/additional_data/current_version"), "2");
    EXPECT_EQ(patch("*", "four").status, 200);
}

TEST(Headers, PreferMergePropertiesJoinsLists) {
    QueueFixture& s = one_queue();
    const std::string path = "/v1/cards/" + s.card().text("/id");
    const auto patch = [&](const json::value& body, const Headers& headers) {
        return expect(200, s.client.send("PATCH", path, json::serialize(body), headers));
    };
    patch({{"labels", {"a"}}}, {});
    const auto joined =
        patch({{"labels", {"b"}}}, {{"Prefer", "return=minimal, Merge-Properties"}});
    EXPECT_EQ(joined.json().at("labels").as_array().size(), 2U);
    EXPECT_EQ(joined.header("preference-applied"), "merge-properties");
    const auto replaced = patch({{"labels", {"b"}}}, {});
    EXPECT_EQ(replaced.json().at("labels").as_array().size(), 1U);
}

TEST(Headers, AWriteUnderALeaseThatIsOverIsRefused) {
    QueueFixture& s = one_queue();
    s.card();
    const auto claim = s.claim();
    const std::string path = "/v1/cards/" + claim.text("/card/id");
    const Headers under{{"X-Svc-Lease", claim.text("/lease_token")}};
    const auto patch = [&](const char* title) {
        return s.client.send("PATCH", path, json::serialize(json::value{{"title", title}}), under);
    };
    EXPECT_EQ(patch("while it is mine").status, 200);
    expect(
        200,
        s.post(
            "/v1/leases/" + claim.text("/lease/id") + ":complete",
            {{"lease_token", claim.text("/lease_token")}}
        )
    );
    const auto late = patch("too late");
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(late.text("/code"), "lease_lost");
    EXPECT_EQ(late.text("/additional_data/outcome"), "completed");
    const auto empty = s.client.send("PATCH", path, R"({"title":"x"})", {{"X-Svc-Lease", ""}});
    EXPECT_EQ(expect(422, empty).text("/detail/0/loc/1"), "x-svc-lease");
    EXPECT_EQ(s.client.get(path).text("/title"), "while it is mine");
}

TEST(Headers, ALeaseMayBeNamedByTheCallThatEndsIt) {
    QueueFixture& s = one_queue();
    s.card("one");
    s.card("two");
    const auto first = s.claim(), second = s.claim();
    const auto under = [&](const std::string& path, const json::value& body) {
        return s.client.post(
            path, json::serialize(body), {{"X-Svc-Lease", first.text("/lease_token")}}
        );
    };
    const json::value both{
        {"leases",
         {{{"lease_token", first.text("/lease_token")}, {"comment", "Done"}},
          {{"lease_token", second.text("/lease_token")}, {"comment", "Done"}}}}};
    const auto batch = expect(200, under("/v1/leases:complete", both));
    EXPECT_EQ(batch.json().at("succeeded_count").as_int64(), 2) << batch.body;
    s.card("three");
    const auto third = s.claim();
    const auto done = s.client.post(
        "/v1/leases/" + third.text("/lease/id") + ":complete",
        json::serialize(json::value{
            {"lease_token", third.text("/lease_token")}, {"comment", "**Done**"}}),
        {{"X-Svc-Lease", third.text("/lease_token")}}
    );
    EXPECT_EQ(done.status, 200) << done.body;
}

TEST(Headers, AClaimUnderAKeyIsGivenAgainNotTwice) {
    QueueFixture& s = one_queue();
    s.card("one");
    s.card("two");
    const Headers key{{"Idempotency-Key", "claim-1"}};
    const auto first = expect(200, s.client.post(s.claim_path(), "{}", key));
    const auto again = expect(200, s.client.post(s.claim_path(), "{}", key));
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(again.header("idempotency-replayed"), "true");
    EXPECT_NE(s.claim().text("/card/id"), first.text("/card/id"));
}

}  // namespace svc::test
