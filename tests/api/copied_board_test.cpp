#include "tests/support/eventually.hpp"
#include "tests/support/killed_jobs.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <csignal>
#include <fstream>
#include <thread>

/// The copy of a board that is large, by the real program: what it takes, and what becomes of it
/// when the program is killed meanwhile.
namespace svc::test {

namespace {

namespace json = boost::json;

constexpr int cards = 1'500;

/// The most memory that the process has had, in MiB.
double peak_of(pid_t pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
    throw std::runtime_error("the process is gone");
}

json::array long_text() {
    const json::object item{{"text", {{"content", std::string(2'000, 'x')}}}};
    return json::array(6, item);
}

/// A board of so many cards, each with a long value.
class LargeBoard : public testing::Test {
protected:
    LargeBoard() {
        const auto made = expect(201, by.post("/v1/boards", json::value{{"name", "Large"}}));
        board = made.text("/id");
        const json::value notes{{"name", "Notes"}, {"type", "rich_text"}};
        expect(201, by.post("/v1/boards/" + board + "/properties", notes));
        const auto card = expect(
            201,
            by.post(
                "/v1/boards/" + board + "/cards",
                json::value{
                    {"column_id", made.text("/column_ids/0")},
                    {"title", "Card 0"},
                    {"properties", {{"Notes", long_text()}}}}
            )
        );
        ask("INSERT INTO cards (org_id, id, board_id, column_id, number, position, title, "
            "properties,"
            " created_by, last_edited_by) SELECT org_id, gen_random_uuid(), board_id, column_id,"
            " number + n, 'V' || lpad(n::text, 7, '0'), 'Card ' || n, properties, created_by,"
            " last_edited_by FROM cards, generate_series(1, " +
            std::to_string(cards - 1) + ") n WHERE id = '" + card.text("/id") + "'");
        ask("UPDATE board_counters SET last_number = last_number + " + std::to_string(cards - 1) +
            ", card_count = " + std::to_string(cards) + " WHERE board_id = '" + board + "'");
    }

    std::string ask(const std::string& sql) const { return Postgres::shared().run(sql, database); }
    int count_on(const std::string& which) const {
        return std::stoi(ask("SELECT count(*) FROM cards WHERE board_id = '" + which + "'"));
    }
    /// Waits until the board has at least so many; false when they do not come.
    bool comes_to(const std::string& which, int count) const {
        const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
        while (count_on(which) < count) {
            if (std::chrono::steady_clock::now() > until) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return true;
    }
    /// Starts a copy; its id.
    std::string copy() {
        const auto copied = expect(201, by.post("/v1/boards/" + board + ":duplicate"));
        EXPECT_GT(copied.json().at("cards_to_come").to_number<int>(), cards / 2);
        return copied.text("/id");
    }
    void expect_whole(const std::string& which) const {
        const auto sums = [&](const std::string& each) {
            return ask(
                "SELECT count(*) || ' ' || count(DISTINCT title) || ' ' || count(DISTINCT number)"
                " || ' ' || count(DISTINCT position) || ' ' || min(length(properties::text))"
                " FROM cards WHERE board_id = '" +
                each + "'"
            );
        };
        EXPECT_EQ(sums(which), sums(board));
        EXPECT_EQ(
            ask("SELECT card_count FROM board_counters WHERE board_id = '" + which + "'"),
            std::to_string(cards)
        );
    }

    const std::string database = Postgres::shared().fresh_database();
    Server server{{.database_url = database}};
    Workspace workspace = make_workspace(server);
    Client& by = workspace.client;
    std::string board;
};

}  // namespace

TEST_F(LargeBoard, IsCopiedToItsEndThoughTheServerIsKilledMeanwhile) {
    std::string copied;
    int there = cards;
    for (int tries = 0; tries < 5 && there == cards; ++tries) {
        copied = copy();
        ASSERT_TRUE(comes_to(copied, 300));
        EXPECT_EQ(server.end(SIGKILL), 128 + SIGKILL);
        there = count_on(copied);
        end_leases_of_killed(database);
        server.start();
    }
    EXPECT_LT(there, cards) << "it was done each time already, so that this shows nothing";
    ASSERT_TRUE(comes_to(copied, cards));
    std::this_thread::sleep_for(std::chrono::seconds(2));  // nothing comes behind the last
    expect_whole(copied);
    for (const char* table : {"board_copies", "board_copy_cards"})
        EXPECT_TRUE(eventually([&] {
            return ask(std::string("SELECT count(*) FROM ") + table) == "0";
        })) << table;
}

TEST_F(LargeBoard, TakesNoMoreMemoryToCopyThanAFewBatches) {
    if (!memory_is_given_back) GTEST_SKIP() << "sanitizers keep what was freed";
    // One that is small, for what any copy needs.
    const auto small = expect(201, by.post("/v1/boards", json::value{{"name", "Small"}}));
    expect(201, by.post("/v1/boards/" + small.text("/id") + ":duplicate"));
    const double before = peak_of(server.pid());
    const std::string copied = copy();
    ASSERT_TRUE(comes_to(copied, cards));
    const double more = peak_of(server.pid()) - before;
    std::printf("%d cards of 24 KB: %.1f MiB more than before\n", cards, more);
    RecordProperty("mebibytes", static_cast<int>(more));
    // A batch on each of the four threads of jobs, and what malloc keeps of them. The cards are 36
    // MB as text and several times that as records.
    EXPECT_LT(more, 36);
    expect_whole(copied);
}

}  // namespace svc::test
