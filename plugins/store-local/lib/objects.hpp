#pragma once

#include "svc/operator/upkeep.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace svc::store_local {

/// True for what may be a key: folders and a name of lower-case letters, digits and dashes.
bool is_key(std::string_view key);

/// A file that is being written and that nobody sees before it is whole.
class Unfinished {
public:
    explicit Unfinished(const std::filesystem::path& folder);
    /// Whatever was not published is removed.
    ~Unfinished();
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;

    void write(std::string_view bytes);
    std::uint64_t size() const { return size_; }

private:
    friend class Objects;
    std::filesystem::path path_;
    int file_ = -1;
    std::uint64_t size_ = 0;
};

/// What lies under a key, as it is read at a commit.
struct Found {
    std::uint64_t size = 0;
    std::string sha256;     ///< hex
    std::string beginning;  ///< the first bytes, as many as were asked for
};

/// Objects as files below one folder. Everything is either whole or not there, also after a crash.
/// Whatever the disk refuses is a std::system_error. Any thread.
class Objects {
public:
    /// Below this folder, which is made when it is needed.
    explicit Objects(std::filesystem::path folder);
    /// Makes the folder, which nobody else may look into.
    void make_folder() const;
    /// Whether objects can be kept in it; changes nothing.
    Finding check() const;

    std::unique_ptr<Unfinished> begin() const;
    /// Puts it under the key, in place of what was there; it is on the disk then.
    void publish(Unfinished& file, std::string_view key) const;

    /// A descriptor to read from, which is the caller's to close, and the size; nothing when there
    /// is no such object.
    struct Opened {
        int descriptor;
        std::uint64_t size;
    };
    std::optional<Opened> open(std::string_view key) const;

    /// False when there was nothing under `from`.
    bool rename(std::string_view from, std::string_view to) const;
    std::optional<Found> read(std::string_view key, std::size_t beginning) const;
    /// Hands the bytes on; false when there is no such object.
    bool read(std::string_view key, const std::function<void(std::string_view)>& to) const;
    /// Removes all objects that begin with `prefix`, which ends in a slash, but `keep`.
    void clear(std::string_view prefix, const std::optional<std::string>& keep) const;
    /// Removes what a crash has left of uploads: those not touched for so long.
    void remove_unfinished(std::chrono::minutes older_than) const;

private:
    std::filesystem::path path_of(std::string_view key) const;
    std::filesystem::path folder_, unfinished_;
};

}  // namespace svc::store_local
