// A card's blocks as one Markdown text, on the real modules and database.

#include "tests/unit/content/page.hpp"

#include <chrono>
#include <ctime>
#include <numeric>
#include <random>

namespace svc::test {

TEST(CardMarkdown, KeepsTheIdsOfWhatStays) {
    Page page;
    const auto write = [&](const char* text) {
        return page.must(
            "update_card_markdown", {{"card_id", page.card.str()}, {"markdown", text}}
        );
    };
    write("# Plan\n\n- one\n- two\n  - below\n- three\n\nThe end.");
    EXPECT_EQ(page.all(), "Plan one two(below) three The end.");
    const auto ids = [&] {
        const Answer list = page.list();
        std::map<std::string, std::string> by_text;
        for (const value& each : list.body.at("results").as_array())
            by_text[said(each)] = each.at("id").as_string();
        return by_text;
    };
    auto before = ids();
    write("# Plan\n\nAn introduction.\n\n- one\n- TWO\n  - below\n- three\n\nThe end.");
    EXPECT_EQ(page.all(), "Plan An introduction. one TWO(below) three The end.");
    auto now = ids();
    for (const char* same : {"Plan", "one", "three", "The end."})
        EXPECT_EQ(now[same], before[same]) << same;
    EXPECT_EQ(now["TWO"], before["two"]);
    // Moved, not made anew.
    write("The end.\n\n# Plan");
    EXPECT_EQ(page.all(), "The end. Plan");
    EXPECT_EQ(page.list().text("/results/0/id"), before["The end."]);
    EXPECT_EQ(page.list().text("/results/1/id"), before["Plan"]);
}

TEST(CardMarkdown, KeepsWhatItCannotSay) {
    Page page;
    object colored = paragraph("red");
    colored["paragraph"].as_object()["color"] = "red";
    page.append(
        {colored,
         object{{"bookmark", {{"url", "https://x.org"}}}},
         holding(
             object{{"column_list", object{}}},
             {holding(object{{"column", object{}}}, {paragraph("l")}),
              holding(object{{"column", object{}}}, {paragraph("r")})}
         )}
    );
    const Answer before = page.list();
    const Answer text = page.must("get_card_markdown", {{"card_id", "DES-1"}});
    const std::int64_t version = page.card_version();
    page.must(
        "update_card_markdown", {{"card_id", page.card.str()}, {"markdown", text.text("/markdown")}}
    );
    EXPECT_EQ(page.list().body.at("results"), before.body.at("results"));
    EXPECT_EQ(page.card_version(), version);
}

TEST(CardMarkdown, IsAppendedToAndChangedByItsWords) {
    Page page;
    const auto ask = [&](object what) {
        what["card_id"] = page.card.str();
        return page.ask("update_card_markdown", std::move(what));
    };
    ask({{"mode", "append"}, {"markdown", "one two"}});
    ask({{"mode", "append"}, {"markdown", "two three"}});
    EXPECT_EQ(page.all(), "one two two three");
    const std::string first = page.list().text("/results/0/id");
    EXPECT_EQ(ask({{"mode", "find_replace"}, {"find", "two"}, {"markdown", "2"}}).status, 422);
    EXPECT_EQ(ask({{"mode", "find_replace"}, {"find", "four"}, {"markdown", "4"}}).status, 422);
    EXPECT_EQ(ask({{"mode", "find_replace"}, {"markdown", "4"}}).status, 422);
    EXPECT_EQ(ask({{"find", "one"}, {"markdown", "4"}}).status, 422);
    EXPECT_EQ(
        ask({{"mode", "find_replace"}, {"find", "one two"}, {"markdown", "1 2"}}).status, 200
    );
    EXPECT_EQ(page.all(), "1 2 two three");
    EXPECT_EQ(page.list().text("/results/0/id"), first);
    EXPECT_EQ(
        ask({{"mode", "find_replace"}, {"find", "t"}, {"markdown", "T"}, {"replace_all", true}}
        ).text("/markdown"),
        "1 2\n\nTwo Three"
    );
    EXPECT_EQ(ask({{"markdown", ""}}).text("/markdown"), "");
    EXPECT_EQ(ask({{"markdown", "[x](user:" + new_uuid().str() + ")"}}).status, 422);
}

TEST(CardMarkdown, SentBackAsItIsChangesNothing) {
    Page page;
    const auto cells = [](const char* text) {
        return object{{"table_row", {{"cells", array{words(text)}}}}};
    };
    const auto bare = object{{"table_row", {{"cells", array{value(array())}}}}};
    const auto table = [&](bool header) {
        return holding(
            object{{"table", {{"table_width", 1}, {"has_column_header", header}}}},
            {bare, bare, cells("x")}
        );
    };
    page.append(
        {table(true),
         table(false),
         says("code", "a\r\nb\rc"),
         object{{"equation", {{"expression", "a\r\nb"}}}},
         paragraph(std::string(500, '|') + std::string(500, '[')),
         paragraph("a\r\nb")}
    );
    const Answer before = page.list();
    const std::int64_t version = page.card_version();
    const auto text = page.must("get_card_markdown", {{"card_id", page.card.str()}});
    page.must(
        "update_card_markdown", {{"card_id", page.card.str()}, {"markdown", text.text("/markdown")}}
    );
    EXPECT_EQ(page.list().body.at("results"), before.body.at("results"));
    EXPECT_EQ(page.card_version(), version);
}

TEST(CardMarkdown, WordsThatStandThereOftenAreReplacedAtOnce) {
    Page page;
    for (int i = 0; i < 6; ++i) {
        array blocks;
        for (int n = 0; n < 95; ++n) blocks.push_back(paragraph('b' + std::string(1990, 'a')));
        page.append(blocks);
    }
    const auto from = std::chrono::steady_clock::now();
    page.must(
        "update_card_markdown",
        {{"card_id", page.card.str()},
         {"mode", "find_replace"},
         {"find", "a"},
         {"markdown", ""},
         {"replace_all", true}}
    );
    EXPECT_LT(std::chrono::steady_clock::now() - from, std::chrono::seconds(10));
    EXPECT_EQ(page.all().substr(0, 5), "b b b");
}

namespace {

/// Paragraphs from `first` to `last`, one way or the other.
std::string paragraphs(int first, int last) {
    std::string text;
    for (int i = first; i != last; i += first < last ? 1 : -1)
        text += "p" + std::to_string(i) + "\n\n";
    return text;
}

double cpu_of_thread() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

struct Reversed {
    double cpu = 0;
    std::vector<std::string> events;
};

Reversed reversed(int count) {
    Page page;
    const auto write = [&](const std::string& text) {
        page.must("update_card_markdown", {{"card_id", page.card.str()}, {"markdown", text}});
    };
    write(paragraphs(0, count));
    in_process().forget_events();
    const double before = cpu_of_thread();
    write(paragraphs(count, 0));
    return {cpu_of_thread() - before, in_process().emitted()};
}

}  // namespace

TEST(CardMarkdown, ReversingTenTimesAsManyParagraphsTakesNoHundredTimesAsLong) {
    const auto some = reversed(950), many = reversed(9500);
    EXPECT_LT(many.cpu, 40 * some.cpu);
    EXPECT_LT(many.cpu, 3);
    RecordProperty("milliseconds", static_cast<int>(many.cpu * 1000));
}

TEST(CardMarkdown, AChangeOfManyBlocksIsOneEventOfEachKind) {
    EXPECT_EQ(reversed(101).events.size(), 100);
    EXPECT_THAT(reversed(1000).events, testing::ElementsAre("block.updated"));
    Page page;
    const auto write = [&](const std::string& text) {
        return page.must(
            "update_card_markdown", {{"card_id", page.card.str()}, {"markdown", text}}
        );
    };
    write(paragraphs(0, 150));
    const auto ids = page.list().body.at("results").as_array();
    in_process().forget_events();
    write("");
    EXPECT_THAT(in_process().emitted(), testing::ElementsAre("block.deleted"));
    const auto references = boost::json::parse(in_process().run(
        "SELECT changes::json -> 'blocks' FROM event_log WHERE kind = 'block.deleted'"
    ));
    EXPECT_EQ(references.as_array().size(), 150);
    EXPECT_NE(
        std::ranges::find(references.as_array(), ids[0].at("id")), references.as_array().end()
    );
}

TEST(CardMarkdown, AsFewBlocksMoveAsCanBe) {
    Page page;
    const auto write = [&](const char* text) {
        page.must("update_card_markdown", {{"card_id", page.card.str()}, {"markdown", text}});
    };
    write("a\n\nb\n\nc\n\nd\n\ne");
    in_process().forget_events();
    write("b\n\nc\n\nd\n\ne\n\na");
    EXPECT_EQ(page.all(), "b c d e a");
    EXPECT_THAT(in_process().emitted(), testing::ElementsAre("block.updated"));
    write("e\n\na\n\nd\n\nnew\n\nc\n\nb");
    EXPECT_EQ(page.all(), "e a d new c b");
}

TEST(CardMarkdown, TakesAnyOrderOfAnyText) {
    Page page;
    std::mt19937 engine(11);
    for (int round = 0; round < 25; ++round) {
        std::vector<int> order(1 + engine() % 12);
        std::iota(order.begin(), order.end(), static_cast<int>(engine() % 5));
        std::ranges::shuffle(order, engine);
        std::string text, outline;
        for (const int each : order) {
            text += "w" + std::to_string(each) + "\n\n";
            outline += (outline.empty() ? "w" : " w") + std::to_string(each);
        }
        page.must("update_card_markdown", {{"card_id", page.card.str()}, {"markdown", text}});
        ASSERT_EQ(page.all(), outline) << round;
    }
}

// What goes and what comes are counted when all is done.
TEST(CardMarkdown, ReplacesOneBlockByAnotherOnAFullCard) {
    Page page;
    page.append({toggle("t", {paragraph("one")}), toggle("u", {paragraph("two")})});
    in_process().run("UPDATE cards SET block_count = 10000 WHERE id = '" + page.card.str() + "'");
    const auto write = [&](const std::string& first, const std::string& second) {
        const auto folded = [](const char* title, const std::string& text) {
            return "<details>\n<summary>" + std::string(title) + "</summary>\n\n" + text +
                   "\n\n</details>\n\n";
        };
        return page
            .ask(
                "update_card_markdown",
                {{"card_id", page.card.str()},
                 {"markdown", folded("t", first) + folded("u", second)}}
            )
            .status;
    };
    EXPECT_EQ(write("one\n\nmore", "- two"), 422);
    EXPECT_EQ(write("one\n\n- more", ""), 200);
    EXPECT_EQ(page.all(), "t(one more) u");
}

}  // namespace svc::test
