#include "svc/module.hpp"

#include "modules/agents/agents.hpp"
#include "modules/agents/bearer.hpp"
#include "modules/agents/tokens.hpp"
#include "svc/open_streams.hpp"

#include <set>

namespace svc::agents {

namespace {

/// What may end a token, or narrow it: its own end, its agent's, its owner's.
bool concerns_tokens(std::string_view kind) {
    for (const std::string_view filter : {"token.*", "agent.*", "member.*"})
        if (kind_matches(filter, kind)) return true;
    return false;
}

class Agents final : public Module {
public:
    void open(Kernel& kernel) override {
        ledger_.emplace(kernel);
        bearer_.emplace(kernel, *ledger_);
        kernel.add(*bearer_);
        kernel.offer<Budgets>(*ledger_);
        kernel.tag("agents", "Agents, and the tokens that they and integrations sign in with.");
        add_agent_operations(kernel);
        add_agent_changes(kernel);
        add_agent_activity(kernel);
        add_token_operations(kernel);
        add_token_changes(kernel);
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
