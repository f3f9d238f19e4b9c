#include "core/memory.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

namespace svc::core {
namespace {

std::size_t resident_bytes() {
    std::size_t pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST(Memory, ThatWasFreedBetweenWhatIsStillUsedIsGivenBack) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the allocator is the sanitizer's";
#endif
    constexpr std::size_t blocks = 100'000, size = 1000, every = 100;
    Memory memory;
    memory.give_back();
    std::vector<std::string> all;
    all.reserve(blocks);
    for (std::size_t each = 0; each < blocks; ++each) all.emplace_back(size, 'x');
    const auto full = resident_bytes();
    for (std::size_t each = 0; each < blocks; ++each)
        if (each % every != 0) std::string().swap(all[each]);
    ASSERT_GT(resident_bytes() + (20u << 20), full) << "malloc keeps it by itself";
    memory.give_back();
    EXPECT_LT(resident_bytes() + (60u << 20), full);
    EXPECT_EQ(all[every], std::string(size, 'x'));
}

}  // namespace svc::core
