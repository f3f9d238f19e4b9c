#pragma once

#include "svc/types.hpp"

#include <boost/json/fwd.hpp>

#include <map>
#include <string>
#include <vector>

/// What events say in rich text.
namespace svc::notifications {

inline constexpr std::size_t longest_title = 200, longest_body = 2'000;  // characters

/// At most so many characters, cut between two characters, with `…` where something was cut off.
/// Lines and tabs become spaces.
std::string one_line(std::string_view text, std::size_t characters);
/// The same with its lines.
std::string beginning(std::string_view text, std::size_t characters);

/// What a list of rich text says, without marks.
std::string plain_text(const json::value& rich_text);

struct Mention {
    std::string text;           ///< that it stands in, as much of it as a notification shows
    std::optional<Uuid> block;  ///< that the text is of, where blocks are told apart
    auto operator<=>(const Mention&) const = default;
};
/// The people and agents that are mentioned anywhere within, each with the texts that do so, of a
/// block one, in their order.
std::map<Uuid, std::vector<Mention>> mentions_in(const json::value& within);

}  // namespace svc::notifications
