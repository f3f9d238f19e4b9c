#pragma once

#include "svc/events.hpp"

#include <utility>
#include <vector>

namespace svc::events {

/// The before-hooks, in the order they were added. Filled on the main thread while modules
/// open; asked by any thread afterwards.
class Hooks {
public:
    /// Throws std::logic_error when `filter` is not a kind, `noun.*` or `*`.
    void add(std::string filter, BeforeHook hook);

    /// Asks every hook whose filter the event passes, and stops at the first that refuses:
    /// Failure 409 with the hook's code and message.
    void ask(Call& call, const Event& event) const;

private:
    std::vector<std::pair<std::string, BeforeHook>> hooks_;
};

}  // namespace svc::events
