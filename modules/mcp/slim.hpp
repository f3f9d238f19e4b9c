#pragma once

#include "svc/record.hpp"

#include <set>

/// What is left out of answers for readers who pay by the word
/// (docs/decisions/0054-tools-are-short.md).
namespace svc::mcp {

/// Members of a card that a summary has, where they say something.
const std::set<std::string_view>& summary_of_card();

struct Slimming {
    /// Members whose values are other people's JSON, and stay as they are.
    const std::set<std::string>& opaque;
    /// The caller's workspace, which goes without saying.
    std::string org{};
    /// Members of cards to give besides `object`, `id` and `version`, whatever they say; nothing:
    /// the summary.
    std::optional<std::set<std::string>> fields{};
    bool whole_root = false;  ///< a card that is the whole answer is no summary
    bool page = false;        ///< it is a page of a list
};

/// The JSON, which the kernel wrote, without what is null and what goes without saying.
std::string slim(std::string_view json, const Slimming& how);

}  // namespace svc::mcp
