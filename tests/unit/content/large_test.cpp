#include "tests/unit/content/large.hpp"
#include "tests/support/memory.hpp"

#include <atomic>
#include <thread>

/// What is read of blocks and comments that are as large as they may be.
namespace svc::test {

namespace {

constexpr std::size_t most_bytes = 1 << 20;
constexpr int count = 8;

/// Goes through a list page by page, each of which keeps to its bytes, and gives the ids. What was
/// read for a page is what it shows, one row for what goes on, and no more.
std::vector<std::string> walk(
    LargeCard& card, const std::string& path, const std::string& statement
) {
    std::vector<std::string> ids;
    card.rows_read(statement);
    std::string cursor;
    for (int pages = 0; pages < 2 * count; ++pages) {
        const value page = card.list(path + "page_size=100" + cursor);
        const auto& results = page.at("results").as_array();
        EXPECT_LE(boost::json::serialize(results).size(), most_bytes);
        const int rows = card.rows_read(statement);
        EXPECT_GE(rows, static_cast<int>(results.size()));
        EXPECT_LE(rows, static_cast<int>(results.size()) + 1);
        for (const value& each : results) ids.emplace_back(each.at("id").as_string());
        if (page.at("next_cursor").is_null()) return ids;
        cursor = "&start_cursor=" + std::string(page.at("next_cursor").as_string());
    }
    ADD_FAILURE() << "it does not end";
    return ids;
}

const std::string blocks_listed = "WITH RECURSIVE seen";
const std::string comments_listed = "coalesce(m.discussion_id, s.card_id)";

}  // namespace

TEST(Large, BlocksAreReadAsFarAsTheirPageGoes) {
    LargeCard card;
    std::vector<std::string> made;
    for (int i = 0; i < count; ++i) made.push_back(card.add(long_block("paragraph")));
    EXPECT_EQ(walk(card, "/v1/blocks/" + card.id() + "/children?", blocks_listed), made);
}

TEST(Large, CommentsAreReadAsFarAsTheirPageGoes) {
    LargeCard card;
    const value comment{{"parent", {{"card_id", card.id()}}}, {"rich_text", long_text()}};
    std::vector<std::string> made;
    for (int i = 0; i < count; ++i)
        made.push_back(expect(201, card.client().post("/v1/comments", comment)).text("/id"));
    EXPECT_EQ(walk(card, "/v1/comments?card_id=" + card.id() + "&", comments_listed), made);
}

TEST(Large, WhatIsBelowABlockIsGivenWholeOrNotAtAll) {
    LargeCard card;
    card.add(toggle("few", {paragraph("a"), paragraph("b")}));
    const auto many = card.add(toggle("many"));
    for (int i = 0; i < count; ++i) card.add(long_block("paragraph"), many);
    card.rows_read(blocks_listed);
    const value page = card.blocks(2);
    EXPECT_EQ(card.rows_read(blocks_listed), 2 + 2 + 3) << "what fits of the long ones, and one";
    EXPECT_EQ(outline(page.at("results")), "few(a b) many");
    EXPECT_FALSE(page.at_pointer("/results/0").as_object().contains("children_truncated"));
    EXPECT_TRUE(page.at_pointer("/results/1/children_truncated").as_bool());
    EXPECT_TRUE(page.at("next_cursor").is_null());
    EXPECT_EQ(
        walk(card, "/v1/blocks/" + many + "/children?", blocks_listed).size(), std::size_t{count}
    );
}

TEST(Large, AFirstLevelThatTakesAllTheRoomSaysThatNothingBelowItIsThere) {
    LargeCard card;
    for (int i = 0; i < 3; ++i) card.add(long_block("toggle", {paragraph("below")}));
    const value page = card.blocks(2);
    EXPECT_EQ(page.at("results").as_array().size(), 2U);
    EXPECT_FALSE(page.at("next_cursor").is_null());
    EXPECT_TRUE(page.at_pointer("/results/0/children_truncated").as_bool());
    EXPECT_FALSE(page.at_pointer("/results/0").as_object().contains("children"));
    const value flat = card.blocks(1);
    EXPECT_FALSE(flat.at_pointer("/results/0").as_object().contains("children_truncated"))
        << "nobody asked for it";
}

TEST(Large, ATextOfMoreThanAPageIsNotSharedAndOneOfFarMoreIsNotRead) {
    LargeCard card;
    const value link{{"card_id", card.id()}};
    const auto url =
        expect(201, card.client().post(card.board() + "/share-links", link)).text("/url");
    const auto look = [&] {
        return card.server().client().get("/v1/shared/" + url.substr(url.rfind('/') + 1));
    };
    const auto add = [&](int blocks) {
        for (int i = 0; i < blocks; ++i) card.add(long_block("paragraph"));
    };
    add(5);
    EXPECT_EQ(
        expect(200, look()).text("/columns/0/cards/0/markdown").size(), 5 * long_text_size + 4 * 2
    );
    add(1);
    const auto refused = expect(413, look());
    EXPECT_EQ(refused.text("/code"), "request_too_large");
    EXPECT_EQ(refused.text("/additional_data/reason"), "answer_too_large");
    EXPECT_NE(refused.text("/message").find("1 MiB"), std::string::npos);
    expect(200, card.client().get("/v1/cards/" + card.id() + "/markdown"));  // for those let in

    add(15);
    const std::string statement = "c.content_bytes FROM cards c WHERE";
    EXPECT_EQ(card.rows_read(statement), 5 + 6 + 6);
    EXPECT_EQ(look().status, 413);
    EXPECT_EQ(card.rows_read(statement), 0);
}

TEST(Large, WhatTheOperationsOfABatchHoldTogetherIsBounded) {
    LargeCard card;
    const std::string block = card.add(long_block("paragraph"));
    const auto batch = [&](object operation, int times) {
        array operations;
        for (int i = 0; i < times; ++i) operations.push_back(operation);
        const value body{{"operations", std::move(operations)}};
        return card.client().post("/v1/cards/" + card.id() + "/blocks:batch", body);
    };
    const object remove{{"op", "delete"}, {"id", block}}, move{{"op", "move"}, {"id", block}};
    for (const object& operation : {remove, move}) {
        const auto refused = expect(413, batch(operation, 200));
        EXPECT_EQ(refused.text("/additional_data/reason"), "answer_too_large");
    }
    EXPECT_EQ(card.blocks(1).at("results").as_array().size(), 1U) << "nothing was done";
    expect(200, batch(remove, 5));
    // Once more: it lies in the trash.
    expect(200, batch(remove, 5));
    EXPECT_EQ(expect(413, batch(remove, 200)).text("/code"), "request_too_large");
}

TEST(Large, ABatchReadsOfTheTrashNoMoreThanItShows) {
    LargeCard card;
    array references;
    for (int i = 0; i < 22; ++i) {
        const std::string block = card.add(long_block("paragraph"));
        expect(200, card.client().send("DELETE", "/v1/blocks/" + block));
        references.push_back(object{{"op", "delete"}, {"id", block}});
    }
    const auto batch = [&](const array& operations) {
        return card.client().post(
            "/v1/cards/" + card.id() + "/blocks:batch", value{{"operations", operations}}
        );
    };
    EXPECT_EQ(expect(413, batch(references)).text("/additional_data/reason"), "answer_too_large");
    references.resize(5);
    expect(200, batch(references));
}

TEST(Large, FewAtATimeReadACardThatHoldsAllThatOneMay) {
    LargeCard card;
    for (int i = 0; i < 36; ++i) card.add(long_block("paragraph"));
    for (const std::string path : {"/markdown", "/context"}) {
        std::atomic<int> under_way = 0, answered = 0, busy = 0;
        std::vector<std::thread> threads;
        for (int i = 0; i < 24; ++i) {
            ++under_way;
            threads.emplace_back([&, client = card.client()]() mutable {
                for (int round = 0; round < 8; ++round) {
                    const auto reply = client.get("/v1/cards/" + card.id() + path);
                    if (reply.status == 200) {
                        ++answered;
                        continue;
                    }
                    ++busy;
                    expect(429, reply);
                    EXPECT_EQ(reply.text("/additional_data/rate_limit_reason"), "large_cards");
                    EXPECT_EQ(reply.header("retry-after"), "1");
                }
                --under_way;
            });
        }
        std::size_t most = 0;
        while (under_way > 0) {
            most = std::max(most, resident_bytes(card.server().pid()));
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        for (auto& each : threads) each.join();
        EXPECT_GT(answered, 0);
        EXPECT_GT(busy, 0);
        if (memory_is_given_back) {
            EXPECT_LT(most, std::size_t{400} << 20) << path;
        }
    }
}

}  // namespace svc::test
