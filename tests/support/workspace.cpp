#include "tests/support/workspace.hpp"

namespace svc::test {

namespace json = boost::json;

Reply expect(int status, Reply reply) {
    if (reply.status != status)
        throw std::runtime_error(
            "expected " + std::to_string(status) + ", got " + std::to_string(reply.status) + ": " +
            reply.body
        );
    return reply;
}

std::string Workspace::mint(const std::string& kind, const std::string& name) {
    json::object body{{"kind", kind}, {"name", name}, {"role", "member"}};
    if (kind == "agent") body["agent"] = {{"name", name}};
    return expect(201, client.post("/v1/tokens", json::value(body))).text("/token");
}

Workspace make_workspace(const Server& server, const std::string& email, const std::string& name) {
    Workspace made{server.client(), email, {}, {}};
    const json::value person{
        {"email", email}, {"password", "correct horse battery"}, {"name", "Ada"}};
    expect(201, made.client.post("/v1/auth/signup", person));
    const auto token = mail_value(server.mail_to(email), "token=");
    const auto session =
        expect(200, made.client.post("/v1/auth/verify-email", json::value{{"token", token}}));
    made.user_id = session.text("/user/id");
    made.org_id =
        expect(201, made.client.post("/v1/orgs", json::value{{"name", name}})).text("/id");
    made.client.always("X-Svc-Org", made.org_id);
    return made;
}

}  // namespace svc::test
