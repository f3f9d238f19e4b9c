// Files among the values of cards' properties.

#include "tests/unit/files/files_fixture.hpp"

namespace svc::test {
namespace {

class FileValues : public FilesTest {
protected:
    FileValues() {
        const json::value docs{{"name", "Docs"}, {"type", "files"}};
        property = expect(201, me().post("/v1/boards/" + board + "/properties", docs)).text("/id");
    }
    Reply set(Client& by, const json::value& files, const Headers& headers = {}) {
        const json::object what{{"properties", json::object{{"Docs", files}}}};
        return by.send("PATCH", "/v1/cards/" + card, json::serialize(what), headers);
    }
    static json::array shown(const Reply& reply) {
        const auto all = reply.json().at("properties").as_object();
        if (!all.contains("Docs")) return {};
        return all.at("Docs").at("files").as_array();
    }
    static std::string url_of(const json::value& file) {
        return std::string(file.at("url").as_string());
    }

    std::string property;
};

}  // namespace

TEST_F(FileValues, AreShownWithALinkToWhoeverSeesTheCard) {
    Client robot = token("member", "agent");
    const auto id = file(me());
    expect(200, set(me(), json::array{id}));
    EXPECT_EQ(read(robot, id).status, 200);
    for (const std::string& path :
         {"/v1/cards/" + card,
          "/v1/cards?board_id=" + board,
          "/v1/boards/" + board + "/snapshot"}) {
        const Reply reply = expect(200, robot.get(path));
        EXPECT_NE(reply.body.find("/card-files/"), std::string::npos) << path;
    }
    const auto files = shown(robot.get("/v1/cards/" + card));
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].at("file_id"), json::value(id));
    EXPECT_EQ(files[0].at("name"), "a.png");
    const Reply way = download(url_of(files[0]));
    ASSERT_EQ(way.status, 302);
    EXPECT_EQ(download(way.header("location")).body, png);
    const auto list = expect(200, robot.get("/v1/cards/" + card + "/attachments"));
    EXPECT_EQ(list.text("/results"), "[]") << "it is no attachment";
}

TEST_F(FileValues, LinksAreGoodForNothingElse) {
    const auto id = file(me()), other = file(me());
    expect(200, set(me(), json::array{id}));
    const std::string url = url_of(shown(me().get("/v1/cards/" + card))[0]);
    std::string swapped = url;
    swapped.replace(swapped.find(id), id.size(), other);
    EXPECT_EQ(download(swapped).status, 404);
    std::string longer = url;
    longer.insert(longer.find("?s="), "0");
    EXPECT_EQ(download(longer).status, 404);
    expect(204, me().send("DELETE", "/v1/files/" + id));
    EXPECT_EQ(download(url).status, 404) << "the file is gone";
}

TEST_F(FileValues, OnlyWhatTheCallerMayHangIsTaken) {
    Client robot = token("member", "agent");
    const auto mine = file(me());
    const Reply refused = set(robot, json::array{mine});
    ASSERT_EQ(refused.status, 422);
    EXPECT_EQ(refused.text("/detail/0/loc"), R"(["body","properties","Docs",0])");
    EXPECT_EQ(set(me(), json::array{announce(me()).id}).status, 422) << "not committed";
    EXPECT_EQ(set(me(), json::array{"nothing"}).status, 422);
    EXPECT_EQ(set(me(), json::array(51, json::value(mine))).status, 422);
    expect(200, set(me(), json::array{mine}));
    EXPECT_EQ(shown(expect(200, set(robot, json::array{mine}))).size(), 1U) << "it is there";
}

TEST_F(FileValues, WhatIsShownIsTakenBackJoinedAndLetGo) {
    Client robot = token("member", "agent");
    const auto first = file(me()), second = file(me());
    const auto one = shown(expect(200, set(me(), json::array{first})));
    const Reply same = expect(200, set(me(), json::object{{"type", "files"}, {"files", one}}));
    EXPECT_EQ(same.json().at("version"), 2);
    const Reply both =
        expect(200, set(me(), json::array{second, first}, {{"Prefer", "merge-properties"}}));
    ASSERT_EQ(shown(both).size(), 2U);
    EXPECT_EQ(shown(both)[1].at("file_id"), json::value(second));
    EXPECT_EQ(read(robot, second).status, 200);
    expect(200, set(me(), json::array{second}));
    EXPECT_EQ(read(robot, first).status, 404);
    EXPECT_EQ(read(me(), first).status, 200) << "whose it is again";
    expect(204, me().send("DELETE", "/v1/boards/" + board + "/properties/" + property));
    EXPECT_EQ(read(robot, second).status, 404);
}

TEST_F(FileValues, AreLetGoByCardsThatFollowADeletedPropertyLater) {
    Client robot = token("member", "agent");
    const auto first = file(me()), second = file(me());
    expect(200, set(me(), json::array{first, second}));
    Postgres::shared().run(
        "INSERT INTO cards (org_id, id, board_id, column_id, number, position, title, created_by,"
        " last_edited_by) SELECT org_id, gen_random_uuid(), board_id, column_id, number + n, 'V',"
        " 'More', created_by, last_edited_by FROM cards, generate_series(1, 600) n WHERE id = '" +
            card +
            "'; UPDATE board_counters SET last_number = last_number + 600 WHERE board_id = '" +
            board + "'",
        database
    );
    expect(204, me().send("DELETE", "/v1/boards/" + board + "/properties/" + property));
    EXPECT_TRUE(eventually([&] { return read(robot, first).status == 404; }));
    EXPECT_EQ(read(robot, second).status, 404);
    EXPECT_EQ(read(me(), first).status, 200) << "whose it is again";
    EXPECT_EQ(shown(expect(200, me().get("/v1/cards/" + card))).size(), 0U);
}

TEST_F(FileValues, ThatWereDeletedDoNotComeBackByARevert) {
    const auto gone = file(me()), kept = file(me());
    expect(200, set(me(), json::array{gone, kept}));
    expect(200, set(me(), json::array{}));
    expect(204, me().send("DELETE", "/v1/files/" + gone));
    const auto revert = [&](int version) {
        return expect(
            200, me().post("/v1/cards/" + card + ":revert", json::value{{"version", version}})
        );
    };
    const auto files = shown(revert(2));
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].at("file_id"), json::value(kept));
    EXPECT_EQ(run("SELECT count(*) FROM file_places WHERE file_id = '" + kept + "'"), "1");
    expect(200, set(me(), json::array{}));
    expect(204, me().send("DELETE", "/v1/files/" + kept));
    EXPECT_TRUE(shown(revert(2)).empty());
}

TEST_F(FileValues, LinksEndWithTheWayThatLedToThem) {
    const auto id = file(me());
    expect(200, set(me(), json::array{id}));
    const std::string way = url_of(shown(me().get("/v1/cards/" + card))[0]);
    const auto slash = way.rfind('/') + 1;
    const auto until = way.substr(slash, way.find('?') - slash);
    const auto location = expect(302, download(way)).header("location");
    EXPECT_NE(location.find(until), std::string::npos) << location;
}

TEST_F(FileValues, CopiesOfCardsShowThemToo) {
    Client robot = token("member", "agent");
    const auto id = file(me());
    expect(200, set(me(), json::array{id}));
    expect(201, me().post("/v1/cards/" + card + ":duplicate"));
    expect(201, me().post("/v1/boards/" + board + ":duplicate"));
    EXPECT_EQ(run("SELECT count(*) FROM file_places WHERE file_id = '" + id + "'"), "4");
}

TEST_F(FileValues, OfACardThatIsGoneForGoodAreTheirUploadersAgain) {
    Client robot = token("member", "agent");
    const auto id = file(me());
    expect(200, set(me(), json::array{id}));
    run("DELETE FROM cards WHERE id = '" + card + "'");
    EXPECT_EQ(read(robot, id).status, 404);
    EXPECT_EQ(read(me(), id).status, 200);
}

}  // namespace svc::test
