#pragma once

#include "modules/agents/api.hpp"

namespace svc::agents {

class ConnectionsImpl final : public Connections {
public:
    explicit ConnectionsImpl(Kernel& kernel) : kernel_(kernel) {}

    Connection connect(Call& call, const ConnectionRequest& request) override;
    bool renew(
        Tx& tx,
        const TokenPlace& place,
        std::string_view seed,
        std::chrono::seconds access,
        std::chrono::seconds lifetime
    ) override;
    std::string secret_of(std::string_view seed) const override;
    std::optional<TokenPlace> find(Kernel& kernel, std::string_view secret) const override;
    void end(Kernel& kernel, const TokenPlace& place, std::string_view why) override;
    void delete_agent(Kernel& kernel, const Uuid& org, const Uuid& agent, std::string_view why)
        override;

private:
    Kernel& kernel_;
};

}  // namespace svc::agents
