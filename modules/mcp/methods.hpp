#pragma once

#include "modules/mcp/api.hpp"
#include "modules/mcp/catalog.hpp"
#include "modules/mcp/json_rpc.hpp"
#include "modules/mcp/resources.hpp"
#include "modules/mcp/sessions.hpp"

namespace svc::mcp {

/// What a method gives: members of the result object, as JSON text without the braces, so that
/// either era can put its own beside them.
struct Result {
    std::string members;
    /// How long, and by whom, it may be kept; nothing when it must not be.
    struct Cache {
        std::chrono::milliseconds time_to_live;
        std::string_view scope;
    };
    std::optional<Cache> cache{};
    std::shared_ptr<const http::SharedText> shared{};  ///< the members, when several answers have them

    std::string_view text() const { return shared ? shared->text() : members; }
};

/// Whom a method works for.
struct MethodContext {
    RouteCall& call;
    Caller caller;  ///< as of the beginning; the call's own may change while an operation runs
    Narrowing narrowing;
    std::string_view version;          ///< of the protocol
    const Session* session = nullptr;  ///< null of what has none
    bool may_wait = true;              ///< an operation that waits may park the whole request
};

/// The methods that both eras share.
class Methods {
public:
    Methods(Kernel& kernel, const Catalog& catalog)
        : catalog_(catalog), names_(kernel), extension_(kernel.find<Extension>()) {}

    /// Nothing when there is no method of that name. Throws RpcError.
    std::optional<Result> run(const Message& message, const MethodContext& context) const;

    Reading reading(const MethodContext& context) const {
        return {context.call, catalog_, names_, context.caller};
    }

private:
    static std::string read_one(
        const Reading& read, const Message& message, const MethodContext& context
    );
    /// The members of a list's result, with what the extension adds.
    std::string with_more(std::string members, const Message& message) const;
    Result list_tools(const Message& message, const MethodContext& context) const;
    Result call_tool(const Message& message, const MethodContext& context) const;
    Invoked run_tool(const Tool& tool, json::value arguments, const MethodContext& context) const;

    const Catalog& catalog_;
    Names names_;
    const Extension* extension_;  // null when no plugin offers one
};

/// That there is no such resource, as this version of the protocol says it.
RpcError no_resource(std::string_view uri, std::string_view version);

/// The `capabilities` and `serverInfo` of this server, as JSON text.
std::string_view capabilities();
std::string_view server_info();

}  // namespace svc::mcp
