#include "tests/rules/source.hpp"
#include "tests/support/markdown.hpp"
#include "tests/support/places.hpp"

#include <gtest/gtest.h>

#include <regex>

/// The pages say what is true.
namespace svc::test {

namespace {

std::string page(const std::string& name) { return read_file(source_folder() / name); }

/// The words of every list in kernel/tools/setup.sh that names Debian packages.
std::set<std::string> packages_installed() {
    const auto script = page("kernel/tools/setup.sh");
    const std::regex list(R"(\n\w+_packages=\(([^)]*)\))"), word(R"([a-z0-9.+-]+)");
    std::set<std::string> out;
    for (std::sregex_iterator each(script.begin(), script.end(), list), none; each != none;
         ++each) {
        const auto words = (*each)[1].str();
        for (std::sregex_iterator one(words.begin(), words.end(), word); one != none; ++one)
            out.insert(one->str());
    }
    return out;
}

}  // namespace

TEST(Documents, QuotedCodeIsTheCode) {
    int quotes = 0;
    for (const char* quoting : {"CONTRIBUTING.md", "docs/webhooks.md", "docs/mcp.md"})
        for (const auto& block : code_blocks(page(quoting))) {
            if (block.comment.empty()) continue;
            ++quotes;
            EXPECT_NE(page(block.comment).find(block.text), std::string::npos)
                << block.comment << " does not say\n"
                << block.text;
        }
    EXPECT_GE(quotes, 6);
}

TEST(Documents, EveryPackageHasItsReason) {
    const auto table = section(page("README.md"), "## Dependencies");
    const auto installed = packages_installed();
    ASSERT_GT(installed.size(), 15u);
    std::set<std::string> explained;
    const std::regex row(R"(\n\|([^|]*)\|)"), name(R"(`([a-z0-9.+-]+)`)");
    for (std::sregex_iterator each(table.begin(), table.end(), row), none; each != none; ++each) {
        const auto names = (*each)[1].str();
        for (std::sregex_iterator one(names.begin(), names.end(), name); one != none; ++one)
            explained.insert((*one)[1]);
    }
    EXPECT_EQ(installed, explained);
}

TEST(Documents, LinksLeadSomewhere) {
    const std::regex link(R"(\]\(([^)#:]+)\))");
    for (const auto& file : sources()) {
        if (!file.is(".md")) continue;
        for (std::sregex_iterator each(file.text.begin(), file.text.end(), link), none;
             each != none;
             ++each) {
            const auto target =
                source_folder() / fs::path(file.path).parent_path() / (*each)[1].str();
            EXPECT_TRUE(fs::exists(target)) << file.path << " links to " << (*each)[1];
        }
    }
}

TEST(Documents, DecisionsAreNumberedWithoutGaps) {
    std::vector<std::string> names;
    for (const auto& file : sources())
        if (file.in("docs/decisions")) names.push_back(file.name());
    ASSERT_GE(names.size(), 8u);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto number = std::to_string(i + 1);
        EXPECT_TRUE(names[i].starts_with(std::string(4 - number.size(), '0') + number + "-"))
            << names[i];
        EXPECT_LE(page("docs/decisions/" + names[i]).size(), 4000u) << names[i] << ": one page";
    }
}

TEST(Documents, TheCommandsCanBeRun) {
    for (const char* name : {"run", "test", "bench", ".ci/run"}) {
        const auto permissions = fs::status(source_folder() / name).permissions();
        EXPECT_NE(permissions & fs::perms::owner_exec, fs::perms::none) << name;
        EXPECT_TRUE(page(name).starts_with("#!/usr/bin/env bash\n")) << name;
    }
}

}  // namespace svc::test
