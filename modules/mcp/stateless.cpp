#include "modules/mcp/endpoint.hpp"

#include "svc/encoding.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <ranges>

/// Revision 2026-07-28: every request says for itself what it speaks, in `_meta` and again in
/// headers that have to agree.
namespace svc::mcp {

namespace {

constexpr std::string_view version_key = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view capabilities_key = "io.modelcontextprotocol/clientCapabilities";

const json::value* meta(const Message& message, std::string_view key) {
    const auto* all = message.find("_meta");
    const auto* members = all ? all->if_object() : nullptr;
    return members ? members->if_contains(key) : nullptr;
}

[[noreturn]] void mismatch(std::string_view header, const std::string& why) {
    throw RpcError(
        Code::header_mismatch, "Header mismatch: " + std::string(header) + ' ' + why, 400
    );
}

[[noreturn]] void malformed(std::string_view key, std::string_view kind) {
    throw RpcError(
        Code::invalid_params,
        "`params._meta` has to hold `" + std::string(key) + "`, " + std::string(kind) + '.',
        400
    );
}

/// A header's value; `=?base64?…?=` stands for text that a header cannot carry.
std::string decoded(std::string_view header, std::string_view value) {
    constexpr std::string_view prefix = "=?base64?", suffix = "?=";
    if (!value.starts_with(prefix) || !value.ends_with(suffix) ||
        value.size() < prefix.size() + suffix.size())
        return std::string(value);
    value.remove_prefix(prefix.size());
    value.remove_suffix(suffix.size());
    auto out = from_base64(value, Base64::padded);
    if (!out) mismatch(header, "is not Base64 between its marks.");
    if (out->find('\0') != out->npos) mismatch(header, "holds a NUL between its marks.");
    return *std::move(out);
}

void require_header(
    const http::Request& request, std::string_view header, std::string_view in_body
) {
    if (!request.has(header)) mismatch(header, "is missing.");
    const std::string value = decoded(header, request.header(header));
    if (value != in_body)
        mismatch(header, "says '" + value + "', the body '" + std::string(in_body) + "'.");
}

void check_envelope(const http::Request& request, const Message& message) {
    const auto* version = meta(message, version_key);
    const auto* text = version ? version->if_string() : nullptr;
    if (!text) malformed(version_key, "a text");
    if (!request.has("MCP-Protocol-Version")) mismatch("MCP-Protocol-Version", "is missing.");
    if (request.header("MCP-Protocol-Version") != std::string_view(*text))
        mismatch("MCP-Protocol-Version", "differs from the version in the body.");
    if (*text != stateless_version) throw unsupported_version(*text);
    const auto* capabilities = meta(message, capabilities_key);
    if (!capabilities || !capabilities->is_object()) malformed(capabilities_key, "an object");
    require_header(request, "Mcp-Method", message.method);
    if (message.method == "tools/call" || message.method == "prompts/get")
        require_header(request, "Mcp-Name", message.text("name"));
    if (message.method == "resources/read")
        require_header(request, "Mcp-Name", message.text("uri"));
}

http::Answer answer_with(const http::Request& request, std::string_view id, Result result) {
    std::string out;
    if (result.cache) {
        out += ",\"ttlMs\":" + std::to_string(result.cache->time_to_live.count());
        out += ",\"cacheScope\":";
        write_text(result.cache->scope, out);
    }
    out += R"(,"_meta":{"io.modelcontextprotocol/serverInfo":)";
    (out += server_info()) += "}}";
    return result_answer(request, id, std::move(result), R"({"resultType":"complete",)", out);
}

/// A JSON array, newest first.
std::string supported_versions() {
    std::string out = "[";
    write_text(stateless_version, out);
    for (std::string_view each : handshake_versions) write_text(each, out += ',');
    return out + ']';
}

Result discover(const Catalog& catalog) {
    Result result{
        "\"supportedVersions\":" + supported_versions(),
        Result::Cache{std::chrono::hours(1), "public"}
    };
    (result.members += ",\"capabilities\":") += capabilities();
    result.members += ",\"instructions\":";
    write_text(catalog.instructions(), result.members);
    return result;
}

}  // namespace

bool is_stateless(const http::Request& request, const Message& message) {
    return meta(message, version_key) ||
           request.header("mcp-protocol-version") == stateless_version;
}

bool is_stateless(const http::Request& request, const json::array& messages) {
    const auto says_so = [&](const json::value& each) {
        const auto* object = each.if_object();
        const auto* params = object ? object->if_contains("params") : nullptr;
        Message message;
        message.params = params ? params->if_object() : nullptr;
        return is_stateless(request, message);
    };
    return is_stateless(request, Message{}) || std::ranges::any_of(messages, says_so);
}

RpcError unsupported_version(std::string_view requested) {
    std::string data = "{\"supported\":" + supported_versions() + ",\"requested\":";
    write_text(requested, data);
    return RpcError(Code::unsupported_version, "Unsupported protocol version", 400)
        .with_data(data + '}');
}

http::Answer Endpoint::serve_stateless(RouteCall& call, const Message& message) {
    if (message.kind == Message::Kind::notification) return accepted();
    if (message.kind == Message::Kind::response)
        throw RpcError(Code::invalid_request, "A client sends requests and notifications.", 400);
    check_envelope(call.request(), message);
    if (message.method == "subscriptions/listen") return listen(call, message);
    if (auto answer = answer_of_extension(call, message, stateless_version))
        return *std::move(answer);

    const MethodContext context{
        call, *call.caller(), catalog_.narrowing(call.request()), stateless_version
    };
    auto result =
        message.method == "server/discover" ? discover(catalog_) : methods_.run(message, context);
    if (!result)
        throw RpcError(
            Code::method_not_found, "There is no method " + message.method + " here.", 404
        );
    return answer_with(call.request(), message.id, *std::move(result));
}

namespace {

bool is_wanted(const json::object& wanted, std::string_view what) {
    const auto* value = wanted.if_contains(what);
    return value && *value == true;
}

/// What of it is granted: resources that the caller sees, of as many as one may watch. Each is
/// looked for, so nobody asks for more.
std::vector<Subscription> granted(const Reading& read, const json::object& wanted) {
    std::vector<Subscription> all;
    const auto* uris = wanted.if_contains("resourceSubscriptions");
    if (!uris || !uris->is_array()) return all;
    for (const json::value& each :
         uris->get_array() | std::views::take(Mailbox::most_subscriptions)) {
        if (!each.is_string()) continue;
        const std::string uri(each.get_string());
        const auto found = find_resource(read, uri);
        if (found) all.push_back({uri, found->id, found->board_id});
    }
    return all;
}

std::string acknowledgement(const Watch& watch) {
    json::object notifications;
    if (watch.tools) notifications["toolsListChanged"] = true;
    if (watch.resources) notifications["resourcesListChanged"] = true;
    json::array uris;
    for (const Subscription& each : watch.subscriptions) uris.emplace_back(each.uri);
    if (!uris.empty()) notifications["resourceSubscriptions"] = std::move(uris);
    return R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{)"
           R"("_meta":{"io.modelcontextprotocol/subscriptionId":)" +
           watch.tag + R"(},"notifications":)" + json::serialize(notifications) + "}}";
}

}  // namespace

/// Says first what of the wanted it will tell.
http::Answer Endpoint::listen(RouteCall& call, const Message& message) {
    if (!accepts(call.request(), "text/event-stream")) throw takes_no_stream();
    const auto* filter = message.find("notifications");
    const auto* wanted = filter ? filter->if_object() : nullptr;
    if (!wanted) throw RpcError(Code::invalid_params, "`notifications` has to be an object.");
    const MethodContext context{
        call, *call.caller(), catalog_.narrowing(call.request()), stateless_version
    };
    Watch watch{
        .tools = is_wanted(*wanted, "toolsListChanged"),
        .resources = is_wanted(*wanted, "resourcesListChanged"),
        .subscriptions = granted(methods_.reading(context), *wanted),
        .tag = message.id
    };
    auto first = sse_event(acknowledgement(watch));
    return streams_.open(call, {.first = std::move(first), .watch = std::move(watch)});
}

}  // namespace svc::mcp
