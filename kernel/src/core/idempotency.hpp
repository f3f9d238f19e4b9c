#pragma once

#include "core/running_call.hpp"
#include "svc/secrets.hpp"

namespace svc::core {

/// The Idempotency-Key of one run (contract section 4.5), if the request brought one to a POST
/// of a caller's. The key and the stored answer live in the handler's own transaction: what is
/// kept is what was committed. The answer is sealed under the key the client sent, which
/// itself is not stored, so a dump of the database does not show the secrets in it.
class IdempotencyKey {
public:
    IdempotencyKey(const Run& run, RunningCall& call, const Input& input);

    /// Fills `answer` and says true when the same request was answered before. Failure 409 while
    /// another with this key is running, 422 when the key was used for a different request.
    bool replay(http::Answer& answer);
    /// The request has none.
    bool empty() const { return key_.empty(); }
    /// Queues the answer to be kept with the commit.
    void keep(const http::Answer& answer);

private:
    const Uuid& org() const;

    const Run& run_;
    RunningCall& call_;
    std::string_view key_;  // empty: none was sent
    Sha256 request_{}, body_digest_{};
};

/// Deletes what is older than a day, workspace by workspace.
void sweep_idempotency_keys(db::Database& database);

}  // namespace svc::core
