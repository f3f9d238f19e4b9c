#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// Tar archives as POSIX has them (ustar): files one behind the other, for every tar program to
/// take apart. Whatever the disk refuses is a std::system_error.
namespace svc::core {

/// Writes a new archive that its owner alone can read.
class TarWriter {
public:
    explicit TarWriter(const std::filesystem::path& file);
    ~TarWriter();
    TarWriter(const TarWriter&) = delete;
    TarWriter& operator=(const TarWriter&) = delete;

    /// A file of a size that shows when it ends. Names have 255 characters at most.
    void begin(std::string_view name);
    void add(std::string_view bytes);
    void end();
    /// Ends the archive; it is on the disk then.
    void finish();

private:
    void write(std::string_view bytes);

    const std::filesystem::path path_;
    int file_ = -1;
    std::uint64_t at_ = 0, header_at_ = 0, size_ = 0;
    std::string name_;
};

/// Reads an archive of plain files.
class TarReader {
public:
    explicit TarReader(const std::filesystem::path& file);
    ~TarReader();
    TarReader(const TarReader&) = delete;
    TarReader& operator=(const TarReader&) = delete;

    struct Entry {
        std::string name;
        std::uint64_t offset = 0, size = 0;
    };
    /// The next file; nothing at the end. Throws std::runtime_error when this is no archive, or
    /// one that breaks off.
    std::optional<Entry> next();
    /// Hands on a file's bytes.
    void read(const Entry& entry, const std::function<void(std::string_view)>& to) const;
    /// As many bytes as there are from `offset` on, up to `most`.
    std::string read(std::uint64_t offset, std::size_t most) const;

private:
    const std::filesystem::path path_;
    int file_ = -1;
    std::uint64_t at_ = 0;
};

}  // namespace svc::core
