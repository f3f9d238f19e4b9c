#pragma once

#include "svc/record.hpp"

#include <libpq-fe.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

/// From rows to records.
namespace svc::db {

struct ClearResult {
    void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, ClearResult>;

/// Which column of a statement fills which member of a record. Made once per statement and
/// record; reading a row is then nothing but the members' own codecs.
class Binding {
public:
    /// Throws std::logic_error naming statement, record and field when a column is missing.
    Binding(const Record& record, const PGresult* result, std::string_view statement);

    const Record& record() const { return *record_; }
    void read(const PGresult* result, int row, void* out, std::string_view statement) const;

private:
    struct Target {
        int column;
        std::ptrdiff_t offset;  // of the member in the outermost record
        const Field* field;
    };
    void bind(
        const Record& record, std::ptrdiff_t at, const PGresult* result, std::string_view sql
    );

    const Record* record_;
    std::vector<Target> targets_;
};

/// The bindings of one statement. Not shared between threads.
class Bindings {
public:
    const Binding& of(const Record& record, const PGresult* result, std::string_view statement);
    void clear() { list_.clear(); }

private:
    std::vector<Binding> list_;
};

}  // namespace svc::db
