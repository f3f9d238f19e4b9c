// Uploaded files that blocks show.

#include "tests/unit/files/files_fixture.hpp"

namespace svc::test {

namespace {

using testing::HasSubstr;
using testing::Not;

json::object uploaded(const std::string& file) {
    return {{"type", "file_upload"}, {"file_upload", {{"id", file}}}};
}
json::object block(const std::string& type, json::object payload) {
    return {{"type", type}, {type, std::move(payload)}};
}
json::object image(const std::string& file) { return block("image", uploaded(file)); }
json::object elsewhere() { return {{"external", {{"url", "https://x.org/a.png"}}}}; }

class BlockFiles : public FilesTest {
protected:
    static Reply patch(Client& by, const std::string& path, const json::object& what) {
        return by.send("PATCH", "/v1/" + path, json::serialize(what));
    }
    static Reply append(Client& by, const std::string& to, json::array children) {
        return patch(by, "blocks/" + to + "/children", {{"children", std::move(children)}});
    }
    /// A block on the card; its id.
    std::string add(json::object block) {
        return expect(200, append(me(), card, {std::move(block)})).text("/results/0/id");
    }
    static Reply change(Client& by, const std::string& id, const json::object& what) {
        return patch(by, "blocks/" + id, what);
    }
    Reply write(const std::string& to, const std::string& markdown) {
        return patch(me(), "cards/" + to + "/markdown", {{"markdown", markdown}});
    }
    static Reply blocks(Client& by, const std::string& of) {
        return expect(200, by.get("/v1/blocks/" + of + "/children?depth=3"));
    }
    std::string markdown() {
        return expect(200, me().get("/v1/cards/" + card + "/markdown")).text("/markdown");
    }
};

}  // namespace

TEST_F(BlockFiles, AreShownWithAnAddressToWhoSeesTheCard) {
    const auto id = file(me());
    const auto made = expect(200, append(me(), card, {image(id), block("file", uploaded(id))}));
    EXPECT_EQ(made.text("/results/0/image/type"), "file");
    EXPECT_EQ(made.text("/results/0/image/file/file_id"), id);
    EXPECT_FALSE(made.json().at_pointer("/results/0/image").as_object().contains("file_upload"));
    EXPECT_EQ(download(made.text("/results/0/image/file/url")).body, png);
    EXPECT_EQ(made.text("/results/1/file/name"), "a.png");
    Client other = token("member", "agent");
    const auto list = blocks(other, card);
    EXPECT_EQ(download(list.text("/results/1/file/file/url")).body, png);
    EXPECT_THAT(list.text("/results/1/file/file/expires_at"), testing::EndsWith("Z"));
    const auto one = expect(200, other.get("/v1/blocks/" + made.text("/results/0/id")));
    EXPECT_EQ(download(one.text("/image/file/url")).body, png);
    EXPECT_EQ(read(other, id).status, 200);
    // Addresses are for those who ask.
    const auto emitted = run("SELECT string_agg(e::text, ' ') FROM events e");
    EXPECT_THAT(emitted, HasSubstr(id));
    EXPECT_THAT(emitted, Not(HasSubstr("/storage/")));
}

TEST_F(BlockFiles, AreIconsOfCallouts) {
    const auto id = file(me());
    const auto made = add(block("callout", {{"icon", uploaded(id)}}));
    Client other = token("member", "agent");
    const auto seen = expect(200, other.get("/v1/blocks/" + made));
    EXPECT_EQ(seen.text("/callout/icon/type"), "file");
    EXPECT_EQ(seen.text("/callout/icon/file_id"), id);
    EXPECT_EQ(download(seen.text("/callout/icon/file/url")).body, png);
    expect(200, change(me(), made, {{"callout", {{"icon", {{"emoji", "🙂"}}}}}}));
    EXPECT_EQ(read(other, id).status, 404);
}

TEST_F(BlockFiles, AreTheWritersOwnUploads) {
    Client other = token("member", "agent");
    const auto foreign = file(other), pending = announce(me()).id;
    Workspace apart = make_workspace(*server, "apart" + space.org_id + "@example.com", "Apart");
    const auto far = file(apart.client);
    for (const auto& id : {foreign, pending, far, card})
        EXPECT_THAT(expect(422, append(me(), card, {image(id)})).body, HasSubstr(id));
    const auto own = file(me());
    json::object both = uploaded(own);
    both["external"] = {{"url", "https://x.org/a.png"}};
    const auto wrong = expect(422, append(me(), card, {block("pdf", both)}));
    EXPECT_THAT(wrong.body, HasSubstr(R"("children",0,"pdf")"));
    expect(422, append(me(), card, {block("callout", {{"icon", uploaded(foreign)}})}));
    expect(422, write(card, "![x](file:" + foreign + ")"));
    EXPECT_TRUE(blocks(me(), card).json().at("results").as_array().empty());
    EXPECT_EQ(read(me(), foreign).status, 404);
}

TEST_F(BlockFiles, StayWhenABlockIsSentBackAndGoWhenItShowsAnother) {
    const auto id = file(me());
    const auto made = add(image(id));
    Client other = token("member", "agent");
    const auto seen = expect(200, other.get("/v1/blocks/" + made));
    expect(200, change(other, made, seen.json().as_object()));
    const json::array words{json::object{{"text", {{"content", "A cat"}}}}};
    const auto captioned = expect(200, change(other, made, {{"image", {{"caption", words}}}}));
    EXPECT_EQ(download(captioned.text("/image/file/url")).body, png);
    // In the trash it is kept, for it may come back.
    expect(200, me().send("DELETE", "/v1/blocks/" + made));
    EXPECT_EQ(read(other, id).status, 200);
    expect(200, change(me(), made, {{"in_trash", false}}));
    EXPECT_EQ(
        expect(200, change(me(), made, {{"image", elsewhere()}})).text("/image/type"), "external"
    );
    EXPECT_EQ(read(other, id).status, 404);
    EXPECT_EQ(read(me(), id).status, 200);
}

TEST_F(BlockFiles, AreShownByCopiesOfTheirOwn) {
    const auto id = file(me());
    const auto made = add(image(id));
    const auto copy = expect(201, me().post("/v1/cards/" + card + ":duplicate")).text("/id");
    const json::value whole{{"include_cards", true}};
    expect(201, me().post("/v1/boards/" + board + ":duplicate", whole));
    expect(200, change(me(), made, {{"image", elsewhere()}}));
    Client other = token("member", "agent");
    EXPECT_EQ(download(blocks(other, copy).text("/results/0/image/file/url")).body, png);
    // The card, its copy, and both on the copy of the board.
    EXPECT_EQ(run("SELECT count(*) FROM file_places WHERE file_id = '" + id + "'"), "3");
}

TEST_F(BlockFiles, GoThroughMarkdown) {
    const auto id = file(me());
    const auto picture = add(image(id)), film = add(block("video", uploaded(id)));
    const auto text = markdown();
    EXPECT_THAT(text, HasSubstr("](<file:" + id + ">)"));
    expect(200, write(card, "First\n\n" + text));
    const auto list = blocks(me(), card);
    EXPECT_EQ(list.text("/results/1/id"), picture);
    EXPECT_EQ(list.text("/results/2/id"), film);
    EXPECT_EQ(list.text("/results/2/type"), "video");
    const auto copy = new_card(board, column);
    expect(200, write(copy, "![A cat](file:" + id + ")\n\n[The cat](file:" + id + ")"));
    Client other = token("member", "agent");
    const auto copied = blocks(other, copy);
    EXPECT_EQ(download(copied.text("/results/0/image/file/url")).body, png);
    EXPECT_EQ(download(copied.text("/results/1/file/file/url")).body, png);
    EXPECT_EQ(copied.text("/results/1/file/caption/0/plain_text"), "The cat");
    // Another one in place of it.
    const auto second = file(me());
    expect(200, write(copy, "![A cat](file:" + second + ")"));
    EXPECT_EQ(blocks(me(), copy).text("/results/0/id"), copied.text("/results/0/id"));
    EXPECT_EQ(blocks(me(), copy).text("/results/0/image/file/file_id"), second);
    expect(200, write(copy, "![A cat](https://x.org/a.png)"));
    EXPECT_EQ(blocks(me(), copy).text("/results/0/image/type"), "external");
    EXPECT_EQ(read(other, second).status, 404);
}

TEST_F(BlockFiles, AreMadeInBatchesAndWithTheirCard) {
    const auto id = file(me());
    const json::value batch{
        {"operations", json::array{json::object{{"op", "create"}, {"block", image(id)}}}}};
    const auto made = expect(200, me().post("/v1/cards/" + card + "/blocks:batch", batch));
    EXPECT_EQ(download(made.text("/results/0/image/file/url")).body, png);
    const auto second = file(me());
    const json::value with{
        {"column_id", column}, {"title", "New"}, {"children", json::array{image(second)}}};
    expect(201, me().post("/v1/boards/" + board + "/cards", with));
    Client other = token("member", "agent");
    EXPECT_EQ(read(other, second).status, 200);
}

TEST_F(BlockFiles, HaveNoAddressOnceTheyAreDeleted) {
    const auto id = file(me());
    const auto made = add(image(id));
    EXPECT_EQ(me().send("DELETE", "/v1/files/" + id).status, 204);
    const auto seen = expect(200, me().get("/v1/blocks/" + made));
    EXPECT_EQ(seen.text("/image/file/file_id"), id);
    EXPECT_TRUE(seen.json().at_pointer("/image/file/url").is_null());
    expect(200, change(me(), made, seen.json().as_object()));
}

}  // namespace svc::test
