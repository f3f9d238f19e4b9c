#pragma once

#include "svc/types.hpp"

/// Lists (contract section 4.1): keyset pages under signed cursors.
namespace svc {

/// How long the results of one page are at most, as JSON: `Call::page` ends a page before the row
/// that would exceed it. One row always comes, however long it is.
inline constexpr std::size_t page_bytes = 1 << 20;

/// What every list takes. A query record holds it as `(paging, "", flatten)`.
struct Paging {
    std::int64_t page_size = 25;
    std::optional<std::string> start_cursor;
};
SVC_SHARED_RECORD(
    Paging,
    (page_size,
     "How many to return at most. A page of long things ends sooner, at 1 MiB.",
     range(1, 100),
     defaulted),
    (start_cursor, "`next_cursor` of the page before; left out for the first.", length(0, 2048))
);

/// What every list gives. The kernel writes the wrapper around it.
template <class T>
struct Page {
    std::vector<T> results;
    std::optional<std::string> next_cursor;
};

}  // namespace svc
