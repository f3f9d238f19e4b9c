#include "tests/unit/files/files_fixture.hpp"

#include <thread>

/// Files that go: deleted, or forgotten.
namespace svc::test {
namespace {

class Deleting : public FilesTest {};

TEST_F(Deleting, ADeletedFileIsGoneEverywhere) {
    const auto id = file(me());
    expect(201, attach(me(), card, id));
    const auto url = read(me(), id).text("/url");
    Client robot = token("member", "agent");
    expect(204, robot.send("DELETE", "/v1/files/" + id));  // an editor of the board
    EXPECT_EQ(read(me(), id).status, 404);
    EXPECT_EQ(me().send("DELETE", "/v1/files/" + id).status, 404);
    EXPECT_EQ(me().get("/v1/cards/" + card + "/attachments").text("/results"), "[]");
    EXPECT_TRUE(eventually([&] { return download(url).status == 404; }));
    EXPECT_EQ(commit(me(), id).status, 404);
}

TEST_F(Deleting, AFileThatHangsOnThousandsOfCardsIsDetachedFromSomeFirst) {
    const auto id = file(me());
    expect(201, attach(me(), card, id));
    run("WITH more AS (INSERT INTO cards (org_id, id, board_id, column_id, number, position, title,"
        " created_by, last_edited_by) SELECT org_id, gen_random_uuid(), board_id, column_id,"
        " number + n, 'V', 'More', created_by, last_edited_by FROM cards, generate_series(1, 2500)"
        " n WHERE id = '" +
        card +
        "' RETURNING org_id, id) INSERT INTO file_places (org_id, file_id, holder_id, card_id, id)"
        " SELECT org_id, '" +
        id + "', id, id, gen_random_uuid() FROM more");
    run("ANALYZE file_places");
    const Reply refused = expect(409, me().send("DELETE", "/v1/files/" + id));
    EXPECT_EQ(refused.text("/additional_data/reason"), "too_many_cards");
    expect(204, me().send("DELETE", "/v1/cards/" + card + "/attachments/" + id));
    expect(204, me().send("DELETE", "/v1/files/" + id));
    EXPECT_EQ(run("SELECT count(*) FROM file_places WHERE file_id = '" + id + "'"), "0");
    EXPECT_TRUE(eventually([&] {
        return run("SELECT count(*) FROM events WHERE kind = 'file.deleted' AND board_id = '" +
                   board + "'") == "2501";
    }));
}

TEST_F(Deleting, NothingIsDeletedFromWhatIsPutAway) {
    const auto id = file(me());
    expect(201, attach(me(), card, id));
    const auto reason = [&] {
        return expect(409, me().send("DELETE", "/v1/files/" + id)).text("/additional_data/reason");
    };
    run("UPDATE boards SET is_archived = true WHERE id = '" + board + "'");
    EXPECT_EQ(reason(), "board_archived");
    run("UPDATE boards SET is_archived = false WHERE id = '" + board + "'");
    expect(204, me().send("DELETE", "/v1/cards/" + card));
    EXPECT_EQ(reason(), "card_in_trash");
    expect(200, me().post("/v1/cards/" + card + ":restore"));
    expect(204, me().send("DELETE", "/v1/files/" + id));
}

TEST_F(Deleting, WhatIsDeletedHangsNowhereWhoeverJustHangsItUp) {
    for (int round = 0; round < 8; ++round) {
        const auto id = file(me());
        std::thread hanging([&, client = token("member")]() mutable {
            attach(client, card, id);
            client.post(
                "/v1/comments",
                json::value{
                    {"parent", {{"card_id", card}}},
                    {"markdown", "See"},
                    {"attachments", json::array{json::object{{"file_id", id}}}}}
            );
        });
        attach(me(), card, id);
        EXPECT_EQ(me().send("DELETE", "/v1/files/" + id).status, 204);
        hanging.join();
        EXPECT_EQ(run("SELECT count(*) FROM file_places WHERE file_id = '" + id + "'"), "0");
    }
}

TEST_F(Deleting, AttachmentsThatHangNowhereGoAfterAMonth) {
    const auto hung = file(me()), idle = file(me()), fresh = file(me()), hung_again = file(me());
    const auto picture = file(me(), png, {{"purpose", "avatar"}});
    expect(201, attach(me(), card, hung));
    expect(201, attach(me(), card, hung_again));
    const auto all = "org_id = '" + space.org_id + "'";
    run("UPDATE files SET idle_since = now() - interval '31 days' WHERE id <> '" + fresh +
        "' AND id <> '" + hung + "' AND " + all);
    do_now("files.delete_unused.find", database);
    EXPECT_TRUE(eventually([&] { return read(me(), idle).status == 404; }));
    for (const auto& id : {hung, fresh, hung_again, picture}) expect(200, read(me(), id));
    EXPECT_EQ(
        run("SELECT count(*) FROM files WHERE idle_since < now() - interval '1 day' AND "
            "purpose = 'attachment' AND deleted_at IS NULL AND " +
            all),
        "0"
    );
    EXPECT_EQ(
        run("SELECT count(*) FROM files WHERE id = '" + fresh +
            "' AND idle_since > now() - "
            "interval '1 hour'"),
        "1"
    );
    EXPECT_TRUE(eventually([&] {
        return run("SELECT count(*) FROM audit_events WHERE target_id = '" + idle +
                   "' AND action = 'files.delete_unused'") == "1";
    }));
}

}  // namespace
}  // namespace svc::test
