#include "core/memory.hpp"

#include <malloc.h>

#include <algorithm>

namespace svc::core {

namespace {

// By default malloc raises this up to 32 MiB as such blocks come and go, and keeps what is smaller.
constexpr int large_block = 512 << 10;
constexpr std::size_t worth_the_while = 16 << 20;

}  // namespace

void Memory::begin() { mallopt(M_MMAP_THRESHOLD, large_block); }

void Memory::give_back() {
    const std::size_t free = mallinfo2().fordblks;
    kept_ = std::min(kept_, free);
    if (free < kept_ + worth_the_while) return;
    malloc_trim(0);
    kept_ = mallinfo2().fordblks;
}

}  // namespace svc::core
