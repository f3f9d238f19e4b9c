#include "modules/mcp/methods.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace svc::mcp {

namespace {

// It stands in the result twice.
constexpr std::size_t largest_body = 4 << 20;

/// A tool's arguments as JSON text; an empty text when there are none.
std::string arguments_of(const Message& message) {
    const auto* arguments = message.find("arguments");
    if (!arguments || arguments->is_null()) return {};
    if (arguments->is_object()) return json::serialize(*arguments);
    throw RpcError(Code::invalid_params, "`arguments` has to be an object.");
}

/// The structured answer and, for readers of text, the same once more.
std::string content_of(const std::string& body) {
    std::string out = R"("content":[{"type":"text","text":)";
    write_text(body.empty() ? "Done." : body, out);
    out += "}]";
    if (!body.empty()) out += ",\"structuredContent\":" + body;
    return out;
}

}  // namespace

std::optional<Result> Methods::run(const Message& message, const MethodContext& context) const {
    if (message.method == "tools/list") return list_tools(message, context);
    if (message.method == "tools/call") return call_tool(message, context);
    return std::nullopt;
}

Result Methods::list_tools(const Message& message, const MethodContext& context) const {
    if (const auto* cursor = message.find("cursor"); cursor && !cursor->is_null())
        throw RpcError(
            Code::invalid_params,
            "This server has no such cursor: all tools come on the first page."
        );
    return {
        "\"tools\":" + catalog_.list(context.caller, context.narrowing),
        Result::Cache{std::chrono::minutes(1), "private"}};
}

Result Methods::call_tool(const Message& message, const MethodContext& context) const {
    const auto name = message.text("name");
    const Tool* tool = catalog_.find(name, context.narrowing);
    if (!tool) throw RpcError(Code::invalid_params, "Unknown tool: " + std::string(name));

    const std::string arguments = arguments_of(message);
    const Invoked invoked = context.call.invoke({
        .operation = tool->name(),
        .arguments = arguments,
        .surface = Surface::mcp,
        .may_wait = context.may_wait,
    });
    bool failed = invoked.status >= 400;
    const Operation& operation = *tool->declared->operation;
    auto body = invoked.body.empty() ? std::string() : without_unset(invoked.body, tool->opaque);
    if (body.size() > largest_body) {
        failed = true;
        body =
            Failure(
                Fault::too_large,
                operation.read_only()
                    ? "The answer is larger than a tool's may be; ask for less, such as a smaller "
                      "page."
                    : "It was done, but the answer is larger than a tool's may be."
            )
                .with("reason", "answer_too_large")
                .body(context.call.request_id());
    }
    return {content_of(body) + (failed ? ",\"isError\":true" : ",\"isError\":false")};
}

std::string_view capabilities() { return R"({"tools":{"listChanged":false}})"; }

std::string_view server_info() {
    return R"({"name":"workboard","title":"Workboard","version":")" SVC_VERSION "\"}";
}

}  // namespace svc::mcp
