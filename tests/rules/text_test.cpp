#include "tests/rules/source.hpp"

#include <gtest/gtest.h>

#include <regex>

/// How the files themselves are kept.
namespace svc::test {

namespace {

constexpr std::size_t longest_file = 450;

}  // namespace

TEST(Text, FilesStayShortEnoughToReadInOneSitting) {
    for (const auto& file : sources()) {
        if (!file.is_cpp() && !file.is(".sql") && !file.is(".lua") && !file.is(".ts") &&
            !file.is(".mjs") && !file.is(".js") && !file.is(".sh") && !file.is(".css"))
            continue;
        EXPECT_LE(file.lines().size(), longest_file)
            << file.path << ": look for the second thing it does";
    }
}

TEST(Text, NothingIsLeftForLater) {
    const std::vector<std::string> words{
        std::string("TO") + "DO", std::string("FIX") + "ME", std::string("X") + "XX"};
    for (const auto& file : sources())
        for (const auto& line : file.lines())
            for (const auto& word : words) {
                const auto at = line.find(word);
                if (at == std::string::npos) continue;
                const bool inside =
                    (at > 0 && std::isalnum(line[at - 1])) ||
                    (at + word.size() < line.size() && std::isalnum(line[at + word.size()]));
                EXPECT_TRUE(inside) << file.path << ": " << line;
            }
}

// A row may be removed between two statements of one transaction: Later::must() says what then.
TEST(Text, NoRowIsTakenForGranted) {
    static const std::regex taken(R"(\*[a-z_]+\.one\(\)|\b[a-z_]+\.one\(\)->)");
    for (const auto& file : sources()) {
        if (!file.is_cpp() || file.path.starts_with("tests/")) continue;
        for (const auto& line : file.lines())
            if (line.find(".one()") != line.npos)  // quicker than the regex
                EXPECT_FALSE(std::regex_search(line, taken)) << file.path << ": " << line;
    }
}

TEST(Text, NoPathOfSomebodysMachine) {
    const std::vector<std::string> paths{
        std::string("/wo") + "rk/",
        std::string("/ho") + "me/",
        std::string("../sha") + "red",
        std::string("/Us") + "ers/"};
    for (const auto& file : sources())
        for (const auto& line : file.lines())
            for (const auto& path : paths)
                EXPECT_EQ(line.find(path), std::string::npos) << file.path << ": " << line;
}

TEST(Text, FilesAreTidy) {
    for (const auto& file : sources()) {
        if (file.text.empty()) continue;
        EXPECT_EQ(file.text.back(), '\n') << file.path << " does not end in a line";
        EXPECT_EQ(file.text.find('\r'), std::string::npos) << file.path << " has CR line ends";
        if (!file.is_cpp() && !file.is(".sql") && !file.is(".lua")) continue;
        for (const auto& line : file.lines()) {
            EXPECT_EQ(line.find('\t'), std::string::npos) << file.path << ": " << line;
            EXPECT_FALSE(line.ends_with(' ')) << file.path << ": " << line;
        }
    }
}

TEST(Text, HeadersGuardThemselves) {
    for (const auto& file : sources()) {
        if (!file.is(".hpp")) continue;
        EXPECT_TRUE(file.text.starts_with("#pragma once\n")) << file.path;
    }
}

}  // namespace svc::test
