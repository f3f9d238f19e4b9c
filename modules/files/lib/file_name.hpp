#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Names and types as uploaders give them.
namespace svc::files {

/// What is wrong with a name to save a file under, if anything: separators of paths, control
/// characters, or what makes a name read other than it is.
std::optional<std::string_view> fault_of_name(std::string_view name);

/// `type/subtype` in lower case, without parameters; nothing when it is none.
std::optional<std::string> media_type_of(std::string_view declared);

/// What browsers show as a picture and cannot be made to run: png, jpeg, gif and webp.
bool is_picture(std::string_view media_type);

}  // namespace svc::files
