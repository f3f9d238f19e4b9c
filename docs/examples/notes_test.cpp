#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

namespace svc::test {

TEST(Notes, ANoteThatWasWrittenIsListed) {
    const Server server({
        .database_url = Postgres::shared().fresh_database(),
        .settings = {"modules=mail,orgs,auth,notes"},
    });
    auto [client, email, user, org] = make_workspace(server);
    const auto note = expect(201, client.post("/v1/notes", R"({"text": "Water the plants"})"));
    EXPECT_EQ(client.get("/v1/notes").text("/results/0/id"), note.text("/id"));
    EXPECT_EQ(client.post("/v1/notes", R"({"text": ""})").status, 422);
}

}  // namespace svc::test
