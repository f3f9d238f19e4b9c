#pragma once

#include "tests/support/letters.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"
#include "tests/unit/content/page.hpp"

#include <map>

/// Blocks and comments that are as large as they may be, on a server whose database counts rows.
namespace svc::test {

/// Rich text of 200,000 letters: about 430 KB, as it is kept.
inline constexpr std::size_t long_text_size = 200'000;
inline array long_text() {
    const std::string item = letters(long_text_size / 100);
    array texts;
    for (int i = 0; i < 100; ++i) texts.push_back(object{{"text", {{"content", item}}}});
    return texts;
}
inline object long_block(std::string_view type, array children = {}) {
    object block{{type, {{"rich_text", long_text()}}}};
    if (!children.empty()) block["children"] = std::move(children);
    return block;
}

class LargeCard {
public:
    LargeCard() {
        const auto made = expect(201, client().post("/v1/boards", R"({"name": "Desk"})"));
        board_ = "/v1/boards/" + made.text("/id");
        const value one{{"column_id", made.text("/column_ids/0")}, {"title", "Card"}};
        card_ = expect(201, client().post(board_ + "/cards", one)).text("/id");
    }

    Client& client() { return workspace_.client; }
    const Server& server() const { return server_; }
    const std::string& board() const { return board_; }
    const std::string& id() const { return card_; }

    /// Adds a block, on the card unless told where; its id.
    std::string add(object block, const std::string& parent = {}) {
        const std::string path = "/v1/blocks/" + (parent.empty() ? card_ : parent) + "/children";
        const value body{{"children", array{std::move(block)}}};
        return expect(200, client().send("PATCH", path, boost::json::serialize(body)))
            .text("/results/0/id");
    }
    value list(const std::string& path) { return expect(200, client().get(path)).json(); }
    value blocks(int depth) {
        return list(
            "/v1/blocks/" + card_ + "/children?page_size=100&depth=" + std::to_string(depth)
        );
    }

    /// How many rows the statements that have this text have given since the last time.
    int rows_read(const std::string& text) {
        const int rows = std::stoi(Postgres::shared().run(
            "SELECT coalesce(sum(rows), 0) FROM pg_stat_statements s JOIN pg_database d"
            " ON d.oid = s.dbid AND d.datname = current_database() WHERE query LIKE '%" +
                text + "%' AND query NOT LIKE '%pg_stat_statements%'",
            database_
        ));
        return rows - std::exchange(rows_[text], rows);
    }

private:
    static std::string counting_database() {
        std::string url = Postgres::shared().fresh_database();
        Postgres::shared().run("CREATE EXTENSION pg_stat_statements", url);
        Postgres::shared().run(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET pg_stat_statements.track = top',"
            " current_database()); END $$",
            url
        );
        return url;
    }

    const std::string database_ = counting_database();
    Server server_{{
        .database_url = database_,
        .settings = {"modules=mail,orgs,auth,agents,boards,content", "plugins=mail-file"},
    }};
    Workspace workspace_ = make_workspace(server_);
    std::string board_, card_;
    std::map<std::string, int> rows_;
};

}  // namespace svc::test
