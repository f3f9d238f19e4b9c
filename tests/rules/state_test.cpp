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
    {"modules/lib/http_client/dial.cpp", "its threads wait for the process's resolver"},
    {"modules/lib/cmark_tree/cmark_tree.cpp", "cmark registers its extensions once for a process"},
};

std::string code_of(const SourceFile& file) {
    std::string out;
    for (const auto& piece : pieces(file.text))
        if (piece.kind == Piece::Kind::code) out += piece.text;
    return out;
}

/// Finds what outlives the calls that use it and can change: statics of functions and of classes,
/// and variables of namespaces, however they are initialised.
class StateFinder {
public:
    std::vector<std::string> find(const std::string& code) {
        for (const char c : code) {
            if (c == ';' || c == '{') take(c);
            if (c == '}' && scopes_.size() > 1) scopes_.pop_back();
            if (c == ';' || c == '{' || c == '}') statement_.clear();
            else statement_ += c;
        }
        return std::move(found_);
    }

private:
    enum class Scope { of_namespace, of_class, of_code };

    void take(char end) {
        const std::string statement = trimmed();
        bool changes = false;
        switch (scopes_.back()) {
            case Scope::of_namespace: changes = is_variable(statement, end); break;
            case Scope::of_class:
                changes = begins(statement, {"static inline ", "inline static "}) &&
                          !begins(statement, {"static inline const", "inline static const"});
                break;
            case Scope::of_code:
                changes = begins(statement, {"static "}) &&
                          !begins(statement, {"static const", "static thread_local "});
        }
        if (changes) found_.push_back(statement);
        if (end == '{') scopes_.push_back(scope_of(statement));
    }

    /// Without directives and what stands around it.
    std::string trimmed() const {
        std::string out;
        bool in_directive = false;
        for (std::size_t at = 0; at < statement_.size();) {
            const auto end = std::min(statement_.find('\n', at), statement_.size());
            const auto begin = statement_.find_first_not_of(' ', at);
            const bool blank = begin >= end;
            if (!blank && statement_[begin] == '#') in_directive = true;
            if (!blank && !in_directive)
                out += (out.empty() ? "" : " ") + statement_.substr(begin, end - begin);
            if (end == 0 || statement_[end - 1] != '\\') in_directive = false;
            at = end + 1;
        }
        return out;
    }

    static bool begins(const std::string& statement, std::initializer_list<std::string_view> with) {
        return std::ranges::any_of(with, [&](auto each) { return statement.starts_with(each); });
    }

    /// Whether the braces hold declarations: those of a namespace, a class or an enumeration.
    static bool declares(const std::string& statement) {
        static const std::regex kind(R"(\b(class|struct|union|enum|namespace)\b[^(]*$)");
        return std::regex_search(statement, kind);
    }

    Scope scope_of(const std::string& statement) const {
        if (scopes_.back() == Scope::of_code) return Scope::of_code;
        if (begins(statement, {"namespace", "inline namespace"})) return Scope::of_namespace;
        if (begins(statement, {"extern"}) && statement.find('(') == statement.npos)
            return Scope::of_namespace;
        return declares(statement) ? Scope::of_class : Scope::of_code;
    }

    static bool is_variable(const std::string& statement, char end) {
        // One that goes on behind braces begins with no name.
        const bool whole =
            !statement.empty() && (std::isalpha(statement[0]) || statement[0] == '_');
        if (!whole || statement.find(' ') == statement.npos ||
            begins(
                statement,
                {"using ",
                 "namespace",
                 "extern",
                 "const",
                 "inline const",
                 "static const",
                 "typedef ",
                 "template",
                 "friend ",
                 "static_assert",
                 "SVC_"}
            ) ||
            declares(statement))
            return false;
        const auto parameters = statement.find('('), value = statement.find(" = ");
        if (parameters == statement.npos || value < parameters) return true;
        // A function, unless what it takes are values.
        const auto first = statement.find_first_not_of(' ', parameters + 1);
        return end == ';' && first != statement.npos &&
               std::string_view("0123456789'&*{").find(statement[first]) != std::string_view::npos;
    }

    std::vector<Scope> scopes_{Scope::of_namespace};
    std::string statement_;
    std::vector<std::string> found_;
};

std::vector<std::string> mutable_state(const std::string& code) { return StateFinder().find(code); }

}  // namespace

TEST(State, IsFoundByTheRule) {
    EXPECT_FALSE(mutable_state("Hints& hints() {\n    static Hints here;\n}\n").empty());
    EXPECT_FALSE(mutable_state("namespace {\n\nService* the_service = nullptr;\n}\n").empty());
    EXPECT_FALSE(mutable_state("\nstd::atomic<int> reading{0};\n").empty());
    EXPECT_FALSE(mutable_state("int f() {\n    static int count = 0;\n}\n").empty());
    EXPECT_FALSE(mutable_state("void f() {\n    static Pool pool(look_up, {}, 8);\n}\n").empty());
    EXPECT_FALSE(mutable_state("class A {\n    static inline int count = 0;\n};\n").empty());
    EXPECT_FALSE(mutable_state("\nstd::string here = made();\n").empty());
    EXPECT_FALSE(mutable_state("\nstd::string here(8, ' ');\n").empty());
    EXPECT_TRUE(mutable_state("constexpr int most = 2;\n\nextern const Operation a, b;\n").empty());
    EXPECT_TRUE(
        mutable_state("class A {\n    static Place of(int a);\n    int b = 0;\n};\n").empty()
    );
    EXPECT_TRUE(mutable_state("void f() {\n    static const std::regex word(1);\n}\n").empty());
    EXPECT_TRUE(mutable_state("A A::of(int a) {\n    return {a};\n}\nA::~A() = default;\n").empty()
    );
}

TEST(State, OfModulesIsInTheirObjects) {
    std::size_t files = 0;
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
