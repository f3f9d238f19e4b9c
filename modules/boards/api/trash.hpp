#pragma once

#include "svc/types.hpp"

#include <chrono>
#include <string_view>

/// The trash.
namespace svc::boards {

/// Offered by boards to modules in which things lie in the trash as well.
class Trash {
public:
    static constexpr std::string_view name = "boards.Trash";
    /// How long they lie there before they go for good.
    virtual std::chrono::seconds kept() const = 0;

protected:
    ~Trash() = default;
};

}  // namespace svc::boards
