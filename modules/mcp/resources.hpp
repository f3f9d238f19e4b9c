#pragma once

#include "modules/mcp/json_rpc.hpp"
#include "modules/mcp/names.hpp"

namespace svc::mcp {

/// What a method reads for its caller: operations, in the caller's name.
class Reading {
public:
    Reading(RouteCall& call, const Catalog& catalog, const Names& names, const Caller& caller)
        : call_(call), catalog_(catalog), names_(names), caller_(caller) {}

    /// The operation's answer, with names resolved; nothing when it refuses.
    std::optional<json::object> operator()(std::string_view operation, json::object arguments)
        const;

private:
    RouteCall& call_;
    const Catalog& catalog_;
    const Names& names_;
    const Caller& caller_;
};

/// The board or card behind an address: `svc://boards/{id}`, `svc://cards/{id}` or, of a card's
/// brief, `svc://cards/{id}/context`. The id in it may be a key.
struct FoundResource {
    Uuid id;
    Uuid board_id;
};
/// Nothing when the caller does not see it.
std::optional<FoundResource> find_resource(const Reading& read, std::string_view uri);

/// Members of results.
std::string list_resources(const Reading& read, const Message& message);
std::string list_templates();
/// Nothing when there is no such resource for this caller.
std::optional<std::string> read_resource(const Reading& read, std::string_view uri);
/// What the last argument of a template or a prompt may be.
std::string complete(const Reading& read, const Message& message);

/// A board as Markdown: its columns and the first cards of each.
struct BoardText {
    std::string id, text;
};
/// Nothing when it is not to be seen.
std::optional<BoardText> board_as_markdown(const Reading& read, std::string_view board);

}  // namespace svc::mcp
