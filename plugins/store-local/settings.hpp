#pragma once

#include "svc/types.hpp"

namespace svc::store_local {

struct Settings {
    std::string folder;
    std::string public_url;
    std::int64_t uploads_at_once = 64;
};

}  // namespace svc::store_local
