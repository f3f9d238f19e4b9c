#include "modules/mcp/endpoint.hpp"

#include "svc/json.hpp"

#include <boost/json/value.hpp>

#include <charconv>

namespace svc::mcp {

namespace {

/// Cookies travel by themselves; this endpoint takes only what a client sends on purpose.
void require_bearer(const RouteCall& call) {
    if (call.caller()->token_id) return;
    throw Failure(
        Fault::unauthorized, "The MCP endpoint takes a token: `Authorization: Bearer svc_…`."
    );
}

http::Answer wrong_method(std::string allowed, const std::string& why) {
    auto answer = refused(RpcError(Code::invalid_request, why, 405));
    answer.headers.emplace_back("Allow", std::move(allowed));
    return answer;
}

/// The event that a client says it had last; nothing when that is no number.
std::optional<std::int64_t> sequence_in(std::string_view id) {
    std::int64_t sequence = 0;
    const auto [end, problem] = std::from_chars(id.begin(), id.end(), sequence);
    const bool whole = problem == std::errc{} && end == id.end() && sequence >= 0;
    return whole ? std::optional(sequence) : std::nullopt;
}

void check_media(const http::Request& request) {
    if (http::media_type(request) != "application/json")
        throw RpcError(
            Code::invalid_request, "Send the message as Content-Type: application/json.", 415
        );
    if (!http::is_plain_utf8(request))
        throw RpcError(
            Code::invalid_request,
            "Send the message as it is, in UTF-8: without a Content-Encoding, and with no other "
            "charset.",
            415
        );
    if (!accepts(request, "application/json"))
        throw RpcError(
            Code::invalid_request,
            "Answers are application/json, which your Accept header leaves out.",
            406
        );
}

json::value parse(std::string_view body) {
    try {
        return parse_json(body);
    } catch (const Failure&) {
        throw RpcError(
            Code::parse_error,
            "Parse error: the body has to be one JSON text in UTF-8, without duplicate members "
            "and not nested too deeply.",
            400
        );
    }
}

}  // namespace

Endpoint::Endpoint(
    Kernel& kernel, const Catalog& catalog, const Origins& origins, const Settings& settings
)
    : kernel_(kernel),
      catalog_(catalog),
      origins_(origins),
      extension_(kernel.find<Extension>()),
      methods_(kernel, catalog),
      sessions_(kernel, std::chrono::hours(settings.session_hours)),
      streams_(kernel, static_cast<std::size_t>(settings.streams_per_principal)) {}

std::optional<http::Answer> Endpoint::refuse(const RouteCall& call) const {
    require_bearer(call);
    const http::Request& request = call.request();
    if (!request.has("origin") || origins_.admits(request.header("origin"))) return std::nullopt;
    return refused(
        RpcError(Code::invalid_request, "Pages of that origin may not talk to this server.", 403)
    );
}

http::Answer Endpoint::serve(RouteCall& call) {
    if (auto answer = refuse(call)) return *std::move(answer);
    const http::Request& request = call.request();
    if (request.method == "POST") return post(call);
    if (request.method == "GET") return get(call);
    if (request.method == "DELETE") return remove(call);
    return wrong_method("GET, POST, DELETE", "This path takes GET, POST and DELETE.");
}

http::Answer Endpoint::post(RouteCall& call) {
    std::string id = "null";
    try {
        const json::value body = read_body(call.request());
        if (const auto* messages = body.if_array()) return batch(call, *messages);
        const Message message = read_message(body, id);
        return is_stateless(call.request(), message) ? serve_stateless(call, message)
                                                     : serve_in_session(call, message);
    } catch (const RpcError& error) {
        return refused(error, id);
    }
}

std::optional<http::Answer> Endpoint::answer_of_extension(
    RouteCall& call, const Message& message, std::string_view version
) {
    if (!extension_) return std::nullopt;
    return extension_->answer(
        {call,
         *message.whole,
         message.id,
         message.method,
         message.params,
         version,
         version == stateless_version}
    );
}

/// The stream on which the server may speak first.
http::Answer Endpoint::get(RouteCall& call) try {
    const http::Request& request = call.request();
    const bool stateless = request.header("mcp-protocol-version") == stateless_version;
    if (stateless || !request.has("accept") || !accepts(request, "text/event-stream"))
        return wrong_method("POST, DELETE", "GET opens an event stream and nothing else.");
    check_version_header(request);
    const Session session = require_session(call);
    return streams_.open(
        call,
        {.first = ": open\n\n",
         .watch = {.tools = true, .resources = true},
         .session = session,
         .resumed = request.has("last-event-id"),
         .since = sequence_in(request.header("last-event-id")),
         .numbered = session.version >= "2025-11-25"}  // those before know no event without data
    );
} catch (const RpcError& error) {
    return refused(error);
}

http::Answer Endpoint::remove(RouteCall& call) try {
    if (call.request().header("mcp-protocol-version") == stateless_version)
        return wrong_method("POST", "The stateless protocol has no session to end.");
    check_version_header(call.request());
    const Session session = require_session(call);
    sessions_.end(*call.caller(), session);
    streams_.close_session(session.id);
    return {.status = 204, .content_type = {}};
} catch (const RpcError& error) {
    return refused(error);
}

json::value read_body(const http::Request& request) {
    check_media(request);
    return parse(request.body);
}

http::Answer json_answer(int status, std::string body) {
    return {.status = status, .body = std::move(body)};
}

http::Answer result_answer(
    const http::Request& request,
    std::string_view id,
    Result result,
    std::string_view before,
    std::string_view after
) {
    if (!result.shared) return json_answer(200, result_text(id, {before, result.members, after}));
    http::Answer answer;
    result.shared->write(request, answer, result_head(id).append(before), std::string(after) + '}');
    return answer;
}

http::Answer refused(const RpcError& error, std::string_view id) {
    return json_answer(error.status(), error_answer(id, error));
}

http::Answer accepted() { return {.status = 202, .content_type = {}}; }

bool accepts(const http::Request& request, std::string_view type) {
    const auto accept = request.header("accept");
    const auto family = std::string(type.substr(0, type.find('/'))) + "/*";
    const auto names = [&](std::string_view each) {
        return accept.find(each) != std::string_view::npos;
    };
    return accept.empty() || names(type) || names(family) || names("*/*");
}

RpcError takes_no_stream() {
    return RpcError(
        Code::invalid_request,
        "The answer is a text/event-stream, which your Accept header leaves out.",
        406
    );
}

}  // namespace svc::mcp
