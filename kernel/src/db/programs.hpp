#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

/// Running PostgreSQL's own programs.
namespace svc::db {

/// The folder of the newest PostgreSQL here, 15 or later, that holds `postgres` and `initdb`.
/// Throws std::runtime_error naming the package when there is none.
std::filesystem::path postgres_programs();
/// The same for a data folder that may hold a cluster already: only the major version that made
/// it can run it.
std::filesystem::path postgres_programs_for(const std::filesystem::path& data);

/// An account of this machine.
struct Account {
    std::string name;
    uid_t uid = 0;
    gid_t gid = 0;
};

/// Whom a cluster of ours runs as: ourselves, or when we are root (which PostgreSQL refuses)
/// `postgres`, else `nobody`.
Account cluster_account();

/// Makes the folder and its parents; the folder itself belongs to `account` alone.
void make_private_folder(const std::filesystem::path& folder, const Account& account);

/// True when `account` can reach the folder: every parent may be passed through.
bool can_reach(const Account& account, const std::filesystem::path& folder);

/// A lock between processes, held as long as the object lives; the file stays.
class FileLock {
public:
    enum class Share { exclusive, shared };
    /// Waits for it. The file is made when it is missing.
    explicit FileLock(const std::filesystem::path& file, Share share = Share::exclusive);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    /// Makes a shared lock exclusive; false when others share it.
    bool try_exclusive() noexcept;

private:
    int file_;
};

struct Finished {
    int status;          ///< the exit code; 128 + n after signal n
    std::string output;  ///< both streams
};
/// Runs a program as `account` in a bare environment and waits for its end.
Finished run_program(const Account& account, const std::vector<std::string>& words);

/// Starts a program as `account`, in a session of its own so that a Ctrl-C meant for us does not
/// reach it; both its streams are appended to `log`. Its process id.
pid_t start_program(
    const Account& account, const std::vector<std::string>& words, const std::filesystem::path& log
);

}  // namespace svc::db
