#include "modules/mcp/endpoint.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <chrono>

/// Revisions up to 2025-11-25: a session opens with `initialize` and every later message names
/// it.
namespace svc::mcp {

namespace {

constexpr std::string_view batching_version = "2025-03-26";
constexpr std::size_t most_in_batch = 50;
// What one batch may take, for it holds a worker all the while.
constexpr std::chrono::seconds longest_batch{5};
constexpr std::size_t largest_batch = 4 << 20;  // bytes of answers

/// What of a batch's budget is used up when the next message's turn comes.
class BatchBudget {
public:
    /// RpcError when nothing more is to be run.
    void require_some(std::size_t written) const {
        if (std::chrono::steady_clock::now() >= until_)
            throw RpcError(
                Code::invalid_request,
                "Not carried out: what came before it in the batch took more than " +
                    std::to_string(longest_batch.count()) +
                    " seconds. Send it again, in a smaller batch."
            );
        if (written >= largest_batch)
            throw RpcError(
                Code::invalid_request,
                "Not carried out: the answers before it in the batch came to more than " + most() +
                    ". Send it again, in a smaller batch."
            );
    }
    /// RpcError when there is no room for this answer behind the others.
    void require_room(std::size_t written, std::size_t answer) const {
        if (written == 0 || written + answer <= largest_batch) return;
        throw RpcError(
            Code::invalid_request,
            "Carried out, but its answer is left out: the batch's answers would come to more "
            "than " +
                most() + "."
        );
    }

private:
    static std::string most() { return std::to_string(largest_batch >> 20) + " MiB"; }
    const std::chrono::steady_clock::time_point until_ =
        std::chrono::steady_clock::now() + longest_batch;
};

}  // namespace

std::string_view agreed_on(std::string_view wanted, std::string_view otherwise) {
    const auto* const known = std::ranges::find(handshake_versions, wanted);
    return known != handshake_versions.end() ? *known : otherwise;
}

void check_version_header(const http::Request& request) {
    const auto version = request.header("mcp-protocol-version");
    if (!version.empty() && agreed_on(version, {}).empty()) throw unsupported_version(version);
}

std::string result_in_session(std::string_view id, const Result& result) {
    return result_text(id, {"{", result.text(), "}"});
}

http::Answer Endpoint::serve_in_session(RouteCall& call, const Message& message) {
    const bool request = message.kind == Message::Kind::request;
    if (request && message.method == "initialize") return initialize(call, message);
    check_version_header(call.request());
    const Session session = require_session(call);
    if (auto answer = answer_of_extension(call, message, session.version))
        return *std::move(answer);
    if (!request) return accepted();
    const MethodContext context{
        call, *call.caller(), catalog_.narrowing(call.request()), session.version, &session
    };
    return result_answer(call.request(), message.id, answer_in_session(message, context), "{", "}");
}

http::Answer Endpoint::initialize(RouteCall& call, const Message& message) const {
    const auto version = agreed_on(message.text("protocolVersion"), handshake_versions.front());
    auto answer = json_answer(200, result_in_session(message.id, initialize_result(version)));
    answer.headers.emplace_back("Mcp-Session-Id", sessions_.open(*call.caller(), version));
    return answer;
}

Result Endpoint::initialize_result(std::string_view version) const {
    std::string result = "\"protocolVersion\":";
    write_text(version, result);
    (result += ",\"capabilities\":") += capabilities();
    (result += ",\"serverInfo\":") += server_info();
    result += ",\"instructions\":";
    write_text(catalog_.instructions(), result);
    return {std::move(result)};
}

Session Endpoint::require_session(RouteCall& call) {
    const auto id = call.request().header("mcp-session-id");
    if (id.empty())
        throw RpcError(
            Code::invalid_request,
            "Name your session in the header Mcp-Session-Id; `initialize` gives one.",
            400
        );
    const auto session = sessions_.find(*call.caller(), id);
    if (session && session->version != sse_version) return *session;
    throw RpcError(
        Code::invalid_request, "There is no such session any more; initialize again.", 404
    );
}

Result Endpoint::answer_in_session(const Message& message, const MethodContext& context) {
    if (message.method == "ping") return {};
    if (message.method == "resources/subscribe" || message.method == "resources/unsubscribe")
        return subscribe(message, context);
    if (auto result = methods_.run(message, context)) return *std::move(result);
    if (message.method == "initialize")
        throw RpcError(Code::invalid_request, "`initialize` comes alone, never in a batch.");
    throw RpcError(Code::method_not_found, "There is no method " + message.method + " here.");
}

Result Endpoint::subscribe(const Message& message, const MethodContext& context) {
    const std::string uri(message.text("uri"));
    const Scope scope = Scope::of(context.caller);
    const Session& session = *context.session;
    if (message.method == "resources/unsubscribe") {
        streams_.mailbox().unsubscribe(scope, session.id, uri);
        streams_.poke(session.id);
        return {};
    }
    const auto found = find_resource(methods_.reading(context), uri);
    if (!found) throw no_resource(uri, context.version);
    if (!streams_.mailbox().subscribe(scope, session, {uri, found->id, found->board_id}))
        throw RpcError(
            Code::invalid_request,
            "A session subscribes to " + std::to_string(Mailbox::most_subscriptions) +
                " resources at most."
        );
    streams_.poke(session.id);
    return {};
}

http::Answer Endpoint::batch(RouteCall& call, const json::array& messages) {
    if (is_stateless(call.request(), messages))
        throw RpcError(
            Code::invalid_request, "Protocol 2026-07-28 has no batches; send one message.", 400
        );
    check_version_header(call.request());
    const Session session = require_session(call);
    if (session.version != batching_version)
        throw RpcError(
            Code::invalid_request, "Only protocol 2025-03-26 has batches; send one message.", 400
        );
    if (messages.empty() || messages.size() > most_in_batch)
        throw RpcError(
            Code::invalid_request,
            "A batch holds 1 to " + std::to_string(most_in_batch) + " messages.",
            400
        );
    // A wait would park the request and run the messages before it a second time.
    const MethodContext context{
        call, *call.caller(), catalog_.narrowing(call.request()), batching_version, &session, false
    };
    const BatchBudget budget;
    std::string out;
    for (const json::value& each : messages) {
        std::string id = "null", answer;
        try {
            const Message message = read_message(each, id);
            if (message.kind != Message::Kind::request) continue;
            budget.require_some(out.size());
            answer = result_in_session(message.id, answer_in_session(message, context));
            budget.require_room(out.size(), answer.size());
        } catch (const RpcError& error) {
            answer = error_answer(id, error);
        }
        (out += out.empty() ? '[' : ',') += answer;
    }
    return out.empty() ? accepted() : json_answer(200, out + ']');
}

}  // namespace svc::mcp
