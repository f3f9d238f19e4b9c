// Markdown in and out, by itself: no database.

#include "modules/content/lib/markdown.hpp"
#include "tests/support/timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace svc::test {

using namespace svc::content;
using testing::ElementsAre;
using testing::Optional;

namespace {

std::vector<WrittenBlock> as_written(const std::vector<BlockInput>& blocks) {
    std::vector<WrittenBlock> out;
    for (const BlockInput& each : blocks)
        out.push_back({{}, each.type, each.payload, as_written(each.children)});
    return out;
}

std::vector<BlockInput> read(std::string_view text) {
    auto blocks = blocks_of_markdown(text);
    resolve(blocks, {});
    return blocks;
}

std::string again(std::string_view text) { return markdown_of(as_written(read(text))); }

/// Types and texts: `heading_1:Title`.
std::string outline(const std::vector<BlockInput>& blocks) {
    std::string out;
    for (const BlockInput& each : blocks) {
        if (!out.empty()) out += ' ';
        out += std::string(name_of(each.type)) + ':' + each.plain;
        if (!each.children.empty()) out += '(' + outline(each.children) + ')';
    }
    return out;
}

}  // namespace

TEST(Markdown, BecomesBlocksOfTheRightTypes) {
    EXPECT_EQ(outline(read("# A\n\n#### B\n\n###### C")), "heading_1:A heading_4:B heading_4:C");
    EXPECT_EQ(
        outline(read("- a\n  - b\n- [x] c\n\n1. d\n2. e")),
        "bulleted_list_item:a(bulleted_list_item:b) to_do:c numbered_list_item:d "
        "numbered_list_item:e"
    );
    EXPECT_EQ(outline(read("> q\n>\n> more")), "quote:q(paragraph:more)");
    EXPECT_EQ(outline(read("> [!WARNING]\n> Mind the gap")), "callout:Mind the gap");
    EXPECT_EQ(outline(read("```c++\nint i;\n```\n\n---")), "code:int i; divider:");
    EXPECT_EQ(outline(read("```math\nx^2\n```")), "equation:x^2");
    EXPECT_EQ(
        outline(read("| a | b |\n|---|---|\n| c | d |")), "table:(table_row:a\nb table_row:c\nd)"
    );
    EXPECT_EQ(outline(read("![a cat](https://x.org/cat.png)")), "image:a cat");
    EXPECT_EQ(
        outline(read("<details>\n<summary>More</summary>\n\ninside\n\n</details>\n\nafter")),
        "toggle:More(paragraph:inside) paragraph:after"
    );
}

TEST(Markdown, MarksBecomeAnnotations) {
    const auto texts =
        text_of_markdown("a **b** *c* ~~d~~ `e` <u>f</u> [g](https://x.org) ***h***");
    std::vector<std::string> seen;
    for (const RichText& each : texts) {
        const Annotations& look = each.annotations;
        std::string marks;
        if (look.bold) marks += 'b';
        if (look.italic) marks += 'i';
        if (look.strikethrough) marks += 's';
        if (look.code) marks += 'c';
        if (look.underline) marks += 'u';
        if (each.text->link) marks += 'l';
        if (!marks.empty()) seen.push_back(marks + ":" + each.plain_text);
    }
    EXPECT_THAT(seen, ElementsAre("b:b", "i:c", "s:d", "c:e", "u:f", "l:g", "bi:h"));
}

TEST(Markdown, NamesPeopleCardsAndDays) {
    const std::string id = "018f4e5a-0000-7000-8000-000000000001";
    const auto texts = text_of_markdown(
        "[@Ada](user:" + id + ") [ENG-1](card:" + id + ") [then](date:2026-06-19/2026-06-20)"
    );
    ASSERT_EQ(texts.size(), 5U);
    EXPECT_EQ(texts[0].mention->user->id.str(), id);
    EXPECT_EQ(texts[2].mention->page->id.str(), id);
    EXPECT_EQ(texts[4].mention->date->end->str(), "2026-06-20");
}

TEST(Markdown, WhatIsWrittenIsReadAsTheSame) {
    for (const char* text :
         {"# Title\n\nSome *text* with **marks**.",
          "- a\n  - b\n\n    c\n- d\n\n1. one\n2. two",
          "- [ ] open\n- [x] done",
          "> quoted\n>\n> - list",
          "> [!NOTE]\n> text\n>\n> below",
          "```js\nlet x = `1`;\n```",
          "| a | b |\n| --- | --- |\n| c | d |",
          "|  |  |\n| --- | --- |\n| c | d |",
          "<details>\n<summary>More</summary>\n\ninside\n\n</details>",
          "<!-- columns -->\n\n<!-- column -->\n\nleft\n\n<!-- column -->\n\nright\n\n<!-- "
          "/columns -->",
          "text\n\n<!-- below -->\n\nindented\n\n<!-- /below -->",
          "<!-- empty -->",
          "5. five\n6. six",
          "a\\\nb",
          "1\\. not a list",
          "\\# not a heading",
          "snake_case stays, \\_so\\_ does this"})
        EXPECT_EQ(again(text), text);
}

// ----------------------------------------------------------------------------- random documents

namespace {

class Random {
public:
    explicit Random(unsigned seed) : engine_(seed) {}
    int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(engine_); }
    bool random_bits(int percent) { return below(100) < percent; }

    /// Letters, spaces, and everything that Markdown takes for something else.
    std::string text() {
        static const std::vector<std::string> bits{
            "a",  "word", "Größe",  "日本", " ",      "  ",  "*",    "**",   "_",   "__",
            "~~", "`",    "``",     "[",    "]",      "(",   ")",    "<",    ">",   "!",
            "#",  "##",   "-",      "--",   "+",      "=",   "==",   "|",    "\\",  "&",
            ":",  "1.",   "2)",     "\n",   "&amp;",  "<b>", "</b>", "<!--", "-->", "http://x.org",
            "$",  ".",    "\u00a0", "\t",   "- [ ] ", "> "};
        std::string out;
        for (int i = 1 + below(8); i > 0; --i)
            out += bits[static_cast<std::size_t>(below(static_cast<int>(bits.size())))];
        return out;
    }

    RichTexts texts() {
        RichTexts out;
        for (int i = 1 + below(4); i > 0; --i) {
            Annotations look;
            look.bold = random_bits(20);
            look.italic = random_bits(20);
            look.strikethrough = random_bits(10);
            look.underline = random_bits(10);
            RichText item = text_item(text(), look);
            if (random_bits(15)) {
                // A code span holds no line break, and is not told from white space around it.
                item = text_item("code" + std::to_string(below(9)) + "`x|y", look);
                item.annotations.code = true;
            }
            if (random_bits(15))
                item.text->link = TextLink{*LinkUrl::parse("https://x.org/a_(b)?c=d&e")};
            out.push_back(std::move(item));
        }
        return out;
    }

    template <class T>
    WrittenBlock block(BlockType type, T payload, std::vector<WrittenBlock> children = {}) {
        WrittenBlock out{new_uuid(), type, {}, std::move(children)};
        Json<T>::write(payload, out.payload);
        return out;
    }
    template <class T>
    WrittenBlock text_block(BlockType type, std::vector<WrittenBlock> children = {}) {
        T payload{};
        payload.rich_text = texts();
        return block(type, payload, std::move(children));
    }

    std::vector<WrittenBlock> blocks(int depth) {
        std::vector<WrittenBlock> out;
        for (int i = 1 + below(4); i > 0; --i) out.push_back(any(depth));
        return out;
    }

    WrittenBlock any(int depth) {
        auto children =
            depth > 0 && random_bits(40) ? blocks(depth - 1) : std::vector<WrittenBlock>();
        switch (below(11)) {
            case 0: return text_block<HeadingBlock>(BlockType::heading_2);
            case 1: return text_block<TextBlock>(BlockType::bulleted_list_item, children);
            case 2: return text_block<NumberedItemBlock>(BlockType::numbered_list_item, children);
            case 3: return text_block<ToDoBlock>(BlockType::to_do, children);
            case 4: return text_block<TextBlock>(BlockType::quote, children);
            case 5: return text_block<TextBlock>(BlockType::toggle, children);
            case 6: return text_block<CalloutBlock>(BlockType::callout, children);
            case 7: {
                CodeBlock code;
                code.rich_text = rich_text_of(text());
                return block(BlockType::code, code);
            }
            case 8: return table();
            case 9: return block(BlockType::divider, EmptyBlock{});
            default: return text_block<ParagraphBlock>(BlockType::paragraph, children);
        }
    }

    WrittenBlock table() {
        TableBlock table;
        table.table_width = 1 + below(3);
        table.has_column_header = true;
        std::vector<WrittenBlock> rows;
        for (int i = 1 + below(3); i > 0; --i) {
            TableRowBlock row;
            for (int j = 0; j < table.table_width; ++j) row.cells.push_back(texts());
            rows.push_back(block(BlockType::table_row, row));
        }
        rows.front().payload.clear();
        TableRowBlock header;
        for (int j = 0; j < table.table_width; ++j) header.cells.push_back({text_item("h")});
        Json<TableRowBlock>::write(header, rows.front().payload);
        return block(BlockType::table, table, std::move(rows));
    }

private:
    std::mt19937 engine_;
};

}  // namespace

TEST(Markdown, OfARandomDocumentIsReadAsThatDocument) {
    for (unsigned seed = 0; seed < 3000; ++seed) {
        const auto document = Random(seed).blocks(3);
        const std::string text = markdown_of(document);
        ASSERT_EQ(again(text), text) << "seed " << seed;
    }
}

TEST(Markdown, OfRandomTextSaysTheSameWords) {
    for (unsigned seed = 0; seed < 5000; ++seed) {
        const RichTexts texts = Random(seed).texts();
        const std::string text = markdown_of(texts);
        std::string wanted = plain_text_of(texts);
        ASSERT_EQ(plain_text_of(text_of_markdown(text)), wanted) << "seed " << seed << "\n" << text;
    }
}

// -------------------------------------------------------------------------------- hostile texts

TEST(Markdown, TablesKeepTheirEmptyRows) {
    const auto table = [](bool header, const std::vector<std::string>& rows) {
        WrittenBlock block{
            {},
            BlockType::table,
            R"({"table_width":1,"has_column_header":)" + std::string(header ? "true" : "false") +
                R"(,"has_row_header":false})",
            {}};
        for (const std::string& each : rows) {
            TableRowBlock row;
            row.cells.push_back(each.empty() ? RichTexts{} : RichTexts{rich_text::text_item(each)});
            std::string payload;
            Json<TableRowBlock>::write(row, payload);
            block.children.push_back({{}, BlockType::table_row, payload, {}});
        }
        return block;
    };
    for (const bool header : {true, false})
        for (const std::vector<std::string>& rows :
             {std::vector<std::string>{"", "x"}, {"", "", ""}, {"x", ""}, {"", "", "x"}, {""}}) {
            const std::string text = markdown_of({table(header, rows)});
            const auto blocks = read(text);
            ASSERT_EQ(blocks.size(), 1U) << text;
            EXPECT_EQ(blocks[0].children.size(), rows.size()) << text;
            EXPECT_EQ(payload_as<TableBlock>(blocks[0].payload).has_column_header, header) << text;
            EXPECT_EQ(again(text), text);
        }
}

TEST(Markdown, CodeKeepsItsLanguageWhateverItIsCalled) {
    for (const char* language : {"c++", "a&amp;b", "a\\*b", "c#", "&", "a b"}) {
        CodeBlock code;
        code.rich_text = {rich_text::text_item("x")};
        code.language = language;
        std::string payload;
        Json<CodeBlock>::write(code, payload);
        const auto blocks = read(markdown_of({WrittenBlock{{}, BlockType::code, payload, {}}}));
        ASSERT_EQ(blocks.size(), 1U);
        EXPECT_EQ(payload_as<CodeBlock>(blocks[0].payload).language, language);
    }
}

// Links do not nest: a caption that leads somewhere keeps its words.
TEST(Markdown, OfABlockThatIsALinkSaysItsCaptionWithoutLinks) {
    const std::string caption =
        R"([{"type":"text","text":{"content":"see ","link":null},"plain_text":"see ","href":null},)"
        R"({"type":"text","text":{"content":"this","link":{"url":"https://x.org/"}},)"
        R"("plain_text":"this","href":"https://x.org/"}])";
    for (const auto type : {BlockType::bookmark, BlockType::embed, BlockType::video}) {
        const std::string media = R"("type":"external","external":{"url":"https://y.org/v.mp4"})";
        const std::string payload =
            "{" + (type == BlockType::video ? media : R"("url":"https://y.org/")") +
            R"(,"caption":)" + caption + "}";
        const std::string text = markdown_of({WrittenBlock{{}, type, payload, {}}});
        EXPECT_EQ(text.substr(0, 12), "[see this](<");
        EXPECT_EQ(again(text), text) << "or it would be taken for another block";
    }
}

TEST(HostileMarkdown, LeadsNowhereDangerous) {
    for (const char* text :
         {"[x](javascript:alert(1))",
          "[x](data:text/html,<script>)",
          "[x](/relative)",
          "<a href=\"javascript:alert(1)\">x</a>",
          "[x](file:///etc/passwd)"}) {
        for (const RichText& each : text_of_markdown(text)) {
            EXPECT_FALSE(each.text && each.text->link) << text;
            EXPECT_FALSE(each.href) << text;
        }
    }
    // HTML is text, and is written so that it stays text.
    EXPECT_EQ(outline(read("<script>alert(1)</script>")), "paragraph:<script>alert(1)</script>");
    EXPECT_EQ(again("<img src=x onerror=alert(1)>"), "\\<img src=x onerror=alert(1)>");
}

TEST(HostileMarkdown, MayBePlainTextForAllItsSigns) {
    for (const char* sign : {"\\|", "\\[", "\\*"}) {
        std::string text;
        for (int i = 0; i < 60'000; ++i) text += sign;
        EXPECT_EQ(read(text).size(), 1U) << sign;
    }
    EXPECT_THROW(read("|" + std::string(500, '|')), MarkdownError);
}

TEST(HostileMarkdown, WhatSomeToolWroteIsNone) {
    std::string numbers;
    for (int i = 0; i < 150; ++i) numbers += "0.123 ";
    const std::string rule(120, '-');
    for (const std::string& line :
         {numbers,
          rule + "+" + rule,
          std::string(150, '.') + " 5",
          rule + " END OF LOG",
          "1." + std::string(200, '1') + ".",
          "+" + rule + "+" + rule + "+"}) {
        EXPECT_FALSE(read(line).empty()) << line;
        EXPECT_EQ(read("```\n" + line + "\n```").size(), 1U) << line;
        EXPECT_FALSE(text_of_markdown(line).empty()) << line;
    }
    for (const char* mark : {"> ", ">", "- ", "+ ", "1. ", "12) "}) {
        std::string line;
        for (int i = 0; i < 150; ++i) line += mark;
        EXPECT_THROW(read(line + "x"), MarkdownError) << mark;
        EXPECT_THROW(text_of_markdown(line + "x"), MarkdownError) << mark;
    }
}

TEST(HostileMarkdown, TakesNoTimeOutOfProportion) {
    const auto many = [](const char* text, int times) {
        std::string out;
        for (int i = 0; i < times; ++i) out += text;
        return out;
    };
    for (const std::string& text :
         {many(">", 200'000),
          many("- ", 100'000),
          many("[", 200'000),
          many("![", 100'000),
          many("*a_ ", 50'000),
          many("`a``", 50'000),
          many("<b>", 60'000),
          many("&", 200'000),
          "|" + many("a|", 50'000) + "\n|" + many("-|", 50'000) + "\n" + many("|\n", 30'000),
          many("a|b\n-|-\n", 20'000),
          many("    - x\n", 20'000),
          many("\\", 200'000),
          many("* a\n  ", 30'000),
          many("<!-- below -->\n\n", 12'000),
          many("<!-- columns -->\n\n", 12'000),
          many("<!-- columns -->\n\n<!-- column -->\n\n", 8'000),
          many("<details>\n\n", 18'000),
          many("~~a~", 50'000)}) {
        const auto spent = svc::test::processor_time([&] {
            try {
                static_cast<void>(blocks_of_markdown(text));
            } catch (const MarkdownError&) {
            }
        });
        EXPECT_LT(spent, std::chrono::seconds(5)) << text.substr(0, 40);
    }
}

TEST(Markdown, MarksStandForBlocksThatSayNothingThemselves) {
    const std::string text = "<!-- table_of_contents -->\n\n<!-- breadcrumb -->\n\nText";
    EXPECT_EQ(outline(read(text)), "table_of_contents: breadcrumb: paragraph:Text");
    EXPECT_EQ(again(text), text);
}

}  // namespace svc::test
