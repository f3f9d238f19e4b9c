#include "svc/json.hpp"

#include "decl/input.hpp"

#include <boost/json/value.hpp>

namespace svc {

json::value parse_json(std::string_view text, std::string_view place) {
    return decl::parse_json(text, place);
}

}  // namespace svc
