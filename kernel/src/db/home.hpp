#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Where the server's own cluster is kept, and whose it is.
namespace svc::db {

/// Whose the file is; when a folder above it may not be entered, whose that folder is. Nothing when
/// there is no such file.
std::optional<uid_t> owner_of(const std::filesystem::path& file);

/// The account's name, or its number when it has none.
std::string name_of_user(uid_t user);

/// What is said of a file that another user's server works with: "FILE belongs to the user NAME;
/// run this as that user".
std::string belongs_to(std::string_view file, uid_t user);

/// A name of its own for every folder, the same from run to run.
std::string mark_of(const std::filesystem::path& folder);

/// The folder itself, absolute, or one in /var/lib when the user who runs the cluster cannot come
/// there, as below /root. A cluster that is in the folder is the only one. Throws
/// std::runtime_error, naming the user to be, when the folder is of another user's server.
std::filesystem::path home_of(const std::filesystem::path& folder);

}  // namespace svc::db
