#pragma once

#include "modules/boards/api/shapes.hpp"
#include "svc/kernel.hpp"

/// Where people see things.
namespace svc::boards {

inline std::string url_of(const Kernel& kernel, const Board& board) {
    return kernel.base_url() + "/boards/" + board.id.str();
}
inline std::string url_of(const Kernel& kernel, const Card& card) {
    return kernel.base_url() + "/cards/" + card.id.str();
}

}  // namespace svc::boards
