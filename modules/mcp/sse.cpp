#include "modules/mcp/endpoint.hpp"

#include <boost/json/value.hpp>

#include <algorithm>
#include <charconv>

/// HTTP+SSE, revision 2024-11-05: GET opens a stream whose first event says where to post messages;
/// their answers come on the stream. They go through the database, so that any server takes a
/// message, and a client that was away gets what it missed.
namespace svc::mcp {

namespace {

constexpr std::string_view messages_path = "/v1/mcp/messages/";

/// What a client says that it had last: `<session>.<sequence>`.
struct LastEvent {
    std::string_view token;
    std::int64_t sequence = 0;
};
std::optional<LastEvent> last_event_of(std::string_view header) {
    const auto dot = header.rfind('.');
    if (dot == header.npos) return std::nullopt;
    LastEvent last{header.substr(0, dot)};
    const auto digits = header.substr(dot + 1);
    const auto [end, problem] = std::from_chars(digits.begin(), digits.end(), last.sequence);
    if (problem != std::errc{} || end != digits.end()) return std::nullopt;
    return last;
}

std::string session_in(const http::Request& request) {
    const auto query = http::parse_query(request.query);
    if (!query) return {};
    const auto named =
        std::ranges::find(*query, "session_id", [](const auto& each) { return each.first; });
    return named == query->end() ? std::string() : named->second;
}

http::Answer no_session() {
    return refused(
        RpcError(Code::invalid_request, "There is no such session any more; open a stream.", 404)
    );
}

}  // namespace

std::optional<Session> Endpoint::sse_session(const RouteCall& call, std::string_view token) {
    auto session = sessions_.find(*call.caller(), token);
    if (session && session->version != sse_version) session.reset();
    return session;
}

http::Answer Endpoint::open_sse(RouteCall& call) {
    if (auto answer = refuse(call)) return *std::move(answer);
    const http::Request& request = call.request();
    if (!accepts(request, "text/event-stream")) return refused(takes_no_stream());
    Opening opening{.watch = {.tools = true, .resources = true}};
    if (const auto last = last_event_of(request.header("last-event-id"))) {
        opening.session = sse_session(call, last->token);
        if (!opening.session) return no_session();
        opening.token = last->token;
        opening.after = last->sequence;
        opening.resumed = true;
    } else {
        opening.token = sessions_.open(*call.caller(), sse_version);
        opening.session = sessions_.find(*call.caller(), opening.token);
    }
    opening.first = "id: " + opening.token + '.' + std::to_string(opening.after) +
                    "\nevent: endpoint\ndata: " + std::string(messages_path) +
                    "?session_id=" + opening.token + "\n\n";
    return streams_.open(call, std::move(opening));
}

http::Answer Endpoint::take_message(RouteCall& call) {
    if (auto answer = refuse(call)) return *std::move(answer);
    const auto session = sse_session(call, session_in(call.request()));
    if (!session) return no_session();
    std::string id = "null", reply;
    try {
        const json::value body = read_body(call.request());
        const Message message = read_message(body, id);
        if (message.kind != Message::Kind::request) return accepted();
        const auto said = call.request().header("mcp-protocol-version");
        const MethodContext context{
            call,
            *call.caller(),
            catalog_.narrowing(call.request()),
            agreed_on(said, sse_version),
            &*session
        };
        reply = result_in_session(message.id, answer_on_stream(message, context));
    } catch (const RpcError& error) {
        if (error.status() >= 400) return refused(error, id);
        reply = error_answer(id, error);
    }
    streams_.mailbox().put(Scope::of(*call.caller()), *session, reply);
    streams_.poke(session->id);
    return accepted();
}

Result Endpoint::answer_on_stream(const Message& message, const MethodContext& context) {
    if (message.method == "initialize")
        return initialize_result(agreed_on(message.text("protocolVersion"), sse_version));
    return answer_in_session(message, context);
}

}  // namespace svc::mcp
