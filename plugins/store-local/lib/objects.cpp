#include "plugins/store-local/lib/objects.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"
#include "svc/types.hpp"

#include <openssl/evp.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

namespace svc::store_local {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
    throw std::system_error(errno, std::generic_category(), what + " " + path.string());
}

constexpr bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/// What was made, renamed or removed in a folder is so after a power cut, too.
void keep_names(const fs::path& folder) {
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) fail("cannot open", folder);
    const int failed = ::fsync(file);
    ::close(file);
    if (failed) fail("cannot keep", folder);
}

}  // namespace

bool is_key(std::string_view key) {
    constexpr std::size_t longest = 200;
    if (key.empty() || key.size() > longest) return false;
    if (key.front() == '/' || key.back() == '/' || key.find("//") != key.npos) return false;
    return std::ranges::all_of(key, [](char each) { return each == '/' || is_plain(each); });
}

// ------------------------------------------------------------------------------- unfinished

Unfinished::Unfinished(const fs::path& folder) : path_(folder / new_uuid().str()) {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file_ < 0) fail("cannot write", path_);
}

Unfinished::~Unfinished() {
    ::close(file_);
    if (!path_.empty()) ::unlink(path_.c_str());
}

void Unfinished::write(std::string_view bytes) {
    size_ += bytes.size();
    while (!bytes.empty()) {
        const auto written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail("cannot write", path_);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

// ----------------------------------------------------------------------------------- objects

Objects::Objects(fs::path folder)
    : folder_(std::move(folder)), unfinished_(folder_ / ".unfinished") {}

void Objects::make_folder() const {
    fs::create_directories(unfinished_);
    fs::permissions(folder_, fs::perms::owner_all);
}

Finding Objects::check() const {
    const bool made = fs::is_directory(folder_);
    // Where it is not made yet, what it will be made in counts.
    fs::path asked = fs::absolute(folder_);
    while (!fs::exists(asked) && asked.has_relative_path()) asked = asked.parent_path();
    if (::access(asked.c_str(), W_OK | X_OK) != 0)
        return {
            Finding::Level::fault,
            "files cannot be kept in " + folder_.string() + ": cannot write " + asked.string()};
    return {
        Finding::Level::ok,
        "files are kept in " + folder_.string() + (made ? "" : ", which `serve` makes")};
}

fs::path Objects::path_of(std::string_view key) const {
    if (!is_key(key)) throw std::logic_error("no key: " + std::string(key));
    return folder_ / key;
}

std::unique_ptr<Unfinished> Objects::begin() const {
    return std::make_unique<Unfinished>(unfinished_);
}

void Objects::publish(Unfinished& file, std::string_view key) const {
    const auto path = path_of(key);
    const auto home = path.parent_path();
    if (::fdatasync(file.file_) != 0) fail("cannot keep", file.path_);
    fs::create_directories(home);
    fs::rename(file.path_, path);
    file.path_.clear();
    for (auto each = home; each != folder_; each = each.parent_path()) keep_names(each);
    keep_names(folder_);
}

std::optional<Objects::Opened> Objects::open(std::string_view key) const {
    const auto path = path_of(key);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) {
        if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return std::nullopt;
        fail("cannot read", path);
    }
    struct stat about {};
    if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        ::close(file);
        return std::nullopt;
    }
    return Opened{file, static_cast<std::uint64_t>(about.st_size)};
}

bool Objects::rename(std::string_view from, std::string_view to) const {
    const auto path = path_of(to);
    std::error_code error;
    fs::create_directories(path.parent_path());
    fs::rename(path_of(from), path, error);
    if (error == std::errc::no_such_file_or_directory) return false;
    if (error) throw std::system_error(error, "cannot move " + path.string());
    keep_names(path.parent_path());
    return true;
}

bool Objects::read(std::string_view key, const std::function<void(std::string_view)>& to) const {
    const auto opened = open(key);
    if (!opened) return false;
    struct Closing {
        int file;
        ~Closing() { ::close(file); }
    } closing{opened->descriptor};
    std::string piece(64 << 10, '\0');
    for (;;) {
        const auto came = ::read(opened->descriptor, piece.data(), piece.size());
        if (came < 0 && errno == EINTR) continue;
        if (came < 0) fail("cannot read", path_of(key));
        if (came == 0) return true;
        to(std::string_view(piece).substr(0, static_cast<std::size_t>(came)));
    }
}

std::optional<Found> Objects::read(std::string_view key, std::size_t beginning) const {
    Found found;
    Sha256Sum sum;
    const bool there = read(key, [&](std::string_view bytes) {
        sum.add(bytes);
        found.size += bytes.size();
        if (found.beginning.size() < beginning)
            found.beginning += bytes.substr(0, beginning - found.beginning.size());
    });
    if (!there) return std::nullopt;
    found.sha256 = hex(sum.finish());
    return found;
}

void Objects::clear(std::string_view prefix, const std::optional<std::string>& keep) const {
    if (!prefix.ends_with('/')) throw std::logic_error("no prefix: " + std::string(prefix));
    const auto home = path_of(prefix.substr(0, prefix.size() - 1));
    std::error_code error;
    if (!keep) {
        fs::remove_all(home, error);
        if (error) throw std::system_error(error, "cannot remove " + home.string());
        return;
    }
    const auto kept = path_of(*keep);
    for (fs::directory_iterator each(home, error), end; !error && each != end;
         each.increment(error))
        if (each->path() != kept) fs::remove_all(each->path());
}

void Objects::remove_unfinished(std::chrono::minutes older_than) const {
    const auto before = fs::file_time_type::clock::now() - older_than;
    std::error_code error;
    for (fs::directory_iterator each(unfinished_, error), end; !error && each != end;
         each.increment(error)) {
        std::error_code gone;
        if (each->last_write_time(gone) < before && !gone) fs::remove(each->path(), gone);
    }
}

}  // namespace svc::store_local
