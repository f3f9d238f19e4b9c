#include "tests/rules/source.hpp"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <regex>

/// What people and agents read uses the field's standard terms.
namespace svc::test {
namespace {

/// A text that somebody reads, and where it stands.
struct Text {
    std::string path, text;
};

/// String literals of the server, those side by side as one, and the pages.
std::vector<Text> texts() {
    std::vector<Text> out;
    for (const auto& file : sources()) {
        if (file.is(".md") && !file.in("docs/decisions") && !file.in("tests"))
            out.push_back({file.path, file.text});
        if (!file.is_cpp() || !(file.in("kernel") || file.in("modules") || file.in("plugins")))
            continue;
        std::string joined;
        for (const auto& piece : pieces(file.text)) {
            if (piece.kind == Piece::Kind::text) joined += piece.text;
            else if (piece.text.find_first_not_of(" \n") != std::string::npos)
                out.push_back({file.path, std::exchange(joined, {})});
        }
        out.push_back({file.path, std::move(joined)});
    }
    return out;
}

/// The codes that an error can have: the kernel's (kernel/src/decl/failure.cpp), and those that a
/// module gives in place of one.
std::set<std::string> error_codes() {
    const auto table = read_file(source_folder() / "kernel/src/decl/failure.cpp");
    const std::regex row(R"rx(Row\{Fault::\w+, \d{3}, "(\w+)"\})rx");
    std::set<std::string> out;
    for (std::sregex_iterator each(table.begin(), table.end(), row), none; each != none; ++each)
        out.insert((*each)[1]);
    const std::regex given(R"rx(with_code\("(\w+)"\))rx");
    for (const auto& file : sources()) {
        const std::string& text = file.text;
        const bool gives_codes = text.find("with_code(") != text.npos;  // quicker than the regex
        if (!file.is_cpp() || !file.in("modules") || !gives_codes) continue;
        for (std::sregex_iterator each(text.begin(), text.end(), given), none; each != none; ++each)
            out.insert((*each)[1]);
    }
    return out;
}

}  // namespace

TEST(Wording, IsTheFieldsOwn) {
    // RE2, because each goes through all there is.
    const std::pair<const char*, const char*> better[] = {
        {R"(\bput(s|ting)?( (it|a card|a board|them))? away\b)", "archive"},
        {R"(\b(is|are|was|were|or) taken back\b|\b[Tt]akes? \w+( \w+)? back\b)", "revoke"},
        {R"(\bsays? again\b)", "restore"},
        {R"(\bWhat (it )?stands\b|\bwhat stands\b)", "content, parent, children"},
        {R"(\bto do with each other\b)", "link, related"},
        {R"(\bat a guess\b)", "estimate"},
        {R"(\b(hangs?|hung)( it| them)? (on|up)\b)", "attach"},
        {R"(\b[Ss]ettle[sd]?( it| a discussion|\.))", "resolve"},
        {R"((^|[^.])\bannounced?\b)", "create, declare"},
        {R"(\blongest seat\b)", "oldest membership"},
        {R"(\banew\b)", "again, reset, reissue"},
        {R"(\bwhoever may edit\b)", "edit access"},
        {R"(^Of (a|an|the|this)\b)", "name the thing"},
        {R"(\b[Pp]rinted\b)", "formatting"},
        {R"(\blooks? at anything\b)", "read-only"},
    };
    std::size_t all = 0;
    const auto read = texts();
    for (const auto& [private_word, standard] : better) {
        const re2::RE2 word("(" + std::string(private_word) + ")");
        std::string found;
        for (const auto& [path, text] : read) {
            all += !text.empty();
            if (re2::RE2::PartialMatch(text, word, &found))
                ADD_FAILURE() << path << ": \"" << found << "\"; better: " << standard << "\n  "
                              << text.substr(0, 200);
        }
    }
    EXPECT_GT(all, 10'000u);
}

// A caller, a server or an agent is no man, and neither is every person.
TEST(Wording, NobodyIsAHeByDefault) {
    const re2::RE2 pronoun(R"(\b([Hh]e|[Hh]is|[Hh]im|[Hh]imself)\b)");
    std::size_t all = 0;
    for (const auto& file : sources()) {
        if (!(file.in("kernel") || file.in("modules") || file.in("plugins"))) continue;
        const auto check = [&](const std::string& text) {
            std::string found;
            if (++all; re2::RE2::PartialMatch(text, pronoun, &found))
                ADD_FAILURE() << file.path << ": \"" << found << "\" in " << text;
        };
        if (file.is_cpp()) {
            for (const auto& piece : pieces(file.text))
                if (piece.kind == Piece::Kind::comment) check(piece.text);
        }
    }
    EXPECT_GT(all, 3'000u);
}

// docs/errors.md explains the difference.
TEST(Wording, TellsCodesOfErrorsFromTheirReasons) {
    const auto codes = error_codes();
    const std::regex named(R"(\b4\d\d,? \(?`(\w+)`)");
    std::size_t all = 0;
    for (const auto& [path, text] : texts()) {
        if (text.find('`') == text.npos) continue;
        for (std::sregex_iterator each(text.begin(), text.end(), named), none; each != none; ++each)
            if (++all; !codes.contains((*each)[1]))
                ADD_FAILURE() << path << ": " << each->str() << " is no code of an error";
    }
    EXPECT_GT(all, 10u);
}

}  // namespace svc::test
