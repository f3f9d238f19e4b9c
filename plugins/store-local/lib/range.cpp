#include "plugins/store-local/lib/range.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace svc::store_local {

namespace {

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

}  // namespace

Ranged range_of(std::string_view header, std::uint64_t size) {
    constexpr std::string_view unit = "bytes=";
    if (!header.starts_with(unit)) return {};
    header.remove_prefix(unit.size());
    const auto dash = header.find('-');
    if (dash == std::string_view::npos) return {};
    const auto first = number_of(header.substr(0, dash));
    const auto last = number_of(header.substr(dash + 1));
    const bool open_end = dash + 1 == header.size();
    if (dash == 0) {  // the last so many bytes
        if (!last) return {};
        if (*last == 0 || size == 0) return {.kind = Ranged::Kind::beyond};
        const auto count = std::min(*last, size);
        return {.kind = Ranged::Kind::piece, .piece = {size - count, count}};
    }
    if (!first || (!last && !open_end) || (last && *last < *first)) return {};
    if (*first >= size) return {.kind = Ranged::Kind::beyond};
    const auto end = last ? std::min(*last, size - 1) : size - 1;
    return {.kind = Ranged::Kind::piece, .piece = {*first, end - *first + 1}};
}

}  // namespace svc::store_local
