#include "tests/unit/files/files_fixture.hpp"

/// Who sees a file, where it hangs, and where its links lead.
namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Sharing : public FilesTest {
protected:
    std::string private_board() {
        const json::value body{{"name", "Closed"}, {"visibility", "private"}};
        return expect(201, me().post("/v1/boards", body)).text("/id");
    }
    std::string card_on(const std::string& on) {
        return new_card(on, me().get("/v1/boards/" + on + "/columns").text("/results/0/id"));
    }
    std::vector<std::string> emitted() {
        const auto list = run(
            "SELECT coalesce(json_agg(kind ORDER BY position), '[]') FROM events WHERE kind LIKE "
            "'file.%' AND org_id = '" +
            space.org_id + "'"
        );
        return json::value_to<std::vector<std::string>>(json::parse(list));
    }
    Reply detach(Client& by, const std::string& from, const std::string& id) {
        return by.send("DELETE", "/v1/cards/" + from + "/attachments/" + id);
    }
};

TEST_F(Sharing, AFileIsItsUploadersUntilItHangsOnACard) {
    Client robot = token("member", "agent");
    const auto id = file(me());
    EXPECT_EQ(read(me(), id).status, 200);
    EXPECT_EQ(read(robot, id).status, 404);
    EXPECT_EQ(attach(robot, card, id).status, 422);
    EXPECT_EQ(expect(201, attach(me(), card, id)).text("/id"), id);
    EXPECT_EQ(attach(me(), card, id).status, 200);
    EXPECT_EQ(read(robot, id).status, 200);
    const auto list = expect(200, robot.get("/v1/cards/" + card + "/attachments"));
    EXPECT_EQ(list.text("/type"), "file");
    EXPECT_EQ(list.text("/results/0/id"), id);
    EXPECT_EQ(download(list.text("/results/0/url")).body, png);
}

TEST_F(Sharing, ACardIsNamedByItsKeyAsWell) {
    const auto key = expect(200, me().get("/v1/cards/" + card)).text("/key");
    const auto id = file(me());
    expect(201, attach(me(), key, id));
    EXPECT_EQ(attach(me(), card, id).status, 200) << "it is the same card";
    const auto list = expect(200, me().get("/v1/cards/" + key + "/attachments"));
    EXPECT_EQ(list.text("/results/0/id"), id);
    EXPECT_EQ(detach(me(), key, id).status, 204);
    EXPECT_EQ(attach(me(), "NONE-1", id).status, 404);
    EXPECT_EQ(attach(me(), "no%20card", id).status, 422);
}

TEST_F(Sharing, WhatHangsOnAPrivateBoardIsForThoseOnIt) {
    Client robot = token("member", "agent");
    const auto closed = card_on(private_board());
    const auto id = file(robot);
    EXPECT_EQ(attach(robot, closed, id).status, 404);
    const auto mine = file(me());
    expect(201, attach(me(), closed, mine));
    EXPECT_EQ(read(robot, mine).status, 404);
    EXPECT_EQ(robot.get("/v1/cards/" + closed + "/attachments").status, 404);
    EXPECT_EQ(detach(robot, closed, mine).status, 404);
    EXPECT_EQ(robot.send("DELETE", "/v1/files/" + mine).status, 404);
    EXPECT_EQ(attach(robot, card, mine).status, 422);
    expect(201, attach(me(), card, mine));  // seen from there
    EXPECT_EQ(read(robot, mine).status, 200);
    EXPECT_EQ(robot.send("DELETE", "/v1/files/" + mine).status, 403);
}

TEST_F(Sharing, ViewersLookAndChangeNothing) {
    const auto id = file(me());
    expect(201, attach(me(), card, id));
    Client viewer = token("viewer", "agent");
    EXPECT_EQ(read(viewer, id).status, 200);
    EXPECT_EQ(attach(viewer, card, id).status, 403);
    EXPECT_EQ(attach(viewer, card, file(viewer)).status, 403);  // for a picture or a comment
    EXPECT_EQ(detach(viewer, card, id).status, 403);
    EXPECT_EQ(viewer.send("DELETE", "/v1/files/" + id).status, 403);
}

TEST_F(Sharing, WorkspacesKnowNothingOfEachOther) {
    const auto id = file(me());
    expect(201, attach(me(), card, id));
    const Announced pending = announce(me());
    Workspace other = make_workspace(*server, "other" + space.org_id + "@example.com", "Other");
    Client& stranger = other.client;
    EXPECT_EQ(read(stranger, id).status, 404);
    EXPECT_EQ(commit(stranger, pending.id).status, 404);
    EXPECT_EQ(stranger.send("DELETE", "/v1/files/" + id).status, 404);
    EXPECT_EQ(stranger.get("/v1/cards/" + card + "/attachments").status, 404);
    EXPECT_EQ(attach(stranger, card, id).status, 404);
    const auto random = read(stranger, "019b1c2d-0000-7000-8000-000000000000");
    EXPECT_EQ(random.text("/message"), read(stranger, id).text("/message"));
}

TEST_F(Sharing, OnlyTheUploaderCommits) {
    const Announced made = announce(me());
    expect(204, upload(made, png));
    Client robot = token("admin", "agent");
    EXPECT_EQ(commit(robot, made.id).status, 404);
    expect(200, commit(me(), made.id));
}

TEST_F(Sharing, APendingFileIsNotAttached) {
    const Announced made = announce(me());
    EXPECT_THAT(expect(422, attach(me(), card, made.id)).body, HasSubstr("committed"));
}

TEST_F(Sharing, APictureOfAPersonIsNotAttached) {
    const auto face = file(me(), png, {{"purpose", "avatar"}});
    EXPECT_THAT(expect(422, attach(me(), card, face)).body, HasSubstr("another purpose"));
}

TEST_F(Sharing, NothingIsHungOnACardInTheTrash) {
    const std::string hung = file(me()), other = file(me());
    expect(201, attach(me(), card, hung));
    expect(204, me().send("DELETE", "/v1/cards/" + card));
    EXPECT_THAT(expect(409, attach(me(), card, other)).body, HasSubstr("card_in_trash"));
    expect(409, me().send("DELETE", "/v1/cards/" + card + "/attachments/" + hung));
}

TEST_F(Sharing, AttachmentsAreListedNewestFirstByPages) {
    std::vector<std::string> ids;
    for (int i = 0; i < 5; ++i) {
        ids.push_back(file(me()));
        expect(201, attach(me(), card, ids.back()));
    }
    const auto path = "/v1/cards/" + card + "/attachments?page_size=2";
    std::vector<std::string> listed;
    std::string cursor;
    do {
        const auto page =
            expect(200, me().get(path + (cursor.empty() ? "" : "&start_cursor=" + cursor)));
        const auto answer = page.json();
        for (const auto& each : answer.at("results").as_array())
            listed.emplace_back(each.at("id").as_string());
        cursor = answer.at("next_cursor").is_null() ? "" : page.text("/next_cursor");
    } while (!cursor.empty());
    std::ranges::reverse(ids);
    EXPECT_EQ(listed, ids);
}

TEST_F(Sharing, ADetachedFileStaysWithItsUploader) {
    const auto id = file(me());
    expect(201, attach(me(), card, id));
    Client robot = token("member", "agent");
    expect(204, detach(robot, card, id));
    EXPECT_EQ(detach(robot, card, id).status, 404);
    EXPECT_EQ(read(robot, id).status, 404);
    EXPECT_EQ(read(me(), id).status, 200);
}

TEST_F(Sharing, AnArchivedBoardIsLeftAsItIs) {
    const auto id = file(me());
    run("UPDATE boards SET is_archived = true WHERE id = '" + board + "'");
    EXPECT_EQ(
        expect(409, attach(me(), card, id)).text("/additional_data/reason"), "board_archived"
    );
}

TEST_F(Sharing, EventsNameTheFileAndNoWayToIt) {
    const auto id = file(me());
    EXPECT_TRUE(emitted().empty());  // what nobody was shown is nobody's business
    expect(201, attach(me(), card, id));
    expect(204, detach(me(), card, id));
    ASSERT_TRUE(eventually([&] { return emitted().size() == 2; }));
    EXPECT_EQ(emitted(), (std::vector<std::string>{"file.created", "file.deleted"}));
    const auto envelope =
        run("SELECT e::text FROM events e WHERE kind = 'file.created' AND org_id = '" +
            space.org_id + "'");
    EXPECT_THAT(envelope, HasSubstr("a.png"));
    EXPECT_THAT(envelope, HasSubstr(card));
    EXPECT_EQ(envelope.find("/storage/"), std::string::npos);
    const auto actions =
        run("SELECT string_agg(action, ' ' ORDER BY sequence) FROM audit_events WHERE org_id = '" +
            space.org_id + "' AND action LIKE '%_file'");
    EXPECT_EQ(actions, "presign_file commit_file attach_file detach_file");
}

TEST_F(Sharing, LinksAreGoodForExactlyOneThing) {
    const auto id = file(me()), other = file(me());
    const auto url = read(me(), id).text("/url");
    const auto with = [&](const std::string& from, const std::string& to) {
        auto changed = url;
        const auto at = changed.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return download(changed.replace(at, from.size(), to)).status;
    };
    EXPECT_EQ(download(url).status, 200);
    EXPECT_EQ(with(id, other), 404);
    EXPECT_EQ(with("image%2Fpng", "text%2Fhtml"), 404);
    EXPECT_EQ(with("disposition=inline", "disposition=attachment"), 404);
    EXPECT_EQ(with("expires=", "expires=9"), 404);
    EXPECT_EQ(with("/storage/", "/storage/../"), 404);
    EXPECT_EQ(download(url.substr(0, url.find('?'))).status, 404);
    for (const char* path :
         {"/storage/",
          "/storage/../server.key",
          "/storage/%2e%2e/server.key",
          "/storage//etc/passwd",
          "/storage/.unfinished/x",
          "/storage/upload/x"})
        EXPECT_EQ(server->client().get(path).status, 404) << path;
}

TEST_F(Sharing, DownloadsAreConditional) {
    const auto id = file(me());
    const auto url = read(me(), id).text("/url");
    const auto first = download(url);
    const auto again = download(url, {{"If-None-Match", first.header("etag")}});
    EXPECT_EQ(again.status, 304);
    EXPECT_EQ(again.body, "");
    EXPECT_EQ(download(url, {{"Range", "bytes=0-3"}, {"If-Range", "\"other\""}}).status, 200);
    const auto head = server->client().send("HEAD", path_of(url));
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.header("content-length"), "16");
}

TEST_F(Sharing, APictureShowsAPersonForGood) {
    const auto id = file(me(), png, {{"purpose", "avatar"}});
    const auto set = [&](const std::string& file_id) {
        return me().send(
            "PATCH", "/v1/me/profile", json::serialize(json::value{{"avatar_file_id", file_id}})
        );
    };
    const auto url = expect(200, set(id)).text("/avatar_url");
    EXPECT_THAT(url, HasSubstr("/pictures/" + space.org_id + "/" + id));
    EXPECT_EQ(expect(200, me().get("/v1/me")).text("/avatar_url"), url);
    const auto led = server->client().get(path_of(url));
    EXPECT_EQ(led.status, 302);
    EXPECT_EQ(download(led.header("location")).body, png);

    auto forged = path_of(url);
    forged.back() = forged.back() == 'A' ? 'B' : 'A';
    EXPECT_EQ(server->client().get(forged).status, 404);
    const auto other = file(me());
    auto elsewhere = path_of(url);
    EXPECT_EQ(
        server->client().get(elsewhere.replace(elsewhere.find(id), id.size(), other)).status, 404
    );
    EXPECT_EQ(server->client().get("/pictures/x").status, 404);

    EXPECT_EQ(set(other).status, 422);  // no picture that was made for it
    Client robot = token("member", "agent");
    EXPECT_EQ(set(file(robot, png, {{"purpose", "avatar"}})).status, 422);
    expect(204, me().send("DELETE", "/v1/files/" + id));
    EXPECT_TRUE(eventually([&] {
        return download(server->client().get(path_of(url)).header("location")).status == 404;
    }));
}

TEST_F(Sharing, APictureShowsAnAgent) {
    const auto id = file(me(), png, {{"purpose", "avatar"}});
    const json::value body{{"name", "Robot"}, {"avatar_file_id", id}};
    const auto made = expect(201, me().post("/v1/agents", body));
    EXPECT_THAT(made.text("/avatar_url"), HasSubstr("/pictures/" + space.org_id + "/" + id));
    const auto change = [&](const json::value& file_id) {
        return me().send(
            "PATCH",
            "/v1/agents/" + made.text("/id"),
            json::serialize(json::value{{"avatar_file_id", file_id}})
        );
    };
    EXPECT_EQ(change(json::value(file(me()))).status, 422);
    EXPECT_EQ(expect(200, change(nullptr)).text("/avatar_url"), "null");
    EXPECT_EQ(expect(200, change(json::value(id))).text("/avatar_url"), made.text("/avatar_url"));
}

TEST_F(Sharing, APictureShowsAWorkspace) {
    const auto id = file(me(), png, {{"purpose", "icon"}});
    const auto change = [&](const json::value& icon) {
        return me().send(
            "PATCH", "/v1/orgs/" + space.org_id, json::serialize(json::value{{"icon", icon}})
        );
    };
    const auto org = expect(200, change({{"type", "file"}, {"file_id", id}}));
    EXPECT_THAT(org.text("/icon/file/url"), HasSubstr("/pictures/" + space.org_id + "/" + id));
    EXPECT_EQ(org.text("/icon/file/expires_at"), "null");
    EXPECT_EQ(expect(200, change(org.json().at("icon"))).text("/version"), org.text("/version"));
    EXPECT_EQ(change({{"type", "file"}, {"file_id", file(me())}}).status, 422);
    EXPECT_EQ(change({{"type", "emoji"}, {"file_id", id}}).status, 422);
    EXPECT_EQ(change({{"type", "file"}}).status, 422);
    EXPECT_EQ(
        expect(200, change({{"type", "emoji"}, {"emoji", "\U0001F4E6"}})).text("/icon/emoji"),
        "\U0001F4E6"
    );
}

TEST_F(Sharing, AWriteUnderALeaseThatIsOverIsRefused) {
    const auto id = file(me());
    const auto late = me().post(
        "/v1/cards/" + card + "/attachments",
        json::serialize(json::value{{"file_id", id}}),
        {{"X-Svc-Lease", "lt_" + std::string(43, 'A')}}
    );
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(late.text("/code"), "lease_lost");
}

TEST_F(Sharing, AWorkspaceInArrearsUploadsNothing) {
    const Announced made = announce(me());
    expect(204, upload(made, png));
    run("UPDATE orgs SET billing_state = 'past_due' WHERE id = '" + space.org_id + "'");
    EXPECT_TRUE(eventually([&] { return commit(me(), made.id).status == 402; }));
    EXPECT_EQ(presign(me(), {{"filename", "a"}, {"content_type", "a/b"}}).status, 402);
    EXPECT_EQ(read(me(), made.id).status, 200);
}

}  // namespace
}  // namespace svc::test
