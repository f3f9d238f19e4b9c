#pragma once

#include "modules/boards/api/bodies.hpp"

/// A work brief: what is known about a card, in one text of limited length.
namespace svc::boards {

struct Brief {
    std::string markdown;
    std::int64_t tokens = 0;  ///< at a guess
    bool truncated = false;   ///< some of it was left out
};

/// How many tokens a text is at a guess that is rather too high: one for four characters of ASCII,
/// one for every other.
std::int64_t count_tokens(std::string_view text);

/// Puts `head` and the texts together, part by part under a heading each. When that is too much,
/// every part gets an equal share, and those that need less leave the rest to the others. The same
/// texts always give the same brief.
Brief compose(std::string_view head, std::vector<BriefText> texts, std::int64_t most_tokens);

/// One line without what would end it or begin another.
std::string one_line(std::string_view text);

}  // namespace svc::boards
