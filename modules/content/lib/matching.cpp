#include "modules/content/lib/matching.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>

namespace svc::content {

namespace {

using Same = std::function<bool(std::size_t, std::size_t)>;

/// Finds pairs within two stretches that are not matched yet, in the order of both.
class Stretch {
public:
    Stretch(std::size_t from_a, std::size_t to_a, std::size_t from_b, std::size_t to_b)
        : from_a_(from_a), to_a_(to_a), from_b_(from_b), to_b_(to_b) {}

    template <class Take>
    void pair_up(const Same& same, const Take& take) {
        while (from_a_ < to_a_ && from_b_ < to_b_ && same(from_a_, from_b_))
            take(from_a_++, from_b_++);
        while (from_a_ < to_a_ && from_b_ < to_b_ && same(to_a_ - 1, to_b_ - 1))
            take(--to_a_, --to_b_);
        const std::size_t a = to_a_ - from_a_, b = to_b_ - from_b_;
        if (a == 0 || b == 0) return;
        if (a * b <= most_cells) longest(same, take, a, b);
        else greedy(same, take);
    }

private:
    static constexpr std::size_t most_cells = 4'000'000;
    static constexpr std::size_t look_ahead = 200;

    /// The longest common subsequence.
    template <class Take>
    void longest(const Same& same, const Take& take, std::size_t a, std::size_t b) {
        std::vector<std::uint16_t> length((a + 1) * (b + 1));
        const auto at = [&](std::size_t i, std::size_t j) -> std::uint16_t& {
            return length[i * (b + 1) + j];
        };
        for (std::size_t i = a; i-- > 0;)
            for (std::size_t j = b; j-- > 0;)
                at(i, j) = same(from_a_ + i, from_b_ + j)
                               ? static_cast<std::uint16_t>(at(i + 1, j + 1) + 1)
                               : std::max(at(i + 1, j), at(i, j + 1));
        for (std::size_t i = 0, j = 0; i < a && j < b;) {
            if (same(from_a_ + i, from_b_ + j)) take(from_a_ + i++, from_b_ + j++);
            else if (at(i + 1, j) >= at(i, j + 1)) ++i;
            else ++j;
        }
    }

    /// For texts that have little in common: the next that is the same, if it is near.
    template <class Take>
    void greedy(const Same& same, const Take& take) {
        std::size_t i = from_a_;
        for (std::size_t j = from_b_; j < to_b_ && i < to_a_; ++j)
            for (std::size_t k = i; k < std::min(to_a_, i + look_ahead); ++k) {
                if (!same(k, j)) continue;
                take(k, j);
                i = k + 1;
                break;
            }
    }

    std::size_t from_a_, to_a_, from_b_, to_b_;
};

/// A likeness with numbers for its texts, which are compared millions of times.
struct Numbered {
    std::size_t whole = 0, own = 0;
    int type = 0;
};

class Numbers {
public:
    std::vector<Numbered> of(const std::vector<BlockSignature>& list) {
        std::vector<Numbered> out;
        for (const BlockSignature& each : list)
            out.push_back({of(each.whole), of(each.own), each.type});
        return out;
    }

private:
    std::size_t of(std::string_view text) {
        return known_.try_emplace(text, known_.size()).first->second;
    }
    std::unordered_map<std::string_view, std::size_t> known_;
};

class Matcher {
public:
    Matcher(std::vector<Numbered> before, std::vector<Numbered> after)
        : before_(std::move(before)),
          after_(std::move(after)),
          found_(after_.size()),
          used_(before_.size()) {}

    std::vector<std::optional<std::size_t>> run() {
        in_order([&](std::size_t a, std::size_t b) { return before_[a].whole == after_[b].whole; });
        in_order([&](std::size_t a, std::size_t b) { return before_[a].own == after_[b].own; });
        elsewhere();
        in_order([&](std::size_t a, std::size_t b) { return before_[a].type == after_[b].type; });
        return std::move(found_);
    }

private:
    /// In every gap between those that are matched in order.
    void in_order(const Same& same) {
        const auto take = [&](std::size_t a, std::size_t b) {
            found_[b] = a;
            used_[a] = true;
        };
        std::size_t a = 0, b = 0;
        while (b <= after_.size()) {
            std::size_t end_b = b;
            while (end_b < after_.size() && !anchors(end_b, a)) ++end_b;
            const std::size_t end_a = end_b < after_.size() ? *found_[end_b] : before_.size();
            gap(a, end_a, b, end_b, same, take);
            a = end_a + 1;
            b = end_b + 1;
        }
    }

    /// Whether it is matched with one that keeps the order.
    bool anchors(std::size_t b, std::size_t from) const {
        return found_[b] && *found_[b] >= from && !moved(b);
    }
    bool moved(std::size_t b) const { return std::ranges::binary_search(moved_, b); }

    template <class Take>
    void gap(
        std::size_t from_a,
        std::size_t to_a,
        std::size_t from_b,
        std::size_t to_b,
        const Same& same,
        const Take& take
    ) {
        std::vector<std::size_t> a, b;
        for (std::size_t i = from_a; i < to_a; ++i)
            if (!used_[i]) a.push_back(i);
        for (std::size_t i = from_b; i < to_b; ++i)
            if (!found_[i]) b.push_back(i);
        Stretch(0, a.size(), 0, b.size())
            .pair_up(
                [&](std::size_t i, std::size_t j) { return same(a[i], b[j]); },
                [&](std::size_t i, std::size_t j) { take(a[i], b[j]); }
            );
    }

    /// What is wholly the same and stands elsewhere.
    void elsewhere() {
        std::unordered_multimap<std::size_t, std::size_t> left;
        for (std::size_t i = before_.size(); i-- > 0;)
            if (!used_[i]) left.emplace(before_[i].whole, i);
        for (std::size_t i = 0; i < after_.size(); ++i) {
            if (found_[i]) continue;
            const auto same = left.find(after_[i].whole);
            if (same == left.end()) continue;
            found_[i] = same->second;
            used_[same->second] = true;
            moved_.push_back(i);
            left.erase(same);
        }
    }

    std::vector<Numbered> before_, after_;
    std::vector<std::optional<std::size_t>> found_;
    std::vector<bool> used_;
    std::vector<std::size_t> moved_;  ///< in order
};

}  // namespace

std::vector<bool> longest_rise(const std::vector<std::optional<std::size_t>>& pairs) {
    // For each length the rise that ends lowest, and in front of each pair the one before it.
    std::vector<std::size_t> ends, before(pairs.size(), pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (!pairs[i]) continue;
        const auto at = std::ranges::lower_bound(ends, *pairs[i], {}, [&](std::size_t end) {
            return *pairs[end];
        });
        if (at != ends.begin()) before[i] = *std::prev(at);
        if (at == ends.end()) ends.push_back(i);
        else *at = i;
    }
    std::vector<bool> rises(pairs.size());
    for (std::size_t i = ends.empty() ? pairs.size() : ends.back(); i < pairs.size(); i = before[i])
        rises[i] = true;
    return rises;
}

std::vector<std::optional<std::size_t>> matched(
    const std::vector<BlockSignature>& before, const std::vector<BlockSignature>& after
) {
    Numbers numbers;
    auto old = numbers.of(before);
    return Matcher(std::move(old), numbers.of(after)).run();
}

}  // namespace svc::content
