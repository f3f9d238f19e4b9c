#pragma once

#include "svc/types.hpp"

#include <functional>
#include <string>
#include <string_view>

/// Files in the values of a card's properties, as its row has them.
namespace svc::boards {

/// Whether there may be any: no more than a look at the text.
bool has_files(std::string_view properties);

/// The same values, each file with its address.
std::string with_links(
    const std::string& properties, const std::function<std::string(const Uuid& file)>& link
);

}  // namespace svc::boards
