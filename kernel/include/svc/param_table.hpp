#pragma once

#include "svc/tx.hpp"

/// Rows as parameters of one statement.
namespace svc {

/// An array for each column, for a statement that writes some rows. It finds what is to be written
/// into a row by the place of the row's key among the keys, as in
/// `($4::text[])[array_position($2::uuid[], c.id)]`: a join would be the planner's to turn round.
/// For tens of rows, not for thousands.
class ParamTable {
public:
    template <class... Value>
    void add(const Value&... value) {
        Params row;
        (row.add(value), ...);
        append(row);
    }
    bool empty() const { return columns_.empty(); }
    /// Of at least one row.
    ParamList columns() &&;

private:
    void append(const Params& row);

    std::vector<std::string> columns_;
};

}  // namespace svc
