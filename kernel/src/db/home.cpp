#include "db/home.hpp"

#include "db/programs.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

namespace svc::db {

namespace fs = std::filesystem;

namespace {

/// Of a cluster, or of the folder that is there for it. Ours is also what only root may be: it is
/// given to the account when the cluster starts.
void require_ours(const fs::path& folder, const Account& account) {
    auto owner = owner_of(folder / "data");
    if (!owner) owner = owner_of(folder);
    if (!owner || *owner == account.uid || *owner == geteuid()) return;
    // A server of root gives its cluster to another account, but not the folder around it.
    const bool of_root = geteuid() != 0 && owner_of(folder.parent_path()) == uid_t{0};
    throw std::runtime_error(belongs_to(folder.string(), of_root ? 0 : *owner));
}

}  // namespace

std::optional<uid_t> owner_of(const fs::path& file) {
    struct stat state {};
    if (lstat(file.c_str(), &state) == 0) return state.st_uid;
    if (errno == EACCES && file.has_relative_path()) return owner_of(file.parent_path());
    return std::nullopt;
}

std::string name_of_user(uid_t user) {
    std::array<char, 4096> buffer;
    passwd entry{};
    passwd* found = nullptr;
    getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
    return found ? found->pw_name : std::to_string(user);
}

std::string belongs_to(std::string_view file, uid_t user) {
    return std::string(file) + " belongs to the user " + name_of_user(user) +
           "; run this as that user";
}

std::string mark_of(const fs::path& folder) {
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (const unsigned char each : folder.string()) hash = (hash ^ each) * 1099511628211u;
    char text[17];
    snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

fs::path home_of(const fs::path& given) {
    const fs::path folder = fs::absolute(given).lexically_normal();
    const Account account = cluster_account();
    require_ours(folder, account);
    if (owner_of(folder / "data") || account.uid == geteuid() || can_reach(account, folder))
        return folder;
    const fs::path elsewhere = "/var/lib/workboard-" + mark_of(folder);
    // The server of whoever owns the folder above would not find what is made there.
    const auto owner = owner_of(folder.parent_path());
    if (owner && *owner != geteuid() && *owner != account.uid && !fs::exists(elsewhere / "data"))
        throw std::runtime_error(belongs_to(folder.parent_path().string(), *owner));
    return elsewhere;
}

}  // namespace svc::db
