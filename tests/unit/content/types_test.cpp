// The list of block types, and what is read from it.

#include "modules/content/lib/block_input.hpp"
#include "tests/support/markdown.hpp"
#include "tests/support/places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace svc::test {

using namespace svc::content;

namespace {

std::string read_page(const char* path) {
    std::ifstream file(in_source(path));
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string joined_names() {
    std::string out;
    for (const auto name : Json<BlockType>::names()) (out += out.empty() ? "" : ", ") += name;
    return out;
}

}  // namespace

TEST(BlockTypes, AreThoseThatThePageLists) {
    const auto rules = section(read_page("docs/content.md"), "## Blocks");
    EXPECT_THAT(rules, testing::HasSubstr("\n| types | " + joined_names() + " |\n"));
}

TEST(BlockTypes, HaveBlocksBelowThemOrNot) {
    std::vector<std::string_view> childless;
    for (std::size_t i = 0; i < block_types; ++i)
        if (!takes_children(static_cast<BlockType>(i)))
            childless.push_back(Json<BlockType>::names()[i]);
    EXPECT_THAT(
        childless,
        testing::ElementsAre(
            "code",
            "equation",
            "divider",
            "breadcrumb",
            "table_of_contents",
            "bookmark",
            "embed",
            "image",
            "video",
            "audio",
            "pdf",
            "file",
            "table_row",
            "card_ref"
        )
    );
    EXPECT_EQ(
        why_not_below(BlockType::divider, false, BlockType::paragraph),
        "a block of type divider has nothing below it"
    );
    EXPECT_EQ(why_not_below(BlockType::quote, false, BlockType::paragraph), "");
}

}  // namespace svc::test
