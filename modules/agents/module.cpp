#include "svc/module.hpp"

#include "modules/agents/agents.hpp"
#include "modules/agents/bearer.hpp"
#include "modules/agents/commands.hpp"
#include "modules/agents/tokens.hpp"
#include "modules/orgs/api.hpp"
#include "svc/open_streams.hpp"

#include <set>

namespace svc::agents {

namespace {

/// What may end a token, or narrow it: its own end, its agent's, its owner's, its workspace's.
bool concerns_tokens(std::string_view kind) {
    for (const std::string_view filter : {"token.*", "agent.*", "member.*", "org.deleted"})
        if (kind_matches(filter, kind)) return true;
    return false;
}

// What a token stands for is looked at anew when this rises, and so by everybody in the workspace.
constexpr Sql unsettle_tokens_of{"agents.unsettle_tokens_of", R"(
    UPDATE orgs SET standing = standing + 1
    WHERE id = $1 AND EXISTS (
        SELECT FROM tokens t
        WHERE t.org_id = $1 AND t.owner_user_id = $2 AND t.kind = 'integration'
          AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())))"};

class Agents final : public Module, public orgs::Bearers {
public:
    void open(Kernel& kernel) override {
        ledger_.emplace(kernel);
        bearer_.emplace(kernel, *ledger_);
        kernel.add(*bearer_);
        kernel.offer<Budgets>(*ledger_);
        kernel.offer<orgs::Bearers>(*this);
        kernel.tag("agents", "Agents, and the tokens that they and integrations sign in with.");
        add_agent_operations(kernel);
        add_agent_changes(kernel);
        add_agent_activity(kernel);
        add_budget_events(kernel);
        add_token_operations(kernel);
        add_token_changes(kernel);
        kernel.add(token_command(kernel));
        kernel.add(agent_command(kernel));
        kernel.listen([&streams = kernel.use<OpenStreams>()](std::span<const StoredEvent> batch) {
            std::set<Uuid> orgs;
            for (const StoredEvent& each : batch)
                if (concerns_tokens(each.kind)) orgs.insert(each.org_id);
            for (const Uuid& org : orgs) streams.look_again(org);
        });
        kernel.every("agents.sightings", std::chrono::seconds(30), [this] {
            bearer_->write_sightings();
        });
        kernel.every("agents.usage", std::chrono::seconds(1), [this] { ledger_->settle(); });
    }

    void renamed(Tx& tx, const Uuid& org, const Uuid& person) override {
        tx.queue(unsettle_tokens_of, org, person);
    }

    std::size_t end_all_of(Kernel& kernel, const Uuid& person, std::string_view command) override {
        return revoke_tokens_of(kernel, person, command);
    }

    void start() override { ledger_->start(); }

    void stop() noexcept override {
        ledger_->stop();
        try {
            bearer_->write_sightings();
        } catch (const std::exception&) {
            // They were used all the same; only the time of it is lost.
        }
    }

private:
    std::optional<Ledger> ledger_;
    std::optional<BearerAuthenticator> bearer_;
};

}  // namespace

}  // namespace svc::agents

SVC_MODULE(svc::agents::Agents, "agents", "orgs", "auth");
