#pragma once

#include "tests/support/places.hpp"
#include "tests/support/program.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The project's own text, as the rules look at it.
namespace svc::test {

namespace fs = std::filesystem;

struct SourceFile {
    std::string path;  ///< from the top of the project
    std::string text;
    bool in(std::string_view folder) const { return path.starts_with(std::string(folder) + "/"); }
    bool is(std::string_view ending) const { return path.ends_with(ending); }
    bool is_cpp() const { return is(".cpp") || is(".hpp"); }
    std::string name() const { return fs::path(path).filename().string(); }
    std::vector<std::string> lines() const {
        std::vector<std::string> out;
        for (std::size_t at = 0; at < text.size();) {
            const auto end = std::min(text.find('\n', at), text.size());
            out.push_back(text.substr(at, end - at));
            at = end + 1;
        }
        return out;
    }
};

/// Everything that is kept in the repository as text, in order of path. What is made by a
/// build or fetched from a registry is not the project's.
inline const std::vector<SourceFile>& sources() {
    static const auto all = [] {
        const std::set<std::string> skipped{
            ".git", ".cache", "build", "var", "node_modules", "generated"};
        std::vector<SourceFile> out;
        const fs::path top = source_folder();
        for (auto each = fs::recursive_directory_iterator(top); each != end(each); ++each) {
            const auto name = each->path().filename().string();
            if (each->is_directory() && skipped.contains(name)) each.disable_recursion_pending();
            // In a further work tree of git's, `.git` is a file.
            if (!each->is_regular_file() || skipped.contains(name)) continue;
            auto text = read_file(each->path());
            if (text.find('\0') != std::string::npos) continue;  // a picture, not text
            out.push_back({fs::relative(each->path(), top).string(), std::move(text)});
        }
        std::ranges::sort(out, {}, &SourceFile::path);
        return out;
    }();
    return all;
}

/// One part of a C++ file: code, a string literal's contents, or a comment.
struct Piece {
    enum class Kind { code, text, comment } kind;
    std::string text;
};

/// Splits C++ into code, literals and comments. Understands raw strings and escapes enough to
/// find where each ends.
inline std::vector<Piece> pieces(const std::string& cpp) {
    std::vector<Piece> out;
    std::string code;
    const auto put = [&](Piece::Kind kind, std::string text) {
        if (!code.empty()) out.push_back({Piece::Kind::code, std::exchange(code, {})});
        out.push_back({kind, std::move(text)});
    };
    for (std::size_t at = 0; at < cpp.size();) {
        const auto plain = std::min(cpp.find_first_of("/R\"'", at), cpp.size());
        code.append(cpp, at, plain - at);
        if ((at = plain) == cpp.size()) break;
        const auto rest = std::string_view(cpp).substr(at);
        if (rest.starts_with("//") || rest.starts_with("/*")) {
            const bool line = rest[1] == '/';
            auto end = cpp.find(line ? "\n" : "*/", at + 2);
            end = end == std::string::npos ? cpp.size() : end + (line ? 0 : 2);
            put(Piece::Kind::comment, cpp.substr(at, end - at));
            at = end;
        } else if (rest.starts_with("R\"") && (at == 0 || !std::isalnum(cpp[at - 1]))) {
            const auto open = cpp.find('(', at);
            const auto close = ")" + cpp.substr(at + 2, open - at - 2) + "\"";
            const auto end = cpp.find(close, open);
            put(Piece::Kind::text, cpp.substr(open + 1, end - open - 1));
            at = end + close.size();
        } else if (rest[0] == '"') {
            auto end = at + 1;
            while (end < cpp.size() && cpp[end] != '"') end += cpp[end] == '\\' ? 2 : 1;
            put(Piece::Kind::text, cpp.substr(at + 1, end - at - 1));
            at = end + 1;
        } else if (rest.size() > 2 && rest[0] == '\'' && (rest[2] == '\'' || rest[1] == '\\')) {
            const auto end = rest[1] == '\\' ? cpp.find('\'', at + 3) : at + 2;
            code += "' '";
            at = end + 1;
        } else {
            code += cpp[at++];
        }
    }
    put(Piece::Kind::comment, "");
    return out;
}

/// What the quotes of an #include hold, in order.
inline std::vector<std::string> includes(const SourceFile& file) {
    std::vector<std::string> out;
    for (const auto& line : file.lines()) {
        if (!line.starts_with("#include")) continue;
        const auto open = line.find_first_of("<\"");
        const auto close = line.find_last_of(">\"");
        if (open != std::string::npos && close > open)
            out.push_back(line.substr(open + 1, close - open - 1));
    }
    return out;
}

/// A module or plugin as its sources declare it.
struct DeclaredModule {
    std::string folder;  ///< "modules/boards"
    std::string name;
    std::vector<std::string> needs;
};

/// Read off each SVC_MODULE(Class, "name", "need"…).
inline std::vector<DeclaredModule> declared_modules() {
    std::vector<DeclaredModule> out;
    for (const auto& file : sources()) {
        if (!file.is(".cpp") || !(file.in("modules") || file.in("plugins"))) continue;
        const auto parts = pieces(file.text);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (parts[i].kind != Piece::Kind::code) continue;
            const auto call = parts[i].text.rfind("SVC_MODULE(");
            if (call == std::string::npos) continue;
            if (parts[i].text.find(')', call) != std::string::npos) continue;
            DeclaredModule module{fs::path(file.path).parent_path().string(), {}, {}};
            for (++i; i < parts.size(); ++i) {
                if (parts[i].kind == Piece::Kind::text)
                    (module.name.empty() ? module.name : module.needs.emplace_back()) =
                        parts[i].text;
                else if (parts[i].text.find(')') != std::string::npos) break;
            }
            out.push_back(std::move(module));
        }
    }
    return out;
}

}  // namespace svc::test
