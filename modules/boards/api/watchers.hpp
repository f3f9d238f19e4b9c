#pragma once

#include "svc/tx.hpp"

#include <vector>

/// People who follow a card.
namespace svc::boards {

/// Offered by boards to modules in which people are called to a card.
class Watchers {
public:
    static constexpr std::string_view name = "boards.Watchers";
    /// Queues that these watch the card from now on: those of them who may see it.
    virtual void add(
        Tx& tx, const Uuid& org, const Uuid& card, const std::vector<Uuid>& principals
    ) = 0;

protected:
    ~Watchers() = default;
};

}  // namespace svc::boards
