#include "svc/module.hpp"

#include "modules/agents/bearer.hpp"
#include "modules/agents/tokens.hpp"

namespace svc::agents {

namespace {

class Agents final : public Module {
public:
    void open(Kernel& kernel) override {
        bearer_.emplace(kernel);
        kernel.add(*bearer_);
        kernel.tag("agents", "Agents, and the tokens that they and integrations sign in with.");
        add_token_operations(kernel);
        kernel.every("agents.sightings", std::chrono::seconds(30), [this] {
            bearer_->write_sightings();
        });
    }

    void stop() noexcept override {
        try {
            bearer_->write_sightings();
        } catch (const std::exception&) {
            // They were used all the same; only the time of it is lost.
        }
    }

private:
    std::optional<BearerAuthenticator> bearer_;
};

}  // namespace

}  // namespace svc::agents

SVC_MODULE(svc::agents::Agents, "agents", "orgs", "auth");
