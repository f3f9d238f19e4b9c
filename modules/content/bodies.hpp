#pragma once

#include "modules/boards/api/bodies.hpp"
#include "modules/content/tree.hpp"

/// What boards asks of whoever keeps what is written on cards.
namespace svc::content {

class Bodies final : public boards::CardBodies, public boards::BriefSource {
public:
    std::unique_ptr<Body> read(Call& call, const Wanted& wanted) override;
    std::function<void()> copy(
        Kernel& kernel, Tx& tx, const PrincipalRef& by, const Uuid& from, const boards::Card& to
    ) override;
    std::function<std::string()> markdown(Tx& tx, const Uuid& org, const Uuid& card) override;
    Texts about(Tx& tx, const Uuid& org, const Uuid& card) override;
};

}  // namespace svc::content
