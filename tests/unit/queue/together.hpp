#pragma once

#include "tests/support/at_once.hpp"
#include "tests/support/eventually.hpp"
#include "tests/unit/queue/queue_fixture.hpp"

#include <map>

/// Claims and completions that are sent at once, and what was recorded of them.
namespace svc::test {

/// Claims of so many new cards.
inline std::vector<Reply> claimed_cards(QueueFixture& s, std::size_t count) {
    std::vector<Reply> claims;
    for (std::size_t i = 0; i < count; ++i) {
        s.card();
        claims.push_back(s.claim());
    }
    return claims;
}

inline Sent completion(const Reply& claim, const json::value& more = json::object{}) {
    json::object body = more.as_object();
    body["lease_token"] = claim.text("/lease_token");
    return {"/v1/leases/" + claim.text("/lease/id") + ":complete", body};
}

/// The request ids under which an operation is recorded, by what the entries are about, once there
/// are so many.
inline std::map<std::string, std::string> recorded(
    QueueFixture& s, const std::string& action, std::size_t count
) {
    std::map<std::string, std::string> out;
    const auto path = "/v1/orgs/" + s.workspace.org_id + "/audit-events?page_size=100&action=";
    eventually([&] {
        const auto page = expect(200, s.workspace.client.get(path + action)).json();
        for (const auto& each : page.at("results").as_array())
            out.emplace(
                each.at_pointer("/target/id").as_string(), each.at("request_id").as_string()
            );
        return out.size() >= count;
    });
    return out;
}

}  // namespace svc::test
