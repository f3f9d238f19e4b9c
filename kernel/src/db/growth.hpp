#pragma once

#include "svc/tx.hpp"

#include <map>
#include <mutex>

namespace svc::db {

/// What statements put into tables many rows at a time, and which tables PostgreSQL should look at
/// anew for it: it keeps plans that were made when a table was small for as long as it does not
/// know better, and autovacuum may come by only once a minute. Any thread.
class Growth {
public:
    /// Rows of one statement; single ones come slowly enough for autovacuum.
    static constexpr std::size_t many = 20;
    /// Rows in a table that no plan is too bad for.
    static constexpr std::size_t harmless = 500;

    struct Filled {
        std::string table;
        std::size_t rows = 0;
    };
    /// Counts what was committed. True when there is something to take.
    bool note(const Sql& sql, std::size_t rows);
    /// The tables to be looked at now; counting them begins anew.
    std::vector<Filled> take();
    /// How many rows the table was found to have: until it has grown by as many it is left alone.
    void learn(const std::string& table, std::size_t rows);

private:
    struct Table {
        std::size_t filled = 0, bearable = harmless;
    };
    std::mutex mutex_;
    std::map<std::string, Table, std::less<>> tables_;
};

/// The tables that a statement inserts into.
std::vector<std::string_view> filled_by(std::string_view sql);

}  // namespace svc::db
