#include "core/library_symbols.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <system_error>

namespace svc::core {

namespace {

using Header = ElfW(Ehdr);
using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);

/// Of which only the pages are read that are looked at: debug information is most of a library.
class MappedFile {
public:
    explicit MappedFile(const std::filesystem::path& path) {
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) return;
        struct stat about {};
        if (::fstat(fd, &about) == 0 && about.st_size > 0) {
            const auto size = static_cast<std::size_t>(about.st_size);
            void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
            if (at != MAP_FAILED) bytes_ = {static_cast<const char*>(at), size};
        }
        ::close(fd);
    }
    ~MappedFile() {
        if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    /// So many of them at that place; none when they are not all in the file.
    template <class T>
    std::span<const T> at(std::uint64_t offset, std::uint64_t count) const {
        if (offset > bytes_.size() || offset % alignof(T) != 0) return {};
        if (count > (bytes_.size() - offset) / sizeof(T)) return {};
        return {reinterpret_cast<const T*>(bytes_.data() + offset), count};
    }

private:
    std::span<const char> bytes_;
};

/// Of a library for this machine; none in another file.
std::span<const Section> sections_of(const MappedFile& file) {
    constexpr auto word = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    const auto head = file.at<Header>(0, 1);
    if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0) return {};
    if (head[0].e_ident[EI_CLASS] != word) return {};
    return file.at<Section>(head[0].e_shoff, head[0].e_shnum);
}

}  // namespace

bool exports_symbol(const std::filesystem::path& library, std::string_view symbol) {
    const MappedFile file(library);
    const auto sections = sections_of(file);
    if (sections.empty())
        throw std::system_error(
            std::make_error_code(std::errc::executable_format_error), library.string()
        );
    for (const auto& each : sections) {
        if (each.sh_type != SHT_DYNSYM || each.sh_link >= sections.size()) continue;
        const auto& strings = sections[each.sh_link];
        const auto names = file.at<char>(strings.sh_offset, strings.sh_size);
        if (names.empty() || names.back() != '\0') continue;
        const auto symbols = file.at<Symbol>(each.sh_offset, each.sh_size / sizeof(Symbol));
        return std::ranges::any_of(symbols, [&](const Symbol& one) {
            return one.st_shndx != SHN_UNDEF && one.st_name < names.size() &&
                   symbol == names.data() + one.st_name;
        });
    }
    return false;
}

}  // namespace svc::core
