#include "tests/support/places.hpp"

#include <fstream>

namespace svc::test {

namespace fs = std::filesystem;

namespace {

std::uintmax_t available_memory() {
    std::ifstream file("/proc/meminfo");
    std::string word;
    for (std::uintmax_t kib = 0; file >> word;)
        if (word == "MemAvailable:" && file >> kib) return kib << 10;
    return 0;
}

}  // namespace

const std::filesystem::path& source_folder() {
    static const std::filesystem::path folder(SVC_SOURCE);
    return folder;
}

const std::filesystem::path& build_folder() {
    static const std::filesystem::path folder(SVC_BUILD);
    return folder;
}

const fs::path& memory_folder() {
    static const fs::path folder = [] {
        constexpr std::uintmax_t plenty = std::uintmax_t{6} << 30;
        const fs::path memory = "/dev/shm";
        std::error_code missing;
        const auto space = fs::space(memory, missing);
        const bool fits = !missing && space.available >= plenty && available_memory() >= plenty;
        return fits ? memory : fs::temp_directory_path();
    }();
    return folder;
}

}  // namespace svc::test
