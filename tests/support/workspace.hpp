#pragma once

#include "tests/support/server.hpp"

/// What most tests begin with, made through the interface as a client would make it.
namespace svc::test {

/// The reply, when it has this status; throws with its body otherwise.
Reply expect(int status, Reply reply);

/// A verified person, signed in through `client` (cookies and all), with a workspace.
struct Workspace {
    Client client;
    std::string email, user_id, org_id;

    /// A token of this kind ("integration" or "agent"), named so; the secret itself.
    std::string mint(const std::string& kind, const std::string& name);
};

/// Signs up, reads the mail, verifies and creates the workspace.
Workspace make_workspace(
    const Server& server,
    const std::string& email = "ada@example.com",
    const std::string& name = "Acme"
);

}  // namespace svc::test
