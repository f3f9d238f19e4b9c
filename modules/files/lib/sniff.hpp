#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace svc::files {

/// What a file is by its first bytes: a media type such as "image/png" or "text/html", "text/plain"
/// for other text, "application/zip" for all that is packed that way; empty when it is not known.
std::string_view sniff(std::string_view beginning);

/// Why bytes that begin so are not what they were declared to be, if they are not.
std::optional<std::string> mismatch(std::string_view declared, std::string_view beginning);

}  // namespace svc::files
