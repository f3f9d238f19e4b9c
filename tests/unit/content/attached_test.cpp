// Uploaded files that come with comments, on a server that keeps files, and on one that does not.

#include "svc/types.hpp"
#include "tests/unit/files/files_fixture.hpp"

namespace svc::test {

namespace {

class Attached : public FilesTest {
protected:
    Reply comment(Client& by, json::array attachments) {
        return by.post(
            "/v1/comments",
            json::value{
                {"parent", {{"card_id", card}}},
                {"markdown", "See"},
                {"attachments", std::move(attachments)}}
        );
    }
};

json::object named(const std::string& file) { return {{"file_id", file}}; }

}  // namespace

TEST_F(Attached, FilesComeWithAComment) {
    const std::string id = file(me());
    const auto made = expect(201, comment(me(), {named(id), {{"file_upload_id", id}}}));
    EXPECT_EQ(made.json().at("attachments").as_array().size(), 1U);
    EXPECT_EQ(made.text("/attachments/0/file_id"), id);
    EXPECT_EQ(made.text("/attachments/0/category"), "image");
    EXPECT_EQ(expect(200, download(made.text("/attachments/0/file/url"))).body, png);
    // Whoever sees the card sees the file; its own list is of what hangs on the card itself.
    Client other = token("member");
    const auto seen = expect(200, other.get("/v1/comments/" + made.text("/id")));
    EXPECT_EQ(seen.text("/attachments/0/file_id"), id);
    expect(200, read(other, id));
    const auto list = expect(200, other.get("/v1/comments?card_id=" + card));
    EXPECT_EQ(expect(200, download(list.text("/results/0/attachments/0/file/url"))).body, png);
    const auto hung = expect(200, other.get("/v1/cards/" + card + "/attachments"));
    EXPECT_TRUE(hung.json().at("results").as_array().empty());
}

TEST_F(Attached, RefusesFilesOfOthersAndTooMany) {
    Client other = token("member", "agent");
    const std::string foreign = file(other);
    expect(422, comment(me(), {named(foreign)}));
    expect(422, comment(me(), {named(announce(me()).id)}));
    expect(422, comment(me(), {json::object{}}));
    const std::string id = file(me());
    expect(422, comment(me(), {named(id), named(id), named(id), named(id)}));
    const auto list = expect(200, me().get("/v1/comments?card_id=" + card));
    EXPECT_TRUE(list.json().at("results").as_array().empty());
}

TEST_F(Attached, FilesGoWithTheirComment) {
    const std::string id = file(me());
    const auto made = expect(201, comment(me(), {named(id)}));
    Client other = token("member", "agent");
    expect(200, read(other, id));
    const auto gone = expect(200, me().send("DELETE", "/v1/comments/" + made.text("/id")));
    EXPECT_EQ(gone.text("/attachments/0/file_id"), id);
    EXPECT_TRUE(gone.json().at_pointer("/attachments/0/file/url").is_null());
    expect(404, read(other, id));
    expect(200, read(me(), id));
}

TEST_F(Attached, FilesThatWereDeletedHaveNoAddress) {
    const std::string id = file(me()), other = file(me());
    const auto made = expect(201, comment(me(), {named(id), named(other)}));
    expect(204, me().send("DELETE", "/v1/files/" + id));
    for (const std::string& path : {"/" + made.text("/id"), "?card_id=" + card}) {
        const auto reply = expect(200, me().get("/v1/comments" + path));
        const std::string at = path.front() == '/' ? "" : "/results/0";
        EXPECT_EQ(reply.text(at + "/attachments/0/file_id"), id);
        EXPECT_EQ(reply.text(at + "/attachments/0/file/url"), "null");
        expect(200, download(reply.text(at + "/attachments/1/file/url")));
    }
}

/// A server that had a store once.
class WithoutAStore : public Attached {
protected:
    static void SetUpTestSuite() {
        database = Postgres::shared().fresh_database();
        server = std::make_unique<Server>(Server::Options{
            .database_url = database, .settings = {"plugins=mail-file"}});
    }
    /// An available file, as a commit left it.
    std::string old_file() {
        const std::string id = new_uuid().str();
        run("INSERT INTO files (org_id, id, status, purpose, filename, content_type, size_bytes,"
            " object_id, upload_ends_at, created_by) VALUES ('" +
            space.org_id + "', '" + id +
            "', 'available', 'attachment', 'a.png', 'image/png', 1, '" + new_uuid().str() +
            "', now(), '" + space.user_id + "')");
        return id;
    }
};

TEST_F(WithoutAStore, WhatShowsFilesIsReadWithoutTheirAddresses) {
    const std::string id = old_file();
    const auto made = expect(201, comment(me(), {named(id)}));
    const auto seen = expect(200, me().get("/v1/comments?card_id=" + card));
    EXPECT_EQ(seen.text("/results/0/attachments/0/file_id"), id);
    EXPECT_TRUE(seen.json().at_pointer("/results/0/attachments/0/file/url").is_null());
    const json::value image{
        {"children", json::array{json::object{{"image", {{"file", {{"file_id", id}}}}}}}}};
    expect(200, me().send("PATCH", "/v1/blocks/" + card + "/children", json::serialize(image)));
    const auto blocks = expect(200, me().get("/v1/blocks/" + card + "/children"));
    EXPECT_EQ(blocks.text("/results/0/image/file/file_id"), id);
    EXPECT_TRUE(blocks.json().at_pointer("/results/0/image/file/url").is_null());
    EXPECT_TRUE(expect(200, read(me(), id)).json().at("url").is_null());
    expect(503, presign(me(), {{"filename", "a.png"}, {"content_type", "image/png"}}));
}

}  // namespace svc::test
