#pragma once

#include "svc/types.hpp"

#include <string>
#include <vector>

/// Places that people choose by dragging.
namespace svc {

/// Where something stands among its siblings: a text that compares bytewise, with room for
/// another between any two. Eight digits of base 62 are its head, a number far from both ends;
/// where heads leave no room, further digits follow, never closed by a zero.
///
/// Siblings are ordered by (key, id): two people who drop at the same place at the same moment
/// may be given the same key, and the order is still total. `random` is any random number; it
/// makes that rare.
class OrderKey {
public:
    OrderKey() = default;  ///< no key: below or above all, by where it is given
    explicit OrderKey(std::string text) : text_(std::move(text)) {}

    /// A key between the two, neither of which need exist. Throws std::logic_error unless
    /// `below` < `above`.
    static OrderKey between(const OrderKey& below, const OrderKey& above, std::uint64_t random);
    static OrderKey last(const OrderKey& below, std::uint64_t random) {
        return between(below, {}, random);
    }

    /// A key for who comes last now, without a look at the others: it follows this machine's clock,
    /// so that it is above theirs as a rule, and rises from one to the next of a process. Always
    /// above `below`.
    static OrderKey last_by_time(std::uint64_t random, const OrderKey& below = {});
    /// Keys by time up to this one belong to those who came at the same moment.
    OrderKey end_of_moment() const;

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
    static constexpr std::uint64_t each_ms = 64;    // of time: room for some fifty years
    static constexpr std::uint64_t moment = 50 * each_ms;

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
        const std::string& below, const std::string& above, Ceiling ceiling, std::uint64_t random
    );

    std::string text_;
};

/// Shown as its head, which sorts like the key.
template <>
struct Json<OrderKey> {
    static void schema(SchemaWriter& writer, const Rules& rules, json::object& out) {
        Json<std::int64_t>::schema(writer, rules, out);
    }
    static void read(Reader&, const Rules&, const json::value&, OrderKey&) {
        throw std::logic_error("an order key is for answers only");
    }
    static void write(const OrderKey& in, std::string& out) {
        Json<std::int64_t>::write(in.head(), out);
    }
    static void from_db(Cell cell, OrderKey& out) { out = OrderKey(std::string(cell.text())); }
    static bool empty(const OrderKey& in) { return !in.exists(); }
};

}  // namespace svc
