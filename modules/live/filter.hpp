#pragma once

#include "svc/events.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <algorithm>
#include <compare>

/// Which events somebody asks for.
namespace svc::live {

struct Filter {
    std::optional<Uuid> board;         ///< none: all of the workspace
    std::vector<std::string> kinds{};  ///< as kind_matches() takes them; none: all
    auto operator<=>(const Filter&) const = default;

    bool passes(const StoredEvent& event) const {
        if (board && event.board_id != board) return false;
        return kinds.empty() || std::ranges::any_of(kinds, [&](const std::string& each) {
                   return kind_matches(each, event.kind);
               });
    }
};

/// What a subscription asks for, and under which name; few of them differ.
struct Wanted {
    Filter filter;
    std::string id{};  ///< as its client calls it; empty where there is no other
    auto operator<=>(const Wanted&) const = default;
};
/// One for all subscriptions that want the same. Its pointer takes half of a std::shared_ptr, and
/// there are tens of thousands of them.
struct SharedWanted : Wanted, boost::intrusive_ref_counter<SharedWanted> {
    explicit SharedWanted(Wanted wanted) : Wanted(std::move(wanted)) {}
};
using WantedPtr = boost::intrusive_ptr<const SharedWanted>;

/// What a kind in a filter may be.
inline constexpr std::string_view kind_pattern = R"(\*|[a-z_0-9]+\.(\*|[a-z_0-9]+))";
inline constexpr std::size_t longest_kind = 100;
inline constexpr std::size_t most_kinds = 50;

}  // namespace svc::live
