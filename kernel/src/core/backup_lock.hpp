#pragma once

#include <cstdint>

/// What keeps a backup and the removal of bytes apart.
namespace svc::core {

/// An advisory lock: exclusively a backup's for as long as it copies, shared by transactions that
/// decide to remove bytes. When one of those has it, no backup begins before it has ended.
constexpr std::int64_t backup_lock = 0x776b'6264'0000'0003;  // "wkbd", and a number of this server

}  // namespace svc::core
