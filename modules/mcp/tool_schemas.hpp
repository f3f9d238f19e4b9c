#pragma once

#include "svc/kernel.hpp"

#include <set>

/// The schemas of tools, made of those that the kernel knows for operations: what goes into a
/// model's context is short (docs/decisions/0054-tools-are-short.md).
namespace svc::mcp {

/// What goes by name. An agent is one of the people, where only agents are meant.
enum class Named { board, column, person, agent };

/// Where a tool's arguments name such: members, and "[]" for each element.
struct NamedPlace {
    std::vector<std::string> path;
    Named what{};
};

struct ToolInput {
    std::string schema;              ///< as tools/list shows it
    std::vector<NamedPlace> places;  ///< which take names in place of ids
    bool takes_fields = false;       ///< its reader may say which members of cards it wants
    bool names_org = false;          ///< has an `org_id`, which can only be the caller's
    bool board_by_column = false;    ///< may leave out `board_id`, since it names a column
};
ToolInput input_of(const Kernel& kernel, const Operation& operation);

/// Whether a reader may say which version it has: a GET of something that has one.
bool is_conditional(const Operation& operation);
/// Whether that is an `etag` in the answer, not a `version`.
bool has_etag(const Operation& operation);

/// Whether cards are in its answer.
bool has_cards(const Output& output);

/// The whole schema of a tool's structured answer, with unset members left out, self-contained. Its
/// root has the type object.
std::string output_of(const Operation& operation);
/// What of it comes with the definition: what tells one answer from another.
std::string short_output_of(const Operation& operation);

/// The names of members of its answer that hold JSON whose shape is nobody's business here.
std::set<std::string> opaque_members(const Output& output);

}  // namespace svc::mcp
