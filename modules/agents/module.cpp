#include "svc/module.hpp"

#include "modules/agents/agents.hpp"
#include "modules/agents/bearer.hpp"
#include "modules/agents/commands.hpp"
#include "modules/agents/connections.hpp"
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

constexpr Sql has_integrations{"agents.has_integrations", R"(
    SELECT t.org_id FROM tokens t
    WHERE t.org_id = $1 AND t.owner_user_id = $2 AND t.kind = 'integration'
        AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
    LIMIT 1)"};

class Agents final : public Module, public orgs::TokenHolders {
public:
    void open(Kernel& kernel) override {
        budgets_.emplace(kernel);
        bearer_.emplace(kernel, *budgets_);
        kernel.add(*bearer_);
        kernel.offer<Budgets>(*budgets_);
        kernel.offer<orgs::TokenHolders>(*this);
        kernel.offer<Connections>(connections_.emplace(kernel));
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
            for (const Uuid& org : orgs) streams.revalidate(org);
        });
        kernel.every("agents.last_seen", std::chrono::seconds(30), [this] {
            bearer_->write_last_seen();
        });
        kernel.every("agents.usage", std::chrono::seconds(1), [this] { budgets_->settle(); });
    }

    std::function<bool()> has_tokens(Tx& tx, const Uuid& org, const Uuid& person) override {
        return [found = tx.queue(has_integrations, org, person)]() mutable {
            return found.rows() > 0;
        };
    }

    std::size_t end_all_of(Kernel& kernel, const Uuid& person, std::string_view command) override {
        return revoke_tokens_of(kernel, person, command);
    }

    void start() override { budgets_->start(); }

    void stop() noexcept override {
        budgets_->stop();
        try {
            bearer_->write_last_seen();
        } catch (const std::exception&) {
            // They were used all the same; only the time of it is lost.
        }
    }

private:
    std::optional<BudgetService> budgets_;
    std::optional<BearerAuthenticator> bearer_;
    std::optional<ConnectionsImpl> connections_;
};

}  // namespace

}  // namespace svc::agents

SVC_MODULE(svc::agents::Agents, "agents", "orgs", "auth");
