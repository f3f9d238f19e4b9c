#include "tests/support/reused_server.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/lock_holder.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace svc::test {

// On a busy machine the sequencer may still have to write what the test before did last. It wrote
// numbers then for events that were gone, and the next test's audit record was broken.
TEST(ReusedServer, KeepsNothingOfEventsThatWaitForTheirSequence) {
    auto before = std::make_unique<ReusedServer>();
    const std::string database = before->database();
    Workspace acme = make_workspace(before->server());
    before->await_sequences();
    LockHolder holds_up_the_sequencer("SELECT FROM event_position FOR UPDATE", database);
    expect(200, acme.client.send("PATCH", "/v1/orgs/" + acme.org_id, R"({"name": "New"})", {}));
    ASSERT_TRUE(eventually([&] { return holds_up_the_sequencer.waiting() > 0; }));
    before.reset();

    std::thread goes_on([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        holds_up_the_sequencer.commit();
    });
    const ReusedServer after;
    goes_on.join();
    ASSERT_EQ(after.database(), database);
    make_workspace(after.server(), "eve@example.com");
    after.await_sequences();
    EXPECT_EQ(
        Postgres::shared().run(
            "SELECT count(*) FROM event_chain c "
            "WHERE NOT EXISTS (SELECT FROM event_log l WHERE l.id = c.log_id)",
            database
        ),
        "0"
    );
    EXPECT_EQ(Postgres::shared().run("SELECT count(*) FROM event_heads", database), "1");
}

}  // namespace svc::test
