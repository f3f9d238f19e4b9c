#include "tests/support/at_once.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

/// Cards that one caller reads at once.
namespace svc::test {

namespace {

namespace json = boost::json;

struct Readers {
    std::string database = Postgres::shared().fresh_database();
    Server server{{.database_url = database}};
    Workspace workspace = make_workspace(server);
    Client agent = server.client();

    Readers() { agent.token(workspace.mint("agent", "Reader")); }

    std::string board(const json::value& settings) {
        const auto made = expect(201, workspace.client.post("/v1/boards", settings));
        column = made.text("/column_ids/0");
        return made.text("/id");
    }
    /// Its path.
    std::string card(const std::string& board, const json::object& more) {
        json::object body = more;
        body["column_id"] = column;
        const auto path = "/v1/boards/" + board + "/cards";
        return "/v1/cards/" +
               expect(201, workspace.client.post(path, json::value(body))).text("/id");
    }

    std::string column;  ///< of the board made last
};

}  // namespace

TEST(ManyReaders, OfOneCallerAreServedTogetherAndAnsweredEachForItself) {
    Readers readers;
    const auto hidden_board = readers.board({{"name", "Hidden"}, {"visibility", "private"}});
    const auto hidden = readers.card(hidden_board, {{"title", "Not for everybody"}});
    const auto board = readers.board({{"name", "Open"}});
    std::vector<std::string> paths;
    for (int i = 0; i < 30; ++i)
        paths.push_back(readers.card(board, {{"title", "Card " + std::to_string(i)}}));
    std::vector<Reply> alone;
    for (const auto& each : paths) alone.push_back(expect(200, readers.agent.get(each)));

    paths.push_back(paths[3]);
    alone.push_back(alone[3]);
    paths.insert(paths.begin() + 5, {hidden, "/v1/cards/00000000-0000-7000-8000-000000000000"});
    paths.emplace_back("/v1/cards/" + alone[4].text("/key"));
    alone.push_back(alone[4]);

    const auto before = together(readers.server);
    std::vector<Read> requests;
    for (const auto& each : paths) requests.push_back({each});
    const auto replies = at_once(readers.agent, readers.database, requests);
    EXPECT_GE(together(readers.server) - before, 5) << "they were served one by one";
    auto expected = alone.begin();
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (i == 5 || i == 6) {
            EXPECT_EQ(expect(404, replies[i]).text("/code"), "object_not_found") << paths[i];
            continue;
        }
        EXPECT_EQ(expect(200, replies[i]).body, expected->body);
        EXPECT_EQ(replies[i].header("etag"), expected->header("etag"));
        EXPECT_NE(replies[i].header("x-request-id"), expected->header("x-request-id"));
        ++expected;
    }
}

TEST(ManyReaders, SeeWhatWasWrittenBeforeTheyAsked) {
    Readers readers;
    const auto board = readers.board({{"name", "Open"}});
    std::vector<std::string> cards;
    for (int i = 0; i < 4; ++i) cards.push_back(readers.card(board, {{"title", "Old"}}));
    std::atomic<int> stale{0}, read{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&, i] {
            Client own = readers.agent, writer = readers.workspace.client;
            for (int round = 0; round < 40; ++round) {
                const auto& card = cards[static_cast<std::size_t>(i) % cards.size()];
                std::int64_t least = 0;
                if (i < 4) {
                    const json::value change{{"title", "New " + std::to_string(round)}};
                    const auto changed = writer.send("PATCH", card, json::serialize(change));
                    least = expect(200, changed).json().at("version").as_int64();
                }
                const auto seen = expect(200, own.get(card)).json().at("version").as_int64();
                if (seen < least) ++stale;
                ++read;
            }
        });
    for (auto& each : threads) each.join();
    EXPECT_EQ(stale, 0);
    EXPECT_EQ(read, 320);
}

}  // namespace svc::test
