#include "tests/rules/sql.hpp"

#include <gtest/gtest.h>

#include <optional>

/// Tables belong to the module whose migrations make them. What others may read of them, and which
/// functions they may call, is in that module's api.sql; no module writes another's tables.
namespace svc::test {

namespace {

struct Relation {
    std::string owner;  ///< "modules/orgs", or "kernel"
    bool function = false;
    bool granted = false;
    std::set<std::string> columns;  ///< that others may read; empty: all
};
using Relations = std::map<std::string, Relation>;

std::string owner_of(const std::string& path) {
    return path.starts_with("kernel/") ? "kernel" : home_of(path);
}

/// What the migrations make. Who makes it first owns it.
Relations relations() {
    Relations out;
    for (const auto& file : migrations())
        for (const auto& each : statements_of(file)) {
            if (each.words.size() < 3 || each.words[0] != "create") continue;
            std::size_t at = 1;
            if (says(each.words, at, {"or", "replace"})) at += 2;
            if (each.words[at] == "unlogged") ++at;
            const bool function = each.words[at] == "function";
            if (!function && each.words[at] != "table" && each.words[at] != "view") continue;
            if (says(each.words, ++at, {"if", "not", "exists"})) at += 3;
            out.try_emplace(each.words[at], Relation{owner_of(file.path), function, false, {}});
        }
    return out;
}

/// GRANT SELECT (columns) ON table TO modules; GRANT EXECUTE ON FUNCTION function TO modules
void read_grants(const SourceFile& file, Relations& known) {
    for (const auto& each : statements_of(file)) {
        const auto& words = each.words;
        if (words.empty()) continue;
        ASSERT_EQ(words[0], "grant") << file.path << ": " << each.text;
        std::set<std::string> columns;
        if (words[2] == "(")
            for (const auto& column : names_at(words, 2)) columns.insert(column);
        const auto on = std::ranges::find(words, "on") - words.begin() + 1;
        const auto& name = words.at(static_cast<std::size_t>(on) + (words[1] == "execute" ? 1 : 0));
        const auto found = known.find(name);
        ASSERT_NE(found, known.end()) << file.path << ": there is no " << name;
        EXPECT_EQ(found->second.owner, owner_of(file.path)) << name << " is another's to grant";
        EXPECT_EQ(found->second.function, words[1] == "execute") << name;
        found->second.granted = true;
        found->second.columns = columns;
    }
}

Relations granted_relations() {
    Relations out = relations();
    for (const auto& file : sources())
        if (file.path.ends_with("/api.sql")) read_grants(file, out);
    return out;
}

/// Behind the end of the brackets that `at` is in, or of the statement.
std::size_t end_of_brackets(const Words& words, std::size_t at) {
    for (int depth = 0; at < words.size(); ++at) {
        if (words[at] == "(") ++depth;
        if (words[at] == ")" && --depth < 0) break;
    }
    return at;
}

/// Where the things stand that a FROM or USING at `from` lists, one behind each comma and JOIN.
std::vector<std::size_t> listed(const Words& words, std::size_t from) {
    static const std::set<std::string> ends{"where",     "group",  "having", "order",     "limit",
                                            "offset",    "union",  "except", "intersect", "for",
                                            "returning", "window", "set",    "values",    "do",
                                            "then",      "else",   "when",   "end",       "select"};
    std::vector<std::size_t> out;
    const auto add = [&](std::size_t at) {
        while (at < words.size() && (words[at] == "only" || words[at] == "lateral")) ++at;
        if (at < words.size()) out.push_back(at);
    };
    add(from + 1);
    for (std::size_t at = from + 1; at < words.size() && words[at] != ")"; ++at) {
        if (words[at] == "(") at = end_of_brackets(words, at + 1);
        else if (words[at] == "," || words[at] == "join") add(at + 1);
        else if (ends.contains(words[at])) break;
    }
    return out;
}

/// One statement against what its file's module may do.
class Judge {
public:
    Judge(const Relations& known, const Statement& statement)
        : known_(known),
          statement_(statement),
          words_(statement.words),
          home_(owner_of(statement.file)) {
        for (std::size_t at = 0; at + 2 < words_.size(); ++at)
            if (words_[at + 1] == "as" &&
                (words_[at + 2] == "(" || words_[at + 2] == "materialized"))
                own_names_.insert(words_[at]);
    }

    int judge() {
        for (std::size_t at = 0; at < words_.size(); ++at) look_at(at);
        return seen_;
    }

private:
    const Relation* foreign(std::size_t at) const {
        if (at >= words_.size() || own_names_.contains(words_[at])) return nullptr;
        const auto found = known_.find(words_[at]);
        if (found == known_.end()) return nullptr;
        const bool ours = found->second.owner == home_ || found->second.owner == "kernel";
        return ours ? nullptr : &found->second;
    }

    void look_at(std::size_t at) {
        const auto& word = words_[at];
        if (word == "insert" || word == "delete") refuse_write(at + 2);
        // FOR UPDATE and FOR NO KEY UPDATE write nothing.
        const bool locks = at > 0 && (words_[at - 1] == "for" || words_[at - 1] == "key");
        if (word == "update" && !locks) refuse_write(at + 1);
        if (word == "truncate") refuse_write(at + 1);
        if (word == "from" || word == "using") {
            const auto relations = listed(words_, at);
            for (const auto each : relations) read(each);
            if (word == "from") read_unqualified(at, relations);
        }
        if (at + 1 < words_.size() && words_[at + 1] == "(")
            if (const auto* called = foreign(at); called && called->function) {
                ++seen_;
                EXPECT_TRUE(called->granted)
                    << statement_.file << ": " << statement_.name << " calls " << word;
            }
    }

    void refuse_write(std::size_t at) {
        if (at < words_.size() && words_[at] == "only") ++at;
        const auto* target = foreign(at);
        EXPECT_TRUE(!target || target->function)
            << statement_.file << ": " << statement_.name << " writes " << words_[at];
    }

    void read(std::size_t at) {
        const auto* table = foreign(at);
        if (!table || table->function) return;
        ++seen_;
        EXPECT_TRUE(table->granted)
            << statement_.file << ": " << statement_.name << " reads " << words_[at];
        if (table->columns.empty()) return;
        std::size_t alias = at + 1;
        if (alias < words_.size() && words_[alias] == "as") ++alias;
        read_columns_of(words_[at], *table);
        if (alias < words_.size()) read_columns_of(words_[alias], *table);
    }

    void read_columns_of(const std::string& name, const Relation& table) {
        if (!is_unique(name)) return;
        for (std::size_t at = 0; at + 3 < words_.size(); ++at) {
            if (words_[at] != name || words_[at + 1] != "." || words_[at + 3] == "(") continue;
            EXPECT_TRUE(table.columns.contains(words_[at + 2]))
                << statement_.file << ": " << statement_.name << " reads " << name << '.'
                << words_[at + 2];
        }
    }

    /// Columns that are named without their table, where it can only be this one: of a SELECT that
    /// reads tables alone, and no other has a column of that name.
    void read_unqualified(std::size_t from, const std::vector<std::size_t>& relations) {
        static const auto tables = test::tables();
        std::size_t select = from;
        for (int depth = 0; select > 0 && (depth > 0 || words_[select] != "select"); --select) {
            if (words_[select] == ")") ++depth;
            if (words_[select] == "(" && --depth < 0) return;
        }
        for (const auto each : relations) {
            const auto* table = foreign(each);
            if (!table || table->columns.empty() || !tables.contains(words_[each])) continue;
            const auto is_theirs = [&](const std::string& column) {
                return std::ranges::any_of(relations, [&](std::size_t other) {
                    const auto known = tables.find(words_[other]);
                    return other != each && (known == tables.end() || known->second.has(column));
                });
            };
            for (std::size_t at = select + 1; at < end_of_brackets(words_, from); ++at) {
                if (words_[at] == "(" && at + 1 < words_.size() && words_[at + 1] == "select")
                    at = end_of_brackets(words_, at + 1);
                if (words_[at] == "union" || words_[at] == "except") break;
                if (at + 1 < words_.size() && (words_[at + 1] == "(" || words_[at + 1] == "."))
                    continue;
                const auto& word = words_[at];
                if (words_[at - 1] == "." || words_[at - 1] == "as" || words_[at - 1] == ":")
                    continue;
                const bool hidden =
                    tables.at(words_[each]).has(word) && !table->columns.contains(word);
                EXPECT_FALSE(hidden && !is_theirs(word))
                    << statement_.file << ": " << statement_.name << " reads " << words_[each]
                    << '.' << word;
            }
        }
    }

    /// Whether the statement calls one thing alone by that name.
    bool is_unique(const std::string& name) const {
        int times = 0;
        for (std::size_t at = 1; at < words_.size(); ++at)
            if (words_[at] == name && (at + 1 == words_.size() || words_[at + 1] != ".") &&
                words_[at - 1] != "." && words_[at - 1] != ",")
                ++times;
        return times == 1;
    }

    const Relations& known_;
    const Statement& statement_;
    const Words& words_;
    const std::string home_;
    std::set<std::string> own_names_;  ///< of common table expressions
    int seen_ = 0;
};

}  // namespace

TEST(Borders, WhatIsListedIsFound) {
    const auto names = [](std::string_view sql) {
        const Words words = words_of(sql);
        Words out;
        for (std::size_t at = 0; at < words.size(); ++at)
            if (words[at] == "from")
                for (const auto each : listed(words, at)) out.push_back(words[each]);
        return out;
    };
    EXPECT_EQ(
        names("SELECT 1 FROM a, b x, LATERAL (SELECT 2 FROM c, ONLY d) y WHERE z IN (1, e)"),
        (Words{"a", "b", "(", "c", "d"})
    );
    EXPECT_EQ(
        names("SELECT 1 FROM a JOIN b ON f(a.x, b.y), c ORDER BY d, e"), (Words{"a", "b", "c"})
    );
    EXPECT_EQ(names("SELECT (SELECT 1 FROM a), b FROM c"), (Words{"a", "c"}));
}

TEST(Borders, StatementsReadOfOthersWhatTheirApiGrantsAndWriteNothingOfTheirs) {
    const auto known = granted_relations();
    int seen = 0;
    for (const auto& each : program_statements())
        if (each.file.starts_with("modules/") || each.file.starts_with("plugins/"))
            seen += Judge(known, each).judge();
    EXPECT_GT(seen, 60);
}

TEST(Borders, FunctionsOfTheDatabaseKeepToThemToo) {
    const auto known = granted_relations();
    std::map<std::string, Function> latest;
    for (auto& each : functions()) latest[each.name] = std::move(each);
    for (const auto& [name, function] : latest)
        for (auto step : function.steps) {
            step.name = name;
            Judge(known, step).judge();
        }
    for (const auto& view : views()) Judge(known, view).judge();
}

}  // namespace svc::test
