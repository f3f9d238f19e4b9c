#pragma once

#include "svc/kernel.hpp"

/// What a workspace stores.
namespace svc::boards {

/// Offered by boards to modules that store something for workspaces
/// (docs/decisions/0025-bytes-are-counted-as-they-grow.md).
class StoredBytes {
public:
    static constexpr std::string_view name = "boards.StoredBytes";

    /// Queues that the transaction stores so many bytes more. When the workspace has no room for
    /// them, the transaction fails: 402 `plan_limit_reached`, with the limit `storage`.
    virtual void add(Tx& tx, const Uuid& org, std::int64_t bytes) = 0;
    /// A statement that answers how many `bytes` there really are in the workspace $1. While
    /// modules open.
    virtual void count_by(const Sql& sql) = 0;

protected:
    ~StoredBytes() = default;
};

/// Queues the same, for modules of a server on which boards is on.
inline void store_bytes(Call& call, std::int64_t bytes) {
    if (bytes > 0) call.use<StoredBytes>().add(call.tx(), call.org(), bytes);
}

/// What such a statement answers.
struct BytesCounted {
    std::int64_t bytes = 0;
};
SVC_SHARED_RECORD(BytesCounted, (bytes));

}  // namespace svc::boards
