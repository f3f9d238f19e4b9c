#include "modules/content/large_cards.hpp"

#include "svc/failure.hpp"

#include <atomic>

namespace svc::content {

namespace {

constexpr int most_at_once = 2;  // 16 MiB each, four times in memory
std::atomic<int> reading = 0;

}  // namespace

LargeCardRead::LargeCardRead() {
    if (reading.fetch_add(1) < most_at_once) return;
    reading.fetch_sub(1);
    throw Failure(Fault::rate_limited, "Others are reading cards that hold as much as this one.")
        .with("rate_limit_reason", "large_cards")
        .with_header("Retry-After", "1");
}

LargeCardRead::~LargeCardRead() { reading.fetch_sub(1); }

}  // namespace svc::content
