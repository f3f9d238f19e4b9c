#include "modules/boards/api/urls.hpp"
#include "modules/boards/api/board.hpp"
#include "modules/boards/api/shapes.hpp"

namespace svc::boards {

std::string url_of(const Kernel& kernel, const Board& board) {
    return kernel.base_url() + "/boards/" + board.id.str();
}

std::string url_of(const Kernel& kernel, const Card& card) {
    return kernel.base_url() + "/cards/" + card.id.str();
}

}  // namespace svc::boards
