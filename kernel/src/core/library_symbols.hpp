#pragma once

#include <filesystem>
#include <string_view>

namespace svc::core {

/// Whether the shared library in that file exports the symbol. The file is read, not loaded, so
/// that no code of it runs. Throws std::system_error when it is no library, or a part of one.
bool exports_symbol(const std::filesystem::path& library, std::string_view symbol);

}  // namespace svc::core
