#include "tests/unit/feedback/feedback_fixture.hpp"

/// Screenshots: created, sent, committed and named in a report, with the server's own store.
namespace svc::test {
namespace {

class Screenshots : public FeedbackTest {
protected:
    Screenshots() : FeedbackTest({"files.sweep_seconds=1"}) {}

    /// Another file of Ada's, through the route that all files take; not committed.
    Announced attachment() {
        const json::value body{{"filename", "a.png"}, {"content_type", "image/png"}};
        const Announced made(expect(201, ada.post("/v1/files:presign", body)));
        expect(204, upload(made, png));
        return made;
    }
};

TEST_F(Screenshots, AreCreatedSentCommittedAndNamed) {
    const Announced made(expect(201, presign(ada, {{"size_bytes", 16}})));
    const auto& said = made.answer.as_object();
    EXPECT_EQ(said.at("object"), "file");
    EXPECT_EQ(said.at("org_id"), json::value(org));
    EXPECT_EQ(said.at("status"), "pending");
    EXPECT_EQ(said.at("purpose"), "feedback_screenshot");
    EXPECT_EQ(said.at("upload_url_method"), "POST");
    // The form says what it takes, and nothing else is taken.
    Form more = made.form;
    more.file = png + "x";
    EXPECT_EQ(client().post(path_of(made.url), more.body(), Form::headers()).status, 413);
    EXPECT_EQ(expect(409, commit(ada, made.id)).text("/additional_data/reason"), "upload_missing");
    expect(204, upload(made, png));
    const auto done = expect(200, commit(ada, made.id));
    EXPECT_EQ(done.text("/object"), "file");
    EXPECT_EQ(done.text("/status"), "available");
    EXPECT_EQ(expect(200, commit(ada, made.id)).text("/sha256"), done.text("/sha256"));
    EXPECT_EQ(client().get(path_of(done.text("/url"))).body, png);

    const auto report = expect(201, give(ada, {{"screenshot_file_id", made.id}}));
    EXPECT_EQ(report.text("/screenshot_file_id"), made.id);
    EXPECT_EQ(expect(200, read(ada, report.text("/id"))).text("/screenshot_file_id"), made.id);
}

TEST_F(Screenshots, BadOnesSayWhatIsWrong) {
    const auto loc = [&](json::object more) {
        return json::serialize(first_loc(expect(422, presign(ada, std::move(more)))));
    };
    EXPECT_EQ(loc({{"content_type", "image/svg+xml"}}), R"(["body","content_type"])");
    EXPECT_EQ(loc({{"content_type", "text/html"}}), R"(["body","content_type"])");
    EXPECT_EQ(loc({{"filename", "../a.png"}}), R"(["body","filename"])");
    EXPECT_EQ(loc({{"filename", "a\x01.png"}}), R"(["body","filename"])");
    EXPECT_EQ(loc({{"size_bytes", 0}}), R"(["body","size_bytes"])");
    EXPECT_EQ(loc({{"size_bytes", (5 << 20) + 1}}), R"(["body","size_bytes"])");
    EXPECT_EQ(loc({{"purpose", "attachment"}}), R"(["body","purpose"])");
    const Announced made(expect(201, presign(ada)));
    expect(204, upload(made, "<html>"));
    EXPECT_THAT(expect(422, commit(ada, made.id)).body, HasSubstr("declared as image/png"));
    expect(204, upload(made, png));
    expect(200, commit(ada, made.id));
}

TEST_F(Screenshots, AreOfWhoMadeThemInThatWorkspace) {
    Client bob = member("bob@example.com", "admin");
    Client agent = program(ada, "agent", "member");
    const Announced made(expect(201, presign(ada)));
    expect(204, upload(made, png));
    expect(404, commit(bob, made.id));
    expect(404, commit(agent, made.id));
    const auto other =
        expect(201, ada.post("/v1/orgs", json::value{{"name", "Other"}})).text("/id");
    Client plain = ada;
    plain.always("X-Svc-Org", "");
    expect(404, commit(plain, made.id, "?org_id=" + other));
    expect(404, commit(plain, made.id, "?org_id=" + nowhere));
    expect(200, commit(plain, made.id, "?org_id=" + org));

    const auto refused = [&](Client& by, const std::string& id, const std::string& query = "") {
        const auto reply = expect(422, give(by, {{"screenshot_file_id", id}}, query));
        return json::serialize(first_loc(reply));
    };
    const std::string there = R"(["body","screenshot_file_id"])";
    EXPECT_EQ(refused(bob, made.id), there);
    EXPECT_EQ(refused(agent, made.id), there);
    EXPECT_EQ(refused(plain, made.id, "?org_id=" + other), there);
    const Announced pending(expect(201, presign(ada)));
    EXPECT_EQ(refused(ada, pending.id), there);
    expect(201, give(ada, {{"screenshot_file_id", made.id}}));
}

TEST_F(Screenshots, OtherFilesAreNone) {
    const Announced file = attachment();
    expect(404, commit(ada, file.id));
    expect(404, commit(ada, file.id, "?org_id=" + org));
    expect(200, ada.post("/v1/files/" + file.id + ":commit"));
    expect(404, commit(ada, file.id));
    expect(422, give(ada, {{"screenshot_file_id", file.id}}));
    expect(404, commit(ada, nowhere));
}

TEST_F(Screenshots, AreCommittedAsSuchAlone) {
    const Announced made(expect(201, presign(ada)));
    expect(204, upload(made, png));
    expect(404, ada.post("/v1/files/" + made.id + ":commit"));
    expect(200, commit(ada, made.id));
}

TEST_F(Screenshots, AWorkspaceInArrearsStillCommitsThemAndNothingElse) {
    const Announced made(expect(201, presign(ada)));
    expect(204, upload(made, png));
    const Announced file = attachment();
    const Announced same_way(expect(201, presign(ada)));
    expect(204, upload(same_way, png));
    set_state("past_due");
    for (const auto& reply :
         {give(ada),
          presign(ada),
          ada.post("/v1/files/" + file.id + ":commit"),
          ada.post("/v1/files/" + same_way.id + ":commit")})
        EXPECT_EQ(expect(402, reply).text("/code"), "workspace_past_due");
    expect(404, commit(ada, file.id));
    EXPECT_EQ(expect(200, commit(ada, made.id)).text("/status"), "available");
    EXPECT_EQ(expect(200, commit(ada, same_way.id, "?org_id=" + org)).text("/status"), "available");
    set_state("active");
    expect(201, give(ada, {{"screenshot_file_id", made.id}}));
}

TEST_F(Screenshots, ThatNobodyCommitsAreSweptAway) {
    const Announced made(expect(201, presign(ada)));
    expect(204, upload(made, png));
    ask("UPDATE files SET upload_ends_at = now() - interval '1 hour', sweep_at = now()");
    const auto folder = server.var() / "objects" / org / made.id;
    EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(folder / "incoming"); }));
    EXPECT_EQ(expect(409, commit(ada, made.id)).text("/additional_data/reason"), "upload_expired");
}

}  // namespace
}  // namespace svc::test
