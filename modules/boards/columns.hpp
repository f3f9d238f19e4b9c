#pragma once

#include "modules/boards/api.hpp"

namespace svc::boards {

/// A new column on `board`, made by whoever made that; its place is the caller's to give.
Column column_of(const Board& board, const std::string& name, ColumnKind kind);

/// Queues the row.
void insert(Call& call, const Column& column, const OrderKey& place);

}  // namespace svc::boards
