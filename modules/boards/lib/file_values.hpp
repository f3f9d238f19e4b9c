#pragma once

#include "svc/types.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Files in the values of a card's properties, as its row has them.
namespace svc::boards {

/// Whether there may be any: no more than a look at the text.
bool has_files(std::string_view properties);

/// The same values, each file with its address.
std::string with_links(
    const std::string& properties, const std::function<std::string(const Uuid& file)>& link
);

/// All of them, in no order.
std::vector<Uuid> files_in(const std::string& properties);

/// The same values without some of the files; a property that had no others has no value.
std::string without_files(
    const std::string& properties, const std::function<bool(const Uuid& file)>& goes
);

}  // namespace svc::boards
