#include "modules/files/api.hpp"

#include "tests/support/in_process_server.hpp"

/// What other modules get of files.
namespace svc::test {
namespace {

InProcessServer& with_files() {
    static InProcessServer* const here = new InProcessServer(
        "mail,orgs,auth,agents,boards,files", "store-local"
    );  // never destroyed
    return *here;
}

class FilesApi : public testing::Test {
protected:
    FilesApi() {
        owner = server.owner_of_new_org();
        other = server.person(owner, OrgRole::member, "Otto");
        board = server.must(owner, "create_board", {{"name", "Desk"}}).id();
        const auto columns = server.must(owner, "list_columns", {{"board_id", board.str()}});
        const auto made = server.must(
            owner,
            "create_card",
            {{"board_id", board.str()},
             {"column_id", columns.text("/results/0/id")},
             {"title", "C"}}
        );
        card = made.id();
    }
    /// An available file of the owner's, as a commit leaves it.
    Uuid file() {
        const Uuid id = new_uuid();
        server.run(
            "INSERT INTO files (org_id, id, status, purpose, filename, content_type, size_bytes,"
            " object_id, upload_ends_at, created_by) VALUES ('" +
            owner.org_id->str() + "', '" + id.str() +
            "', 'available', 'attachment', 'a.png',"
            " 'image/png', 1, '" +
            new_uuid().str() + "', now(), '" + owner.id.str() + "')"
        );
        return id;
    }
    void hang(const Uuid& holder, const std::vector<Uuid>& ids) {
        server.kernel().transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(owner.org_id, std::nullopt);
            files.attach(tx, *owner.org_id, card, {{holder, ids}});
        });
    }
    int read(const Caller& by, const Uuid& id) {
        return server.ask(by, "get_file", {{"file_id", id.str()}}).status;
    }

    InProcessServer& server = with_files();
    files::Files& files = server.kernel().use<files::Files>();
    Caller owner, other;
    Uuid board, card;
};

TEST_F(FilesApi, WhatABlockShowsIsSeenByThoseWhoSeeTheCard) {
    const Uuid first = file(), second = file(), block = new_uuid();
    EXPECT_EQ(read(other, first), 404);
    hang(block, {first, second});
    EXPECT_EQ(read(other, first), 200);
    EXPECT_EQ(read(other, second), 200);
    hang(block, {second});
    EXPECT_EQ(read(other, first), 404);
    EXPECT_EQ(read(owner, first), 200);  // whose it is again
    EXPECT_EQ(read(other, second), 200);
    hang(block, {});
    EXPECT_EQ(read(other, second), 404);
}

TEST_F(FilesApi, WhatABlockShowsIsNoAttachment) {
    const Uuid id = file();
    hang(new_uuid(), {id});
    const auto list = server.must(owner, "list_attachments", {{"card_id", card.str()}});
    EXPECT_TRUE(list.body.at("results").as_array().empty());
}

TEST_F(FilesApi, SeveralHoldersKeepItEach) {
    const Uuid id = file(), block = new_uuid(), comment = new_uuid();
    hang(block, {id});
    hang(comment, {id});
    hang(block, {});
    EXPECT_EQ(read(other, id), 200);
}

TEST_F(FilesApi, FilesThatAreGoneHangNowhere) {
    const Uuid id = file(), block = new_uuid();
    server.must(owner, "delete_file", {{"file_id", id.str()}});
    hang(block, {id, new_uuid()});
    EXPECT_EQ(
        server.run("SELECT count(*) FROM file_places WHERE holder_id = '" + block.str() + "'"), "0"
    );
}

TEST_F(FilesApi, ALinkTakesNoDatabase) {
    const files::FileRef ref{new_uuid(), new_uuid(), "a b.svg", "image/svg+xml"};
    const auto link = files.link(*owner.org_id, ref);
    ASSERT_TRUE(link);
    EXPECT_TRUE(link->url.starts_with(
        "https://board.example/storage/" + owner.org_id->str() + "/" + ref.id.str() + "/" +
        ref.object_id.str() + "?"
    )) << link->url;
    EXPECT_NE(link->url.find("attachment"), std::string::npos);
    EXPECT_GT(link->expires_at, Timestamp::now());
}

}  // namespace
}  // namespace svc::test
