// What a person granted and the client never came for.

#include "modules/oauth/grants.hpp"
#include "svc/workspace_jobs.hpp"

namespace svc::oauth {

namespace {

constexpr std::size_t batch = 100;
constexpr std::string_view why = "An OAuth code was not exchanged";

constexpr Sql workspaces_with_unused{"oauth.workspaces_with_unused_codes", R"(
    SELECT DISTINCT org_id FROM oauth_grants
    WHERE exchanged_at IS NULL AND code_expires_at < now())"};

constexpr Sql find_unused{"oauth.find_unused_codes", R"(
    SELECT token_id, made_agent_id FROM oauth_grants
    WHERE org_id = $1 AND exchanged_at IS NULL AND code_expires_at < now()
    ORDER BY code_expires_at
    LIMIT $2)"};

constexpr Sql drop_unused{"oauth.drop_unused_code", R"(
    DELETE FROM oauth_grants
    WHERE org_id = $1 AND token_id = $2 AND exchanged_at IS NULL AND code_expires_at < now())"};

struct Unused {
    Uuid token_id;
    std::optional<Uuid> made_agent_id;
};
SVC_RECORD(Unused, (token_id), (made_agent_id));

std::vector<Unused> some_unused(Kernel& kernel, const Uuid& org) {
    std::vector<Unused> found;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(org, std::nullopt);
        found = tx.all<Unused>(find_unused, org, std::int64_t{batch});
    });
    return found;
}

/// Each step finds again what the one before left, if the server ends in between.
void end(Kernel& kernel, const Uuid& org, const Unused& unused) {
    auto& connections = kernel.use<agents::Connections>();
    connections.end(kernel, {org, unused.token_id}, why);
    if (unused.made_agent_id) connections.delete_agent(kernel, org, *unused.made_agent_id, why);
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(org, std::nullopt);
        tx.queue(drop_unused, org, unused.token_id);
    });
}

JobOutcome work(Kernel& kernel, const JobRun& run) {
    for (;;) {
        const auto found = some_unused(kernel, run.org());
        for (const Unused& each : found) {
            end(kernel, run.org(), each);
            if (run.should_yield()) return JobOutcome::more;
        }
        if (found.size() < batch) return JobOutcome::done;
    }
}

}  // namespace

void add_end_of_unused_codes(Kernel& kernel) {
    add_sweep(
        kernel,
        {.name = "oauth.end_unused_codes",
         .every = std::chrono::seconds(30),
         .find = [&kernel] { return workspaces(kernel, workspaces_with_unused); },
         .work = [&kernel](JobRun& run) { return work(kernel, run); }}
    );
}

}  // namespace svc::oauth
