#include "core/memory.hpp"
#include "tests/support/memory.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace svc::core {

TEST(Memory, ThatWasFreedBetweenWhatIsStillUsedIsGivenBack) {
    if (!test::memory_is_given_back) GTEST_SKIP() << "the allocator is the sanitizer's";
    constexpr std::size_t blocks = 100'000, size = 1000, every = 100;
    Memory memory;
    memory.give_back();
    std::vector<std::string> all;
    all.reserve(blocks);
    for (std::size_t each = 0; each < blocks; ++each) all.emplace_back(size, 'x');
    const auto full = test::resident_bytes();
    for (std::size_t each = 0; each < blocks; ++each)
        if (each % every != 0) std::string().swap(all[each]);
    ASSERT_GT(test::resident_bytes() + (20u << 20), full) << "malloc keeps it by itself";
    memory.give_back();
    EXPECT_LT(test::resident_bytes() + (60u << 20), full);
    EXPECT_EQ(all[every], std::string(size, 'x'));
}

}  // namespace svc::core
