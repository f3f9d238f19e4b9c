#include "core/tar.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <system_error>

namespace svc::core {

namespace {

constexpr std::size_t block = 512;
constexpr std::size_t longest_name = 100, longest_prefix = 155;

[[noreturn]] void fail(const std::string& what, const std::filesystem::path& path) {
    throw std::system_error(errno, std::generic_category(), what + " " + path.string());
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
    throw std::runtime_error(path.string() + ": " + why);
}

/// Where the fields of a header begin, and how long they are.
struct Field {
    std::size_t at, size;
};
constexpr Field name_field{0, 100}, mode_field{100, 8}, user_field{108, 8}, group_field{116, 8},
    size_field{124, 12}, time_field{136, 12}, sum_field{148, 8}, magic_field{257, 8},
    prefix_field{345, 155};
constexpr std::size_t type_at = 156;

using Header = std::array<char, block>;

/// Octal, or what GNU and others write when that does not suffice: binary behind a byte of 0x80.
void put(Header& header, Field field, std::uint64_t number) {
    char* const begin = header.data() + field.at;
    const std::size_t digits = field.size - 1;
    if (number >> (3 * digits) == 0) {
        for (std::size_t i = digits; i-- > 0; number >>= 3)
            begin[i] = static_cast<char>('0' + (number & 7));
        return;
    }
    for (std::size_t i = field.size; i-- > 1; number >>= 8) begin[i] = static_cast<char>(number);
    begin[0] = static_cast<char>(0x80);
}

void put(Header& header, Field field, std::string_view text) {
    std::ranges::copy(text, header.begin() + static_cast<std::ptrdiff_t>(field.at));
}

std::uint64_t number_in(const Header& header, Field field) {
    const auto* begin = reinterpret_cast<const unsigned char*>(header.data()) + field.at;
    std::uint64_t number = 0;
    if (begin[0] == 0x80) {
        for (std::size_t i = 1; i < field.size; ++i) number = number << 8 | begin[i];
        return number;
    }
    for (std::size_t i = 0; i < field.size; ++i)
        if (begin[i] >= '0' && begin[i] <= '7') number = number << 3 | (begin[i] - '0');
    return number;
}

std::string text_in(const Header& header, Field field) {
    const char* begin = header.data() + field.at;
    return {begin, strnlen(begin, field.size)};
}

/// Of all bytes, those of the sum itself taken for blanks.
std::uint64_t sum_of(Header header) {
    std::fill_n(header.begin() + sum_field.at, sum_field.size, ' ');
    std::uint64_t sum = 0;
    for (const char each : header) sum += static_cast<unsigned char>(each);
    return sum;
}

Header header_for(std::string_view name, std::uint64_t size) {
    Header header{};
    std::string_view prefix;
    if (name.size() > longest_name) {
        const auto cut = name.find('/', name.size() - longest_name - 1);
        if (cut == name.npos || cut > longest_prefix)
            throw std::runtime_error("too long a name for an archive: " + std::string(name));
        prefix = name.substr(0, cut);
        name = name.substr(cut + 1);
    }
    put(header, name_field, name);
    put(header, mode_field, 0600);
    put(header, user_field, 0);
    put(header, group_field, 0);
    put(header, size_field, size);
    put(header, time_field, static_cast<std::uint64_t>(std::time(nullptr)));
    header[type_at] = '0';
    put(header, magic_field, std::string_view("ustar\00000", 8));
    put(header, prefix_field, prefix);
    put(header, {sum_field.at, sum_field.size - 1}, sum_of(header));
    return header;
}

}  // namespace

// ----------------------------------------------------------------------------------- writing

TarWriter::TarWriter(const std::filesystem::path& file)
    : path_(file),
      file_(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (file_ < 0) fail("cannot write", path_);
}

TarWriter::~TarWriter() { ::close(file_); }

void TarWriter::write(std::string_view bytes) {
    at_ += bytes.size();
    while (!bytes.empty()) {
        const auto written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail("cannot write", path_);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

void TarWriter::begin(std::string_view name) {
    name_ = name;
    size_ = 0;
    header_at_ = at_;
    write(std::string(block, '\0'));  // until the size is known
}

void TarWriter::add(std::string_view bytes) {
    size_ += bytes.size();
    write(bytes);
}

void TarWriter::end() {
    if (const auto over = size_ % block; over != 0) write(std::string(block - over, '\0'));
    const Header header = header_for(name_, size_);
    const auto written =
        ::pwrite(file_, header.data(), header.size(), static_cast<off_t>(header_at_));
    if (written != static_cast<ssize_t>(header.size())) fail("cannot write", path_);
}

void TarWriter::finish() {
    write(std::string(2 * block, '\0'));
    if (::fsync(file_) != 0) fail("cannot write", path_);
}

// ----------------------------------------------------------------------------------- reading

TarReader::TarReader(const std::filesystem::path& file)
    : path_(file), file_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) fail("cannot read", path_);
}

TarReader::~TarReader() { ::close(file_); }

std::string TarReader::read(std::uint64_t offset, std::size_t most) const {
    std::string out(most, '\0');
    std::size_t have = 0;
    while (have < most) {
        const auto came =
            ::pread(file_, out.data() + have, most - have, static_cast<off_t>(offset + have));
        if (came < 0 && errno == EINTR) continue;
        if (came < 0) fail("cannot read", path_);
        if (came == 0) break;
        have += static_cast<std::size_t>(came);
    }
    out.resize(have);
    return out;
}

std::optional<TarReader::Entry> TarReader::next() {
    const std::string bytes = read(at_, block);
    if (bytes.size() < block) refuse(path_, "breaks off");
    Header header;
    std::ranges::copy(bytes, header.begin());
    if (std::ranges::all_of(header, [](char each) { return each == 0; })) return std::nullopt;
    if (number_in(header, sum_field) != sum_of(header) || header[type_at] != '0')
        refuse(path_, "is not an archive of `workboard backup`, or is damaged");
    Entry entry{text_in(header, name_field), at_ + block, number_in(header, size_field)};
    if (const auto prefix = text_in(header, prefix_field); !prefix.empty())
        entry.name = prefix + '/' + entry.name;
    at_ = entry.offset + (entry.size + block - 1) / block * block;
    return entry;
}

void TarReader::read(const Entry& entry, const std::function<void(std::string_view)>& to) const {
    constexpr std::uint64_t piece = 256 << 10;
    for (std::uint64_t done = 0; done < entry.size;) {
        const auto bytes =
            read(entry.offset + done, static_cast<std::size_t>(std::min(piece, entry.size - done)));
        if (bytes.empty()) refuse(path_, "breaks off in " + entry.name);
        to(bytes);
        done += bytes.size();
    }
}

}  // namespace svc::core
