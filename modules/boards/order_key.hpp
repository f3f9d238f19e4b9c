#pragma once

#include "svc/types.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace svc::boards {

/// Where something stands among its siblings: a text that compares bytewise, with room for
/// another between any two. Eight digits of base 62 are its head, a number far from both ends;
/// where heads leave no room, further digits follow, never closed by a zero.
///
/// Siblings are ordered by (key, id): two people who drop at the same place at the same moment
/// may be given the same key, and the order is still total. `spread` is any random number; it
/// makes that rare.
class OrderKey {
public:
    OrderKey() = default;  ///< no key: below or above all, by where it is given
    explicit OrderKey(std::string text) : text_(std::move(text)) {}

    /// A key between the two, neither of which need exist. Throws std::logic_error unless
    /// `below` < `above`.
    static OrderKey between(const OrderKey& below, const OrderKey& above, std::uint64_t spread);
    static OrderKey last(const OrderKey& below, std::uint64_t spread) {
        return between(below, {}, spread);
    }

    /// `count` keys in a row between the two, neither of which need exist: heads alone, as far
    /// apart as there is room. None when there is too little for another few between each two.
    static std::vector<OrderKey> spread(
        const OrderKey& below, const OrderKey& above, std::size_t count
    );

    bool exists() const { return !text_.empty(); }
    /// So many have been put into one spot that those around it want more room.
    bool is_long() const { return text_.size() > 64; }
    const std::string& str() const { return text_; }
    /// The head: rises along the siblings, but those crowded into one spot may share it.
    std::int64_t head() const { return static_cast<std::int64_t>(head_of(text_)); }
    auto operator<=>(const OrderKey&) const = default;

private:
    static constexpr std::string_view digits =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    static constexpr std::uint64_t base = 62;
    static constexpr std::size_t head_size = 8;
    static constexpr std::uint64_t heads = 218'340'105'584'896;  // base to the power of head_size
    static constexpr std::uint64_t step = 1 << 16;  // between neighbours that are appended
    static constexpr std::uint64_t closest = 16;    // between neighbours that are spread

    static std::uint64_t digit(char c) { return digits.find(c); }
    static std::uint64_t head_of(std::string_view key) {
        std::uint64_t head = 0;
        for (std::size_t i = 0; i < head_size; ++i)
            head = head * base + (i < key.size() ? digit(key[i]) : 0);
        return head;
    }
    static std::string tail_of(const std::string& key) {
        return key.size() > head_size ? key.substr(head_size) : std::string();
    }
    static OrderKey make(std::uint64_t head, const std::string& tail = {}) {
        std::string text(head_size, '0');
        for (std::size_t i = head_size; i-- > 0; head /= base) text[i] = digits[head % base];
        return OrderKey(text + tail);
    }
    enum class Ceiling { none, given };
    static std::string tail_between(
        const std::string& below, const std::string& above, Ceiling ceiling, std::uint64_t spread
    );

    std::string text_;
};

inline OrderKey OrderKey::between(
    const OrderKey& below, const OrderKey& above, std::uint64_t spread
) {
    if (below.exists() && above.exists() && !(below < above))
        throw std::logic_error("no key lies between " + below.str() + " and " + above.str());
    if (!below.exists() && !above.exists()) return make(heads / 2 + spread % step);

    const std::uint64_t stride = step + spread % step;
    const std::uint64_t low = head_of(below.text_);
    const std::uint64_t high = head_of(above.text_);
    if (!above.exists()) {
        if (heads - low > stride) return make(low + stride);
        return make(low, tail_between(tail_of(below.text_), {}, Ceiling::none, spread));
    }
    if (!below.exists()) {
        if (high > stride) return make(high - stride);
        if (high > 1) return make(high / 2);
        if (high == 1) return make(0, tail_between({}, {}, Ceiling::none, spread));
        return make(0, tail_between({}, tail_of(above.text_), Ceiling::given, spread));
    }
    if (high - low > 1) {
        // The middle third, so that what follows on either side finds room as well.
        const std::uint64_t room = high - low - 1;
        const std::uint64_t third = room / 3;
        return make(low + 1 + third + spread % (room - 2 * third));
    }
    const std::string tail = tail_of(below.text_);
    if (high > low) return make(low, tail_between(tail, {}, Ceiling::none, spread));
    return make(low, tail_between(tail, tail_of(above.text_), Ceiling::given, spread));
}

/// The shortest tail between the two, digit by digit; a missing digit is a zero below and, where
/// there is no ceiling, one past the last digit above.
inline std::string OrderKey::tail_between(
    const std::string& below, const std::string& above, Ceiling ceiling, std::uint64_t spread
) {
    std::string tail;
    bool bounded = ceiling == Ceiling::given;
    for (std::size_t i = 0;; ++i) {
        const std::uint64_t low = i < below.size() ? digit(below[i]) : 0;
        const std::uint64_t high = !bounded ? base : i < above.size() ? digit(above[i]) : 0;
        if (high > low + 1) {
            const std::uint64_t room = high - low - 1;
            const std::uint64_t third = room / 3;
            return tail + digits[low + 1 + third + spread % (room - 2 * third)];
        }
        tail += digits[low];
        if (high > low) bounded = false;
    }
}

inline std::vector<OrderKey> OrderKey::spread(
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

/// A number that two servers are unlikely to draw together.
inline std::uint64_t chance() {
    std::uint64_t number = 0;
    const Uuid id = new_uuid();
    for (std::size_t i = 8; i < 16; ++i) number = number << 8 | id.bytes()[i];
    return number;
}

}  // namespace svc::boards

namespace svc {

/// Shown as its head, which sorts like the key.
template <>
struct Json<boards::OrderKey> {
    static void schema(SchemaWriter& writer, const Rules& rules, json::object& out) {
        Json<std::int64_t>::schema(writer, rules, out);
    }
    static void read(Reader&, const Rules&, const json::value&, boards::OrderKey&) {
        throw std::logic_error("an order key is for answers only");
    }
    static void write(const boards::OrderKey& in, std::string& out) {
        Json<std::int64_t>::write(in.head(), out);
    }
    static void from_db(Cell cell, boards::OrderKey& out) {
        out = boards::OrderKey(std::string(cell.text()));
    }
    static bool empty(const boards::OrderKey& in) { return !in.exists(); }
};

}  // namespace svc
