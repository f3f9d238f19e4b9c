#include "tests/rules/source.hpp"

#include <gtest/gtest.h>

#include <regex>

/// What a module remembers is in its module object, so that two servers may stand side by side in
/// one process.
namespace svc::test {

namespace {

/// State that is of the process and not of a server; and why.
const std::map<std::string, std::string> of_the_process{
    {"modules/automations/sandbox/main.cpp", "the sandbox is a process for one run"},
    {"modules/content/large_cards.cpp", "the memory that it bounds is the process's"},
    {"modules/lib/cmark_tree/cmark_tree.cpp", "cmark registers its extensions once for a process"},
};

std::string code_of(const SourceFile& file) {
    std::string out;
    for (const auto& piece : pieces(file.text))
        if (piece.kind == Piece::Kind::code) out += piece.text;
    return out;
}

std::vector<std::string> mutable_state(const std::string& code) {
    const std::regex in_functions(
        R"(\bstatic (?!constexpr\b|const\b|inline\b|thread_local\b)[\w:<>, *&]+ \w+\s*(;|=|\{))"
    );
    const std::regex at_namespace_scope(
        R"((^|\n)(?!using\b|namespace\b|extern\b|class\b|struct\b|enum\b|constexpr\b|const\b|return\b)"
        R"(|typedef\b|template\b|friend\b|inline constexpr\b|inline const\b|static constexpr\b|SVC_))"
        R"([A-Za-z_][\w:<>, *&]* \w+( = [^;()]*|\{[^;()]*\})?;)"
    );
    std::vector<std::string> out;
    for (const auto& pattern : {in_functions, at_namespace_scope})
        for (std::sregex_iterator each(code.begin(), code.end(), pattern), none; each != none;
             ++each)
            out.push_back(each->str());
    return out;
}

}  // namespace

TEST(State, IsFoundByTheRule) {
    EXPECT_EQ(mutable_state("Hints& hints() {\n    static Hints here;\n}\n").size(), 1u);
    EXPECT_EQ(mutable_state("namespace {\n\nService* the_service = nullptr;\n}\n").size(), 1u);
    EXPECT_EQ(mutable_state("\nstd::atomic<int> reading{0};\n").size(), 1u);
    EXPECT_EQ(mutable_state("    static int count = 0;\n").size(), 1u);
    EXPECT_TRUE(mutable_state("constexpr int most = 2;\n\nextern const Operation a, b;\n").empty());
    EXPECT_TRUE(
        mutable_state("class A {\n    static Place of(int a);\n    int b = 0;\n};\n").empty()
    );
    EXPECT_TRUE(mutable_state("    static const std::regex word(\"a\");\n").empty());
}

TEST(State, OfModulesIsInTheirObjects) {
    std::size_t files = 0;
    std::set<std::string> excused;
    for (const auto& file : sources()) {
        if (!file.is_cpp() || !(file.in("modules") || file.in("plugins"))) continue;
        ++files;
        const auto found = mutable_state(code_of(file));
        if (of_the_process.contains(file.path)) {
            EXPECT_FALSE(found.empty()) << file.path << " needs no exception any more";
            continue;
        }
        for (const auto& each : found) ADD_FAILURE() << file.path << ": " << each;
    }
    EXPECT_GT(files, 300u);
}

}  // namespace svc::test
