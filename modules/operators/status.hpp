#pragma once

#include "svc/operation.hpp"

namespace svc::operators {

struct Settings {
    static constexpr std::string_view name = "operators.Settings";  ///< offered to the operation
    std::vector<Email> accounts;
};

/// What the server knows of itself, for the accounts that the settings name.
extern const Operation get_server_status;

}  // namespace svc::operators
