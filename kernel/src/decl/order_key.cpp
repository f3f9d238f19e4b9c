#include "svc/order_key.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace svc {

OrderKey OrderKey::between(const OrderKey& below, const OrderKey& above, std::uint64_t random) {
    if (below.exists() && above.exists() && !(below < above))
        throw std::logic_error("no key lies between " + below.str() + " and " + above.str());
    if (!below.exists() && !above.exists()) return make(heads / 2 + random % step);

    const std::uint64_t stride = step + random % step;
    const std::uint64_t low = head_of(below.text_);
    const std::uint64_t high = head_of(above.text_);
    if (!above.exists()) {
        if (heads - low > stride) return make(low + stride);
        return make(low, tail_between(tail_of(below.text_), {}, Ceiling::none, random));
    }
    if (!below.exists()) {
        if (high > stride) return make(high - stride);
        if (high > 1) return make(high / 2);
        if (high == 1) return make(0, tail_between({}, {}, Ceiling::none, random));
        return make(0, tail_between({}, tail_of(above.text_), Ceiling::given, random));
    }
    if (high - low > 1) {
        // The middle third, so that what follows on either side finds room as well.
        const std::uint64_t room = high - low - 1;
        const std::uint64_t third = room / 3;
        return make(low + 1 + third + random % (room - 2 * third));
    }
    const std::string tail = tail_of(below.text_);
    if (high > low) return make(low, tail_between(tail, {}, Ceiling::none, random));
    return make(low, tail_between(tail, tail_of(above.text_), Ceiling::given, random));
}

OrderKey OrderKey::last_by_time(std::uint64_t random, const OrderKey& below) {
    constexpr std::int64_t since = 1'767'225'600'000'000;  // 2026-01-01, in microseconds
    static std::atomic<std::uint64_t> latest{0};
    const std::int64_t micros = std::max<std::int64_t>(Timestamp::now().micros - since, 0);
    const auto time = static_cast<std::uint64_t>(micros) * each_ms / 1000 % (heads / 2 - step);
    const std::uint64_t apart = 1 + random % 16;  // from what another server gives just now
    std::uint64_t before = latest.load();
    std::uint64_t head = 0;
    do head = std::max(heads / 2 + time, before) + apart;
    while (!latest.compare_exchange_weak(before, head));
    const std::uint64_t low = head_of(below.text_);
    if (head > low) return make(head);
    if (heads - low > apart) return make(low + apart);
    return last(below, random);
}

OrderKey OrderKey::end_of_moment() const {
    return make(std::min(head_of(text_) + moment, heads - 1));
}

/// The shortest tail between the two, digit by digit; a missing digit is a zero below and, where
/// there is no ceiling, one past the last digit above.
std::string OrderKey::tail_between(
    const std::string& below, const std::string& above, Ceiling ceiling, std::uint64_t random
) {
    std::string tail;
    bool bounded = ceiling == Ceiling::given;
    for (std::size_t i = 0;; ++i) {
        const std::uint64_t low = i < below.size() ? digit(below[i]) : 0;
        const std::uint64_t high = !bounded ? base : i < above.size() ? digit(above[i]) : 0;
        if (high > low + 1) {
            const std::uint64_t room = high - low - 1;
            const std::uint64_t third = room / 3;
            return tail + digits[low + 1 + third + random % (room - 2 * third)];
        }
        tail += digits[low];
        if (high > low) bounded = false;
    }
}

std::vector<OrderKey> OrderKey::spread(
    const OrderKey& below, const OrderKey& above, std::size_t count
) {
    const std::uint64_t low = head_of(below.text_);
    const std::uint64_t high = above.exists() ? head_of(above.text_) : heads;
    std::uint64_t stride = high > low ? (high - low) / (count + 1) : 0;
    if (stride < closest) return {};
    std::uint64_t at = low;
    if (!below.exists() || !above.exists()) {
        // An open end keeps its room for what is appended there.
        stride = std::min(stride, step);
        if (above.exists()) at = high - stride * (count + 1);
        else if (!below.exists()) at = heads / 2 - stride * (count / 2);
    }
    std::vector<OrderKey> keys;
    for (std::size_t i = 0; i < count; ++i) keys.push_back(make(at += stride));
    return keys;
}

}  // namespace svc
