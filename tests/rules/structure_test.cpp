#include "tests/rules/source.hpp"

#include <gtest/gtest.h>

#include <functional>

/// What the shape of the sources costs whoever builds and reads them.
namespace svc::test {

namespace {

constexpr int longest_function = 60;

/// A function's body, from the line its declaration begins on to its closing brace.
struct Function {
    std::string declaration;
    int lines = 0;
};

/// The functions of namespaces and classes. Lambdas count to the function they are in.
class FunctionFinder {
public:
    std::vector<Function> find(const std::string& cpp) {
        for (const auto& piece : pieces(cpp)) {
            const bool code = piece.kind == Piece::Kind::code;
            for (std::size_t at = 0; at < piece.text.size(); ++at) {
                const char c = piece.text[at];
                if (c == '\n') ++line_;
                // A directive goes on over the strings in it and over lines that end in a
                // backslash.
                if (in_directive_) {
                    in_directive_ = c != '\n' || (at > 0 && piece.text[at - 1] == '\\');
                    continue;
                }
                if (!code) continue;
                if (c == '#' && start_of_line(piece.text, at)) {
                    in_directive_ = true;
                    continue;
                }
                take(c);
            }
        }
        return std::move(found_);
    }

private:
    struct Scope {
        bool holds_functions;  ///< a namespace or a class
        bool function;
        int began;
        std::string declaration;
    };

    static bool start_of_line(const std::string& text, std::size_t at) {
        while (at > 0 && text[at - 1] == ' ') --at;
        return at == 0 || text[at - 1] == '\n';
    }

    void take(char c) {
        if (c == '{') {
            open();
        } else if (c == '}') {
            close();
        } else if (c == ';') {
            statement_.clear();
        } else if (!std::isspace(static_cast<unsigned char>(c)) || !statement_.empty()) {
            if (statement_.empty()) began_ = line_;
            statement_ += c;
        }
    }

    void open() {
        const bool outside = scopes_.empty() || scopes_.back().holds_functions;
        const auto parameters_at = statement_.find('(');
        const bool parameters = parameters_at != std::string::npos;
        // What is behind a parameter's name is its default; else it is a variable's value.
        const bool value = statement_.find(" = ") < parameters_at;
        scopes_.push_back(
            {outside && (!parameters || statement_.starts_with("extern")),
             outside && parameters && !value,
             began_,
             statement_}
        );
        statement_.clear();
    }

    void close() {
        if (scopes_.empty()) return;
        const Scope scope = std::move(scopes_.back());
        scopes_.pop_back();
        if (scope.function) found_.push_back({scope.declaration, line_ - scope.began + 1});
        statement_.clear();
    }

    int line_ = 1;
    int began_ = 1;
    bool in_directive_ = false;
    std::string statement_;
    std::vector<Scope> scopes_;
    std::vector<Function> found_;
};

}  // namespace

TEST(Structure, FunctionsAreFound) {
    const auto found = FunctionFinder().find(
        "namespace a {\n"
        "struct B {\n"
        "    int c() const {\n"
        "        return [] { return 1; }();\n"
        "    }\n"
        "};\n"
        "#define D(x) { \\\n"
        "    {\n"
        "static const int e[] = {1, 2};\n"
        "int f(\n"
        "    int g = 1\n"
        ") {\n"
        "    return g;\n"
        "}\n"
        "}\n"
    );
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].lines, 3);
    EXPECT_EQ(found[1].lines, 5);
}

TEST(Structure, FunctionsStayShort) {
    int seen = 0;
    for (const auto& file : sources()) {
        if (!file.is_cpp() || file.in("tests")) continue;
        for (const auto& function : FunctionFinder().find(file.text)) {
            ++seen;
            EXPECT_LE(function.lines, longest_function)
                << file.path << ": " << function.declaration;
        }
    }
    EXPECT_GT(seen, 2000);
}

TEST(Structure, NoHeaderIncludesItselfByWayOfOthers) {
    std::map<std::string, std::vector<std::string>> graph;
    std::set<std::string> known;
    for (const auto& file : sources()) known.insert(file.path);
    for (const auto& file : sources()) {
        if (!file.is_cpp()) continue;
        for (const auto& include : includes(file))
            for (const std::string_view folder : {"", "kernel/include/", "kernel/src/"})
                if (const auto path = std::string(folder) + include; known.contains(path))
                    graph[file.path].push_back(path);
    }
    EXPECT_GT(graph.size(), 400U);
    std::set<std::string> done;
    std::vector<std::string> path;
    const std::function<void(const std::string&)> visit = [&](const std::string& file) {
        ASSERT_EQ(std::ranges::count(path, file), 0) << file << ", by way of " << path.back();
        if (!done.insert(file).second) return;
        path.push_back(file);
        for (const auto& next : graph[file]) visit(next);
        path.pop_back();
    };
    for (const auto& file : sources()) visit(file.path);
}

// A description in a header is compiled in every file that includes it (docs/decisions/0035).
TEST(Structure, HeadersOnlyDeclareTheirRecords) {
    for (const auto& file : sources()) {
        if (!file.is(".hpp") || file.in("tests") || file.path.ends_with("svc/record.hpp")) continue;
        for (const auto& piece : pieces(file.text)) {
            if (piece.kind != Piece::Kind::code) continue;
            EXPECT_EQ(piece.text.find("SVC_RECORD("), std::string::npos)
                << file.path << ": say SVC_SHARED_RECORD, and include it in records.cpp";
        }
    }
}

}  // namespace svc::test
