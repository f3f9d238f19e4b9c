#include "tests/support/at_once.hpp"
#include "tests/unit/files/files_fixture.hpp"

#include <algorithm>

/// Announcing, sending and committing, with the server's own store.
namespace svc::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::MatchesRegex;

using Uploads = FilesTest;

TEST_F(Uploads, AFileIsAnnouncedSentCommittedAndDownloaded) {
    const Announced made = announce(
        me(), {{"filename", "été.png"}, {"content_type", "Image/PNG"}, {"size_bytes", 16}}
    );
    const auto& said = made.answer.as_object();
    EXPECT_EQ(said.at("object"), "file");
    EXPECT_EQ(said.at("status"), "pending");
    EXPECT_EQ(said.at("purpose"), "attachment");
    EXPECT_EQ(said.at("content_type"), "image/png");
    EXPECT_EQ(said.at("upload_url_method"), "POST");
    EXPECT_EQ(said.at("expires_at"), said.at("upload_expires_at"));
    EXPECT_TRUE(said.at("url").is_null());

    EXPECT_EQ(expect(204, upload(made, png)).body, "");
    const auto done = expect(200, commit(me(), made.id));
    EXPECT_EQ(done.text("/status"), "available");
    EXPECT_EQ(done.text("/size_bytes"), "16");
    EXPECT_EQ(done.text("/expires_at"), "null");
    EXPECT_THAT(done.text("/sha256"), MatchesRegex("[0-9a-f]{64}"));
    EXPECT_EQ(done.text("/created_by/id"), space.user_id);

    const auto got = expect(200, download(done.text("/url")));
    EXPECT_EQ(got.body, png);
    EXPECT_EQ(got.header("content-type"), "image/png");
    EXPECT_EQ(
        got.header("content-disposition"),
        "inline; filename=\"_t_.png\"; filename*=UTF-8''%C3%A9t%C3%A9.png"
    );
    EXPECT_EQ(got.header("x-content-type-options"), "nosniff");
    EXPECT_EQ(got.header("content-security-policy"), "default-src 'none'; sandbox");
    EXPECT_THAT(got.header("cache-control"), MatchesRegex("private, max-age=[0-9]+"));
}

TEST_F(Uploads, ARepeatedCommitGivesTheSame) {
    const auto id = file(me());
    const auto first = expect(200, commit(me(), id)).json();
    const auto second = expect(200, commit(me(), id)).json();
    for (const char* each : {"/id", "/status", "/size_bytes", "/sha256", "/committed_at"})
        EXPECT_EQ(first.at_pointer(each), second.at_pointer(each)) << each;
}

TEST_F(Uploads, CommitsAtTheSameTimeAgree) {
    const Announced made = announce(me());
    expect(204, upload(made, png));
    std::vector<std::thread> threads;
    std::array<Reply, 6> replies;
    for (auto& reply : replies)
        threads.emplace_back([&, by = me()]() mutable { reply = commit(by, made.id); });
    for (auto& each : threads) each.join();
    for (const auto& reply : replies) {
        EXPECT_EQ(reply.status, 200) << reply.body;
        EXPECT_EQ(reply.text("/sha256"), replies[0].text("/sha256"));
    }
    EXPECT_EQ(objects_of(made.id), 1u);
}

TEST_F(Uploads, NothingUploadedIsNothingToCommit) {
    const Announced made = announce(me());
    const auto refused = expect(409, commit(me(), made.id));
    EXPECT_EQ(refused.text("/additional_data/reason"), "upload_missing");
    expect(204, upload(made, png));
    expect(200, commit(me(), made.id));
}

TEST_F(Uploads, WhatIsNotAsDeclaredIsRefusedAndRemoved) {
    for (const std::string bytes :
         {"<html><script>alert(1)</script>", "<svg onload=alert(1)>", "GIF89a"}) {
        const Announced made = announce(me());
        expect(204, upload(made, bytes));
        const auto refused = expect(422, commit(me(), made.id));
        EXPECT_THAT(refused.body, HasSubstr("declared as image/png")) << bytes;
        EXPECT_EQ(objects_of(made.id), 0u);
        EXPECT_EQ(expect(200, read(me(), made.id)).text("/status"), "pending");
        expect(204, upload(made, png));
        expect(200, commit(me(), made.id));
    }
}

TEST_F(Uploads, MarkupIsNeverShown) {
    const std::string page = "<html><script>alert(document.domain)</script>";
    for (const auto& [type, bytes] : std::map<std::string, std::string>{
             {"text/html", page},
             {"image/svg+xml", "<svg xmlns=\"x\"><script>1</script></svg>"},
             {"text/plain", page},
             {"application/octet-stream", page}}) {
        const auto id = file(me(), bytes, {{"filename", "x.html"}, {"content_type", type}});
        const auto got = expect(200, download(read(me(), id).text("/url")));
        EXPECT_THAT(got.header("content-disposition"), HasSubstr("attachment;")) << type;
        EXPECT_EQ(got.header("x-content-type-options"), "nosniff");
        EXPECT_THAT(got.header("content-security-policy"), HasSubstr("sandbox"));
    }
}

TEST_F(Uploads, TheFormTakesNothingElse) {
    const Announced made =
        announce(me(), {{"filename", "a.png"}, {"content_type", "image/png"}, {"size_bytes", 100}});
    const auto other = announce(me());
    Form right = made.form;
    right.file = png;
    const auto with = [&](const std::string& name, const std::string& value) {
        Form form = right;
        form[name] = value;
        return send(made, form).status;
    };
    EXPECT_EQ(with("Content-Type", "text/html"), 403);
    EXPECT_EQ(with("key", other.form.fields[1].second), 403);
    EXPECT_EQ(with("key", "../../server.key"), 403);
    EXPECT_EQ(with("signature", std::string(64, '0')), 403);
    EXPECT_EQ(with("signature", ""), 403);
    EXPECT_EQ(with("policy", "e30="), 403);
    EXPECT_EQ(with("success_action_redirect", "https://evil.example"), 403);
    for (const char* each : {"key", "Content-Type", "policy", "signature"}) {
        Form form = right;
        form.leave_out(each);
        EXPECT_EQ(send(made, form).status, 403) << each;
    }
    Form twice = right;
    twice.fields.emplace_back("Key", twice["key"]);
    EXPECT_EQ(send(made, twice).status, 422);
    EXPECT_EQ(upload(made, std::string(101, 'x')).status, 413);
    EXPECT_EQ(upload(made, "").status, 422);
    EXPECT_EQ(objects_of(made.id), 0u);
    EXPECT_EQ(send(made, right).status, 204);
}

TEST_F(Uploads, APolicyOfAnotherFileDoesNotHelp) {
    const Announced mine = announce(me()), other = announce(me());
    Form mixed = mine.form;
    mixed["policy"] = Form(other.form)["policy"];
    mixed.file = png;
    EXPECT_EQ(send(mine, mixed).status, 403);
    mixed["signature"] = Form(other.form)["signature"];
    EXPECT_EQ(send(mine, mixed).status, 403);  // signed, but for another key
}

TEST_F(Uploads, AFormThatIsSentAgainChangesNothing) {
    const Announced made = announce(me());
    expect(204, upload(made, png));
    const auto before = expect(200, commit(me(), made.id));
    const std::string other = png + "something else";
    expect(204, upload(made, other));
    EXPECT_EQ(expect(200, commit(me(), made.id)).text("/sha256"), before.text("/sha256"));
    EXPECT_EQ(download(read(me(), made.id).text("/url")).body, png);
    EXPECT_EQ(objects_of(made.id), 2u);
    run("UPDATE files SET upload_ends_at = now() - interval '1 hour', sweep_at = now() WHERE id = "
        "'" +
        made.id + "'");
    EXPECT_TRUE(eventually([&] { return objects_of(made.id) == 1; }));
    EXPECT_EQ(download(read(me(), made.id).text("/url")).body, png);
}

TEST_F(Uploads, AreGoodForAWhile) {
    const Announced made = announce(me());
    run("UPDATE files SET upload_ends_at = now() - interval '1 minute' WHERE id = '" + made.id + "'"
    );
    EXPECT_EQ(expect(200, read(me(), made.id)).text("/status"), "expired");
    run("UPDATE files SET status = 'expired' WHERE id = '" + made.id + "'");
    const auto late = expect(409, commit(me(), made.id));
    EXPECT_EQ(late.text("/additional_data/reason"), "upload_expired");
}

TEST_F(Uploads, WhatNobodyCommitsIsSweptAway) {
    const Announced made = announce(me());
    expect(204, upload(made, png));
    EXPECT_EQ(objects_of(made.id), 1u);
    run("UPDATE files SET upload_ends_at = now() - interval '1 hour', sweep_at = now() WHERE id = "
        "'" +
        made.id + "'");
    EXPECT_TRUE(eventually([&] { return objects_of(made.id) == 0; }));
    EXPECT_TRUE(eventually([&] {
        return run("SELECT sweep_at > now() + interval '1 day' FROM files WHERE id = '" + made.id +
                   "'") == "t";
    }));
    EXPECT_EQ(expect(200, read(me(), made.id)).text("/status"), "expired");
    run("UPDATE files SET upload_ends_at = now() - interval '30 days', sweep_at = now() WHERE id = "
        "'" +
        made.id + "'");
    EXPECT_TRUE(eventually([&] { return read(me(), made.id).status == 404; }));
}

TEST_F(Uploads, ASweeperThatDiedIsFollowedByAnother) {
    const auto id = file(me());
    expect(204, me().send("DELETE", "/v1/files/" + id));
    // Claimed by somebody who never came back.
    run("UPDATE files SET sweep_at = now() - interval '1 second', upload_ends_at = now() - "
        "interval '1 hour' WHERE id = '" +
        id + "'");
    EXPECT_TRUE(eventually([&] {
        return run("SELECT count(*) FROM files WHERE id = '" + id + "'") == "0";
    }));
    EXPECT_EQ(objects_of(id), 0u);
}

TEST_F(Uploads, WhatAWorkspaceLeavesBehindIsRemoved) {
    const auto id = file(me());
    run("DELETE FROM orgs WHERE id = '" + space.org_id + "'");
    do_now("files.mark_orphans", database);
    EXPECT_TRUE(eventually([&] { return objects_of(id) == 0; }));
}

TEST_F(Uploads, ThoseThatAreAnnouncedAtOnceCountEachOther) {
    for (int i = 0; i < 15; ++i) announce(me());
    const json::value body{{"filename", "a"}, {"content_type", "a/b"}};
    const auto replies =
        at_once(me(), database, std::vector<Sent>(10, {"/v1/files:presign", body}));
    EXPECT_EQ(std::ranges::count(replies, 201, &Reply::status), 5);
    EXPECT_EQ(std::ranges::count(replies, 429, &Reply::status), 5);
}

TEST_F(Uploads, OnlySoManyMayBeOnTheirWay) {
    for (int i = 0; i < 20; ++i) announce(me());
    const auto refused = presign(me(), {{"filename", "a"}, {"content_type", "a/b"}});
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.text("/additional_data/rate_limit_reason"), "pending_uploads");
    EXPECT_EQ(refused.header("retry-after"), "60");
    Client robot = token("member", "agent");
    announce(robot);
}

TEST_F(Uploads, AnnouncementsAreChecked) {
    const auto status = [&](const json::object& what) {
        json::object all{{"filename", "a.png"}, {"content_type", "image/png"}};
        for (const auto& [name, value] : what) all[name] = value;
        return presign(me(), all).status;
    };
    EXPECT_EQ(status({{"filename", "a/../b"}}), 422);
    EXPECT_EQ(status({{"filename", "a\r\nX-Evil: 1"}}), 422);
    EXPECT_EQ(status({{"filename", ""}}), 422);
    EXPECT_EQ(status({{"filename", " \u00A0"}}), 422);
    EXPECT_EQ(status({{"filename", std::string(256, 'a')}}), 422);
    EXPECT_EQ(status({{"content_type", "image"}}), 422);
    EXPECT_EQ(status({{"content_type", "image/png\r\nX: 1"}}), 422);
    EXPECT_EQ(status({{"size_bytes", 0}}), 422);
    EXPECT_EQ(status({{"size_bytes", (20 << 20) + 1}}), 422);
    EXPECT_EQ(status({{"purpose", "feedback_screenshot"}}), 422);
    EXPECT_EQ(status({{"purpose", "avatar"}, {"content_type", "image/svg+xml"}}), 422);
    EXPECT_EQ(status({{"purpose", "avatar"}, {"size_bytes", (5 << 20) + 1}}), 422);
    EXPECT_EQ(status({{"size_bytes", 20 << 20}}), 201);
    const Announced spaced =
        announce(me(), {{"filename", " a.png "}, {"content_type", "image/png"}});
    EXPECT_EQ(spaced.answer.at("filename").as_string(), "a.png");
}

TEST_F(Uploads, ALargeFileGoesBothWays) {
    std::string bytes = png;
    for (std::uint32_t state = 7; bytes.size() < (20u << 20);)
        bytes += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    const auto id = file(me(), bytes);
    const auto url = read(me(), id).text("/url");
    EXPECT_TRUE(download(url).body == bytes);
    const auto piece = download(url, {{"Range", "bytes=1000000-1999999"}});
    EXPECT_EQ(piece.status, 206);
    EXPECT_EQ(
        piece.header("content-range"), "bytes 1000000-1999999/" + std::to_string(bytes.size())
    );
    EXPECT_TRUE(piece.body == bytes.substr(1'000'000, 1'000'000));
    EXPECT_EQ(download(url, {{"Range", "bytes=99999999-"}}).status, 416);
}

TEST_F(Uploads, WhatBreaksOffIsNotKept) {
    const Announced made = announce(me());
    Form form = made.form;
    form.file = std::string(300'000, 'x');
    const auto body = form.body();
    {
        Connection connection(server->port());
        connection.write(
            "POST " + path_of(made.url) + " HTTP/1.1\r\nHost: x\r\nContent-Type: " +
            Form::headers()[0].second + "\r\nContent-Length: " + std::to_string(body.size()) +
            "\r\n\r\n" + body.substr(0, 200'000)
        );
        ASSERT_TRUE(eventually([&] {
            return !std::filesystem::is_empty(server->var() / "objects/.unfinished");
        }));
    }
    EXPECT_TRUE(eventually([&] {
        return std::filesystem::is_empty(server->var() / "objects/.unfinished");
    }));
    expect(409, commit(me(), made.id));
}

TEST_F(Uploads, WhatIsNoFormIsRefused) {
    const Announced made = announce(me());
    Client plain = server->client();
    EXPECT_EQ(plain.post("/storage/upload", "{}").status, 422);
    EXPECT_EQ(plain.post("/storage/upload").status, 422);
    EXPECT_EQ(plain.post("/storage/upload", "hello", Form::headers()).status, 422);
    auto cut = made.form.body();
    cut.resize(cut.size() - 30);
    EXPECT_EQ(plain.post("/storage/upload", cut, Form::headers()).status, 422);
    EXPECT_EQ(plain.get("/storage/upload").status, 404);
}

}  // namespace
}  // namespace svc::test
