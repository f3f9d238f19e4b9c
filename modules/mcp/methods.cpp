#include "modules/mcp/methods.hpp"

#include "modules/mcp/prompts.hpp"
#include "modules/mcp/sessions.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace svc::mcp {

namespace {

// It stands in the result twice.
constexpr std::size_t largest_body = 4 << 20;

/// A tool's arguments; an empty object when there are none.
json::value arguments_of(const Message& message) {
    const auto* arguments = message.find("arguments");
    if (!arguments || arguments->is_null()) return json::object();
    if (arguments->is_object()) return *arguments;
    throw RpcError(Code::invalid_params, "`arguments` has to be an object.");
}

/// The answer as structure and, for readers of text, the same once more. What a refusal is follows
/// no tool's output schema, so it is text alone.
std::string content_of(const std::string& body, bool failed) {
    std::string out = R"("content":[{"type":"text","text":)";
    write_text(body, out);
    out += "}]";
    if (failed) return out + ",\"isError\":true";
    return out + ",\"structuredContent\":" + body + ",\"isError\":false";
}

/// Takes what the reader has out of the arguments: a version or an etag. Failure 422 when it is
/// none.
std::optional<json::value> take_known(const Tool& tool, json::object& arguments) {
    constexpr std::string_view name = "if_none_match";
    const auto found = arguments.find(name);
    if (found == arguments.end() || !is_conditional(*tool.declared->operation)) return std::nullopt;
    const json::value given = found->value();
    arguments.erase(found);
    if (given.is_null()) return std::nullopt;
    if (has_etag(*tool.declared->operation) ? given.is_string() : given.is_int64()) return given;
    throw Failure::invalid_at(
        R"(["arguments","if_none_match"])", "int_type", "Should be the `version` or `etag` you have"
    );
}

/// Says no more of what the reader has already.
void leave_out_unchanged(const json::value& known, std::string& body) {
    const json::value whole = json::parse(body);
    const auto is_known = [&](const char* member) {
        const auto* value = whole.as_object().if_contains(member);
        return value && *value == known;
    };
    if (!is_known("version") && !is_known("etag")) return;
    json::object brief;
    for (const char* name : {"object", "id", "version", "etag"})
        if (const auto* value = whole.as_object().if_contains(name)) brief[name] = *value;
    brief["not_modified"] = true;
    body = json::serialize(brief);
}

}  // namespace

std::optional<Result> Methods::run(const Message& message, const MethodContext& context) const {
    const std::string& method = message.method;
    if (method == "tools/list") return list_tools(message, context);
    if (method == "tools/call") return call_tool(message, context);
    const Result::Cache for_now{std::chrono::minutes(1), "private"};
    const Result::Cache not_kept{std::chrono::milliseconds(0), "private"};
    const Result::Cache for_long{std::chrono::hours(1), "public"};
    const Reading read = reading(context);
    if (method == "resources/list") return Result{list_resources(read, message), for_now};
    if (method == "resources/templates/list") return Result{list_templates(), for_long};
    if (method == "resources/read") return Result{read_one(read, message, context), not_kept};
    if (method == "prompts/list") return Result{list_prompts(), for_long};
    if (method == "prompts/get") return Result{get_prompt(read, message)};
    if (method == "completion/complete") return Result{complete(read, message)};
    return std::nullopt;
}

std::string Methods::read_one(
    const Reading& read, const Message& message, const MethodContext& context
) {
    const auto uri = message.text("uri");
    if (auto contents = read_resource(read, uri)) return *contents;
    throw no_resource(uri, context.version);
}

Result Methods::list_tools(const Message& message, const MethodContext& context) const {
    if (const auto* cursor = message.find("cursor"); cursor && !cursor->is_null())
        throw RpcError(
            Code::invalid_params,
            "This server has no such cursor: all tools come on the first page."
        );
    const auto texts = context.version >= "2025-06-18" ? ToolTexts::with_output : ToolTexts::first;
    return {
        "\"tools\":" + catalog_.list(context.caller, context.narrowing, texts),
        Result::Cache{std::chrono::minutes(1), "private"}
    };
}

Invoked Methods::run_tool(const Tool& tool, json::value arguments, const MethodContext& context)
    const {
    try {
        const auto known = take_known(tool, arguments.get_object());
        names_.resolve(context.caller, tool, arguments);
        Invoked invoked = context.call.invoke({
            .operation = tool.name(),
            .arguments = json::serialize(arguments),
            .surface = Surface::mcp,
            .may_wait = context.may_wait,
        });
        if (known && invoked.status < 400) leave_out_unchanged(*known, invoked.body);
        return invoked;
    } catch (const Failure& failure) {
        return {failure.status(), failure.body(context.call.request_id())};
    }
}

Result Methods::call_tool(const Message& message, const MethodContext& context) const {
    const auto name = message.text("name");
    const Tool* tool = catalog_.find(name, context.narrowing);
    if (!tool) throw RpcError(Code::invalid_params, "Unknown tool: " + std::string(name));

    const Invoked invoked = run_tool(*tool, arguments_of(message), context);
    bool failed = invoked.status >= 400;
    auto body =
        invoked.body.empty() ? R"({"done":true})" : without_unset(invoked.body, tool->opaque);
    if (body.size() > largest_body) {
        failed = true;
        body =
            Failure(
                Fault::too_large,
                tool->declared->operation->read_only()
                    ? "The answer is larger than a tool's may be; ask for less, such as a smaller "
                      "page."
                    : "It was done, but the answer is larger than a tool's may be."
            )
                .with("reason", "answer_too_large")
                .body(context.call.request_id());
    }
    return {content_of(body, failed)};
}

RpcError no_resource(std::string_view uri, std::string_view version) {
    std::string data = "{\"uri\":";
    write_text(uri, data);
    return RpcError(
               version >= stateless_version ? Code::invalid_params : Code::resource_not_found,
               "There is no such resource."
    )
        .with_data(data + '}');
}

std::string_view capabilities() {
    return R"({"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},)"
           R"("prompts":{"listChanged":false},"completions":{}})";
}

std::string_view server_info() {
    return R"({"name":"workboard","title":"Workboard","version":")" SVC_VERSION "\"}";
}

}  // namespace svc::mcp
