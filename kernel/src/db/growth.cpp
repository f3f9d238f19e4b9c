#include "db/growth.hpp"

#include <algorithm>

namespace svc::db {

std::vector<std::string_view> filled_by(std::string_view sql) {
    constexpr std::string_view words = "INSERT INTO ";
    std::vector<std::string_view> out;
    for (auto at = sql.find(words); at != sql.npos; at = sql.find(words, at)) {
        at += words.size();
        out.push_back(sql.substr(at, sql.find_first_of(" (\n", at) - at));
    }
    return out;
}

bool Growth::note(const Sql& sql, std::size_t rows) {
    if (rows < many) return false;
    const auto tables = filled_by(sql.text);
    if (tables.empty()) return false;
    const std::lock_guard lock(mutex_);
    bool due = false;
    for (const auto name : tables) {
        Table& table = tables_[std::string(name)];
        table.filled += rows;
        due = due || table.filled >= table.bearable;
    }
    return due;
}

std::vector<Growth::Filled> Growth::take() {
    std::vector<Filled> out;
    const std::lock_guard lock(mutex_);
    for (auto& [name, table] : tables_)
        if (table.filled >= table.bearable) out.push_back({name, std::exchange(table.filled, 0)});
    return out;
}

void Growth::learn(const std::string& table, std::size_t rows) {
    const std::lock_guard lock(mutex_);
    tables_[table].bearable = std::max(harmless, rows);
}

}  // namespace svc::db
