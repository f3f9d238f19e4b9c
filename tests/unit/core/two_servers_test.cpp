#include "tests/support/in_process_server.hpp"

/// Two servers in one process: libraries are loaded once, so both have the same code and must not
/// share anything else.
namespace svc::test {

namespace {

constexpr const char* all_modules =
    "mail,orgs,auth,agents,boards,files,content,queue,webhooks,automations,mcp,docs";

/// A workspace with a board and a queue on one of them.
struct Site {
    explicit Site(InProcessServer& on, const std::string& name)
        : server(on), owner(on.owner_of_new_org(name)) {
        board = server
                    .must(
                        owner,
                        "create_board",
                        {{"name", name}, {"columns", value(boost::json::array())}}
                    )
                    .id();
        queue = column({{"name", "Queue"}, {"kind", "queue"}, {"queue", {{"enabled", true}}}});
        column({{"name", "Done"}, {"kind", "done"}});
    }

    Uuid column(boost::json::object what) {
        what["board_id"] = board.str();
        return server.must(owner, "create_column", what).id();
    }
    Uuid card(const std::string& title) {
        return server
            .must(
                owner,
                "create_card",
                {{"board_id", board.str()}, {"column_id", queue.str()}, {"title", title}}
            )
            .id();
    }
    Answer claim() {
        return server.must(
            owner, "claim_next_card", {{"board_id", board.str()}, {"column_id", queue.str()}}
        );
    }

    /// Something of every module that others hand their services to.
    void work(const std::string& word) {
        const auto id = card(word + " first").str();
        card(word + " second");
        server.must(
            owner, "create_comment", {{"parent", {{"card_id", id}}}, {"markdown", word + " said"}}
        );
        server.must(owner, "update_card_markdown", {{"card_id", id}, {"markdown", word + " body"}});
        const auto brief = server.must(owner, "get_card_context", {{"card_id", id}});
        EXPECT_NE(brief.text("/markdown").find(word + " said"), std::string::npos);
        server.must(owner, "watch_card", {{"card_id", id}});
        server.must(owner, "create_share_link", {{"board_id", board.str()}});

        const auto claimed = claim();
        EXPECT_EQ(claimed.text("/card/title"), word + " first");
        server.must(
            owner,
            "complete_lease",
            {{"lease_id", claimed.text("/lease/id")}, {"lease_token", claimed.text("/lease_token")}}
        );
        EXPECT_EQ(claim().text("/card/title"), word + " second");
        const auto copy = server.must(owner, "duplicate_board", {{"board_id", board.str()}});
        server.run_job("boards.copy_cards");
        EXPECT_EQ(server.must(owner, "get_board", {{"board_id", copy.text("/id")}}).status, 200);
        server.run_job("queue.expire_leases");
        server.run_job("files.sweep");
    }

    InProcessServer& server;
    Caller owner;
    Uuid board, queue;
};

}  // namespace

TEST(TwoServers, StandSideBySideInOneProcess) {
    auto first = std::make_unique<InProcessServer>(all_modules, "store-local,mail-file");
    InProcessServer second(all_modules, "store-local,mail-file");
    EXPECT_EQ(first->kernel().operations().size(), second.kernel().operations().size());
    Site here(*first, "Here"), there(second, "There");
    for (const char* word : {"Tea", "Coffee"}) {
        here.work(word);
        there.work(word);
    }
    const auto id = here.board.str();
    EXPECT_EQ(second.ask(there.owner, "get_board", {{"board_id", id}}).status, 404);
    EXPECT_EQ(second.run("SELECT count(*) FROM boards WHERE id = '" + id + "'"), "0");
    EXPECT_EQ(first->run("SELECT count(*) FROM boards WHERE name LIKE 'There%'"), "0");

    first.reset();
    there.work("Water");
}

}  // namespace svc::test
