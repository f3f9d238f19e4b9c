#include "tests/rules/source.hpp"

#include <gtest/gtest.h>

#include <regex>

/// docs/errors.md lists what programs are told when they are refused.
namespace svc::test {
namespace {

std::set<std::string> found(const std::string& text, const std::regex& pattern) {
    std::set<std::string> out;
    for (std::sregex_iterator each(text.begin(), text.end(), pattern), none; each != none; ++each) {
        std::string all;
        for (std::size_t i = 1; i < each->size(); ++i) all += (i > 1 ? " " : "") + (*each)[i].str();
        out.insert(std::move(all));
    }
    return out;
}

const std::string& page() {
    static const std::string text = read_file(source_folder() / "docs/errors.md");
    return text;
}

}  // namespace

TEST(Errors, EveryCodeIsOnThePageWithItsStatus) {
    const auto table = read_file(source_folder() / "kernel/src/decl/failure.cpp");
    const auto codes = found(table, std::regex(R"rx(Row\{Fault::\w+, (\d{3}), "(\w+)"\})rx"));
    ASSERT_GE(codes.size(), 20u);
    const auto emitted = found(page(), std::regex(R"(\| (\d{3}) \| `(\w+)` \|)"));
    for (const auto& code : codes) EXPECT_TRUE(emitted.contains(code)) << code;
}

TEST(Errors, EveryReasonIsOnThePage) {
    const std::regex said(R"rx("(reason|rate_limit_reason|limit)",\s*"(\w+[a-z])")rx");
    std::set<std::string> reasons;
    for (const auto& file : sources())
        if (file.is_cpp() && (file.in("modules") || file.in("kernel") || file.in("plugins")))
            reasons.merge(found(file.text, said));
    ASSERT_GE(reasons.size(), 30u);
    for (const auto& reason : reasons) {
        const auto space = reason.find(' ');
        const std::regex row(
            R"(\n\| `)" + reason.substr(0, space) + R"(` \|[^|\n]*`)" + reason.substr(space + 1) +
            "`"
        );
        EXPECT_TRUE(std::regex_search(page(), row)) << reason;
    }
}

TEST(Errors, NoReasonOnThePageIsMadeUp) {
    std::string all;
    for (const auto& file : sources())
        if (file.is_cpp() && !file.in("tests")) all += file.text;
    const std::regex name(R"(`(\w+)`)");
    for (const auto& row :
         found(page(), std::regex(R"(\n\| `(?:reason|rate_limit_reason|limit)` \|([^|\n]*))")))
        for (const auto& each : found(row, name)) {
            if (each.starts_with("token_")) continue;  // put together from the token's status
            EXPECT_TRUE(all.find('"' + each + '"') != std::string::npos || each == "storage")
                << each;
        }
}

}  // namespace svc::test
