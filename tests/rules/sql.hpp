#pragma once

#include "tests/rules/macros.hpp"
#include "tests/rules/source.hpp"

#include <regex>

/// The project's SQL, as the rules look at it.
namespace svc::test {

/// A statement as the words and signs it is made of: lower case, without literals or comments.
using Words = std::vector<std::string>;

inline Words words_of(std::string_view sql) {
    Words out;
    const auto word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
    };
    for (std::size_t at = 0; at < sql.size();) {
        const char c = sql[at];
        if (sql.substr(at).starts_with("--")) {
            at = std::min(sql.find('\n', at), sql.size());
        } else if (c == '\'') {
            at = std::min(sql.find('\'', at + 1), sql.size() - 1) + 1;
            out.emplace_back("''");
        } else if (word(c)) {
            std::string text;
            while (at < sql.size() && word(sql[at]))
                text += static_cast<char>(std::tolower(static_cast<unsigned char>(sql[at++])));
            out.push_back(text);
        } else {
            if (!std::isspace(static_cast<unsigned char>(c))) out.emplace_back(1, c);
            ++at;
        }
    }
    return out;
}

/// True when the words at `at` are `phrase`, one after another.
inline bool says(
    const Words& words, std::size_t at, std::initializer_list<std::string_view> phrase
) {
    if (at + phrase.size() > words.size()) return false;
    return std::equal(phrase.begin(), phrase.end(), words.begin() + static_cast<long>(at));
}
inline bool says(const Words& words, std::initializer_list<std::string_view> phrase) {
    for (std::size_t at = 0; at < words.size(); ++at)
        if (says(words, at, phrase)) return true;
    return false;
}

struct Statement {
    std::string file;
    std::string name;  ///< of the Sql constant; empty in a migration
    std::string text;
    Words words;
};

/// The statements of a migration: split at semicolons outside literals and $$ bodies.
inline std::vector<Statement> statements_of(const SourceFile& migration) {
    std::vector<Statement> out;
    std::string text;
    bool quoted = false, body = false;
    for (std::size_t at = 0; at < migration.text.size(); ++at) {
        const auto rest = std::string_view(migration.text).substr(at);
        if (!quoted && !body && rest.starts_with("--")) {
            const auto end = rest.find('\n');
            at += end == std::string_view::npos ? rest.size() : end;
            text += '\n';
            continue;
        }
        if (!quoted && rest.starts_with("$$")) body = !body;
        if (!body && rest[0] == '\'') quoted = !quoted;
        if (rest[0] == ';' && !quoted && !body)
            out.push_back({migration.path, "", std::exchange(text, {}), {}});
        else text += rest[0];
    }
    for (auto& each : out) each.words = words_of(each.text);
    return out;
}

inline std::vector<SourceFile> migrations() {
    std::vector<SourceFile> out;
    for (const auto& file : sources())
        if (file.is(".sql") && file.path.find("/migrations/") != std::string::npos)
            out.push_back(file);
    return out;
}

using NamedTexts = std::map<std::string, std::string>;

/// Where a name stands that introduces the literal behind this code.
inline std::string end_of(const std::string& code) {
    return code.substr(code.size() - std::min<std::size_t>(code.size(), 200));
}

/// Whether it is worth while to look with a regular expression, which takes long.
inline bool may_say(const std::string& text, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](auto word) { return text.find(word) != text.npos; });
}

/// Text that a file gives a name, for statements put together of it: by #define, as a
/// `std::string_view name = "…"`, or put together itself, of what `known` and the file name.
inline NamedTexts named_texts(const SourceFile& written, const NamedTexts& known) {
    const SourceFile file{written.path, expand_text_macros(written.text)};
    static const std::regex introduction(R"((?:#define (\w+)|std::string_view (\w+) =)[\s\\]*$)");
    static const std::regex of_others(R"(std::string_view (\w+) =\s*SqlText<([^>]*)>::view)");
    static const std::regex word(R"(\w+)"), words(R"([\w\s\\]*)");
    NamedTexts out;
    const auto add_named = [&](std::string& to, const std::string& by) {
        for (std::sregex_iterator each(by.begin(), by.end(), word), none; each != none; ++each) {
            const NamedTexts& from = out.contains(each->str()) ? out : known;
            if (const auto text = from.find(each->str()); text != from.end()) to += text->second;
        }
    };
    std::string name;
    for (const auto& part : pieces(file.text)) {
        if (part.kind == Piece::Kind::text && !name.empty()) out[name] += part.text;
        if (part.kind != Piece::Kind::code) continue;
        const auto last = end_of(part.text);
        std::smatch found;
        if (may_say(last, {"#define ", "string_view "}) &&
            std::regex_search(last, found, introduction))
            name = found[1].matched ? found[1].str() : found[2].str();
        else if (name.empty()) continue;
        else if (!std::regex_match(part.text, words)) name.clear();
        else if (!name.empty()) add_named(out[name], part.text);  // "text" NAME "text"
    }
    if (!may_say(file.text, {"SqlText<"})) return out;
    for (std::sregex_iterator each(file.text.begin(), file.text.end(), of_others), none;
         each != none;
         ++each)
        add_named(out[(*each)[1]], (*each)[2]);
    return out;
}

/// The folder whose headers a file may include: the module's, or its own in the kernel.
inline std::string home_of(const std::string& path) {
    static const std::regex module("(modules|plugins)/[^/]+");
    std::smatch found;
    if (std::regex_search(path, found, module, std::regex_constants::match_continuous))
        return found[0];
    return fs::path(path).parent_path().string();
}

/// Those of a header, read once.
inline const NamedTexts& texts_of_header(const SourceFile& header) {
    static std::map<std::string, NamedTexts> known;
    const auto [found, is_new] = known.try_emplace(header.path);
    if (is_new) found->second = named_texts(header, {});
    return found->second;
}

/// What a file can name: its own texts, those of the headers of its module, and those that a
/// module or the kernel shows to others.
inline NamedTexts texts_for(const SourceFile& of) {
    NamedTexts out;
    const auto home = home_of(of.path);
    for (const auto& file : sources()) {
        if (!file.is(".hpp")) continue;
        const fs::path path(file.path);
        if (path.filename() == "api.hpp" || path.parent_path().filename() == "api" ||
            file.in("kernel/include") || file.in(home))
            for (const auto& each : texts_of_header(file)) out.insert(each);
    }
    auto own = named_texts(of, out);
    own.merge(out);
    return own;
}

/// Every `Sql name{"module.name", "text"}` of a file.
inline std::vector<Statement> statements_in(const SourceFile& written) {
    static const std::regex introduction(R"(Sql \w+\s*\{\s*$)"), word(R"(\w+)");
    std::vector<Statement> out;
    if (written.text.find("Sql ") == std::string::npos) return out;
    const SourceFile file{written.path, expand_text_macros(written.text)};
    const auto texts = texts_for(file);
    const auto parts = pieces(file.text);
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        if (parts[i].kind != Piece::Kind::code || parts[i + 1].kind != Piece::Kind::text) continue;
        const auto last = end_of(parts[i].text);
        if (!may_say(last, {"Sql "}) || !std::regex_search(last, introduction)) continue;
        Statement statement{file.path, parts[++i].text, "", {}};
        for (++i; i < parts.size(); ++i) {
            if (parts[i].kind == Piece::Kind::text) statement.text += parts[i].text;
            if (parts[i].kind != Piece::Kind::code) continue;
            const auto code = parts[i].text.substr(0, parts[i].text.find('}'));
            for (std::sregex_iterator each(code.begin(), code.end(), word), none; each != none;
                 ++each)
                if (const auto found = texts.find(each->str()); found != texts.end())
                    statement.text += found->second;
            if (code.size() < parts[i].text.size()) break;
        }
        --i;  // the closing code may begin the next statement
        statement.words = words_of(statement.text);
        out.push_back(std::move(statement));
    }
    return out;
}

inline std::vector<Statement> read_program_statements() {
    std::vector<Statement> out;
    for (const auto& file : sources()) {
        if (!file.is_cpp()) continue;
        if (!file.in("kernel") && !file.in("modules") && !file.in("plugins") && !file.in("docs"))
            continue;
        for (auto& each : statements_in(file)) out.push_back(std::move(each));
    }
    return out;
}

/// Every statement the program sends: the Sql constants of kernel, modules, plugins and examples.
inline const std::vector<Statement>& program_statements() {
    static const std::vector<Statement> all = read_program_statements();
    return all;
}

/// A function of the migrations, and the statements in its body.
struct Function {
    std::string file;
    std::string name;
    std::vector<Statement> steps;
};

inline std::vector<Function> functions() {
    std::vector<Function> out;
    for (const auto& file : migrations())
        for (const auto& each : statements_of(file)) {
            const bool replaces = says(each.words, 0, {"create", "or", "replace", "function"});
            if (!replaces && !says(each.words, 0, {"create", "function"})) continue;
            Function made{file.path, each.words[replaces ? 4 : 2], {}};
            const auto begins = each.text.find("$$"), ends = each.text.rfind("$$");
            const bool quoted = begins != ends;
            SourceFile body{
                file.path,
                quoted ? each.text.substr(begins + 2, ends - begins - 2) + ';' : each.text + ';'};
            made.steps = statements_of(body);
            out.push_back(std::move(made));
        }
    return out;
}

/// The views of the migrations, as they are made.
inline std::vector<Statement> views() {
    std::vector<Statement> out;
    for (const auto& file : migrations())
        for (auto& each : statements_of(file)) {
            const bool replaces = says(each.words, 0, {"create", "or", "replace", "view"});
            if (!replaces && !says(each.words, 0, {"create", "view"})) continue;
            each.name = each.words[replaces ? 4 : 2];
            out.push_back(std::move(each));
        }
    return out;
}

/// A table as the migrations leave it.
struct Table {
    std::string file;
    std::vector<std::string> columns;
    std::vector<std::string> primary_key;
    bool row_security = false, forced = false, policy = false;
    bool has(std::string_view column) const { return std::ranges::count(columns, column) > 0; }
};

/// The words between the parenthesis at `at` and its partner, split at top-level commas.
inline std::vector<Words> list_at(const Words& words, std::size_t at) {
    std::vector<Words> out(1);
    int depth = 0;
    for (; at < words.size(); ++at) {
        if (words[at] == "(" && ++depth == 1) continue;
        if (words[at] == ")" && --depth == 0) break;
        if (words[at] == "," && depth == 1) out.emplace_back();
        else out.back().push_back(words[at]);
    }
    return out;
}

inline std::vector<std::string> names_at(const Words& words, std::size_t at) {
    std::vector<std::string> out;
    for (const auto& each : list_at(words, at)) out.push_back(each.empty() ? "" : each.front());
    return out;
}

inline std::map<std::string, Table> tables() {
    std::map<std::string, Table> out;
    for (const auto& file : migrations()) {
        for (const auto& statement : statements_of(file)) {
            const auto& words = statement.words;
            if (says(words, 0, {"create", "table"}) ||
                says(words, 0, {"create", "unlogged", "table"})) {
                std::size_t at = words[1] == "table" ? 2 : 3;
                if (says(words, at, {"if", "not", "exists"})) at += 3;
                Table table{file.path, {}, {}};
                for (const auto& item : list_at(words, at + 1)) {
                    if (item.empty()) continue;
                    const std::set<std::string> not_columns{
                        "primary", "unique", "check", "constraint", "foreign", "exclude", "like"};
                    if (!not_columns.contains(item[0])) table.columns.push_back(item[0]);
                    for (std::size_t i = 0; i + 1 < item.size(); ++i)
                        if (says(item, i, {"primary", "key"}))
                            table.primary_key = i + 2 < item.size() && item[i + 2] == "("
                                                    ? names_at(item, i + 2)
                                                    : std::vector{item[0]};
                }
                out[words[at]] = std::move(table);
            }
            if (says(words, 0, {"alter", "table"}) && words.size() > 3) {
                auto& table = out[words[2]];
                for (std::size_t at = 3; at < words.size(); ++at) {
                    if (says(words, at, {"enable", "row", "level", "security"}))
                        table.row_security = true;
                    if (says(words, at, {"force", "row", "level", "security"})) table.forced = true;
                    if (says(words, at, {"add", "column"}))
                        table.columns.push_back(
                            words[says(words, at + 2, {"if", "not", "exists"}) ? at + 5 : at + 2]
                        );
                    if (says(words, at, {"primary", "key", "("}))
                        table.primary_key = names_at(words, at + 2);
                }
            }
            if (says(words, 0, {"create", "policy"}) && says(words, 3, {"on"}))
                out[words[4]].policy = true;
            if (says(words, 0, {"drop", "table"}))
                out.erase(words[says(words, 2, {"if", "exists"}) ? 4 : 2]);
        }
    }
    return out;
}

}  // namespace svc::test
