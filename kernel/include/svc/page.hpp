#pragma once

#include "svc/types.hpp"

/// Lists (contract section 4.1): keyset pages under signed cursors.
namespace svc {

/// What every list takes. A query record holds it as `(paging, "", spread)`.
struct Paging {
    std::int64_t page_size = 25;
    std::optional<std::string> start_cursor;
};
SVC_RECORD(
    Paging,
    (page_size, "How many to return at most.", range(1, 100), defaulted),
    (start_cursor, "`next_cursor` of the page before; left out for the first.", length(1, 2048))
);

/// What every list gives. The kernel writes the wrapper around it.
template <class T>
struct Page {
    std::vector<T> results;
    std::optional<std::string> next_cursor;
};

}  // namespace svc
