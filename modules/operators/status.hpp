#pragma once

#include "svc/operation.hpp"

namespace svc::operators {

class Checker;
class History;

/// Offered to the operation: who may ask, and what is known besides what the kernel says.
struct Looks {
    static constexpr std::string_view name = "operators.Looks";
    std::vector<Email> accounts;
    Checker* checker = nullptr;
    const History* history = nullptr;
};

/// What the server knows of itself, for the accounts that the settings name.
extern const Operation get_server_status;

}  // namespace svc::operators
