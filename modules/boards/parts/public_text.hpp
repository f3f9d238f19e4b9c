#pragma once

#include <string>
#include <string_view>

namespace svc::boards {

/// The JSON `text` with what strangers must not read taken out of its strings: e-mail addresses,
/// and secrets of this service, told by how they begin. Each becomes "[hidden]".
std::string public_text(std::string_view text);

}  // namespace svc::boards
