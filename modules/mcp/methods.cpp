#include "modules/mcp/methods.hpp"

#include "modules/boards/api/shapes.hpp"
#include "modules/mcp/prompts.hpp"
#include "modules/mcp/sessions.hpp"
#include "modules/mcp/slim.hpp"

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

/// Takes the members that the reader wants of cards out of the arguments. Failure 422 when cards
/// have no such.
std::optional<std::set<std::string>> take_fields(const Tool& tool, json::object& arguments) {
    const auto found = arguments.find("fields");
    if (found == arguments.end() || !tool.input.takes_fields) return std::nullopt;
    const json::value given = found->value();
    arguments.erase(found);
    if (given.is_null()) return std::nullopt;
    std::set<std::string> fields;
    const Record& card = record_of<boards::Card>();
    for (const json::value& each : given.is_array() ? given.get_array() : json::array{given}) {
        const auto* name = each.if_string();
        if (name && card.find(*name)) {
            fields.emplace(*name);
            continue;
        }
        std::string known;
        for (const Field& field : card.fields) (known += known.empty() ? "" : ", ") += field.name;
        throw Failure::invalid_at(
            R"(["arguments","fields"])", "enum", "A list of members of cards: " + known
        );
    }
    return fields;
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
    if (method == "resources/list")
        return Result{with_more(list_resources(read, message), message), for_now};
    if (method == "resources/templates/list")
        return Result{with_more(list_templates(), message), for_long};
    if (method == "resources/read") return Result{read_one(read, message, context), not_kept};
    if (method == "prompts/list") return Result{with_more(list_prompts(), message), for_long};
    if (method == "prompts/get") return Result{get_prompt(read, message)};
    if (method == "completion/complete") return Result{complete(read, message)};
    return std::nullopt;
}

std::string Methods::with_more(std::string members, const Message& message) const {
    const auto* cursor = message.find("cursor");
    if (!extension_ || (cursor && !cursor->is_null())) return members;
    std::string more = extension_->listed(message.method);
    const auto begin = members.find('[') + 1;
    if (!more.empty() && members[begin] != ']') more += ',';
    return members.insert(begin, more);
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
    Result result{{}, Result::Cache{std::chrono::minutes(1), "private"}};
    result.shared = catalog_.list(context.caller, context.narrowing, texts);
    if (!extension_) return result;
    result.members = with_more(result.shared->text(), message);
    result.shared.reset();
    return result;
}

Invoked Methods::run_tool(const Tool& tool, json::value arguments, const MethodContext& context)
    const {
    try {
        const Operation& operation = *tool.declared->operation;
        Slimming how{
            .opaque = tool.opaque,
            // A person's own things may be of several workspaces.
            .org = context.caller.org_id && !operation.for_people ? context.caller.org_id->str()
                                                                  : std::string(),
            .fields = take_fields(tool, arguments.get_object()),
            .whole_root = operation.read_only(),
            .page = operation.handler.output.item != nullptr
        };
        const auto known = take_known(tool, arguments.get_object());
        names_.resolve(context.caller, tool, arguments);
        Invoked invoked = context.call.invoke({
            .operation = tool.name(),
            .arguments = json::serialize(arguments),
            .surface = Surface::mcp,
            .may_wait = context.may_wait,
        });
        if (invoked.status >= 400) return invoked;
        if (known) leave_out_unchanged(*known, invoked.body);
        invoked.body = invoked.body.empty() ? R"({"done":true})" : slim(invoked.body, how);
        return invoked;
    } catch (const Failure& failure) {
        if (failure.fault() == Fault::unauthorized) throw;  // the request's, not the tool's
        return {failure.status(), failure.body(context.call.request_id())};
    }
}

Result Methods::call_tool(const Message& message, const MethodContext& context) const {
    const auto name = message.text("name");
    const Tool* tool = catalog_.find(name, context.narrowing);
    if (!tool) throw RpcError(Code::invalid_params, "Unknown tool: " + std::string(name));

    const Invoked invoked = run_tool(*tool, arguments_of(message), context);
    bool failed = invoked.status >= 400;
    std::string body = invoked.body;
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
