#pragma once

#include "modules/mcp/methods.hpp"
#include "modules/mcp/origins.hpp"
#include "modules/mcp/sessions.hpp"
#include "modules/mcp/streams.hpp"

namespace svc::mcp {

struct Settings {
    std::int64_t session_hours = 720;
    std::int64_t streams_per_principal = 16;
    std::vector<std::string> allowed_origins;
};
SVC_SHARED_RECORD(
    Settings,
    (session_hours,
     "How long a session lasts before its client has to initialize again.",
     range(1, 8760),
     defaulted),
    (streams_per_principal,
     "How many event streams one principal may have open on this server.",
     range(1, 10000),
     defaulted),
    (allowed_origins,
     "Web origins, such as \"https://app.example\", whose pages may talk to the MCP endpoint "
     "besides the server's own.",
     items_up_to(2000),
     defaulted)
);

/// /v1/mcp/http: Streamable HTTP in two eras on one path. A message whose `_meta` names a
/// protocol version, or whose header names the stateless one, is served for itself
/// (2026-07-28); any other belongs to a session that `initialize` opened (2025-11-25 and
/// before). Both reach the same methods. Any thread.
class Endpoint {
public:
    Endpoint(
        Kernel& kernel, const Catalog& catalog, const Origins& origins, const Settings& settings
    );

    http::Answer serve(RouteCall& call);
    /// The transport before it: a stream, and where its client posts what is answered on it.
    http::Answer open_sse(RouteCall& call);
    http::Answer take_message(RouteCall& call);

    Streams& streams() { return streams_; }

private:
    http::Answer post(RouteCall& call);
    http::Answer get(RouteCall& call);
    http::Answer remove(RouteCall& call);

    // handshake.cpp
    http::Answer serve_in_session(RouteCall& call, const Message& message);
    http::Answer initialize(RouteCall& call, const Message& message) const;
    Result initialize_result(std::string_view version) const;
    /// RpcError when the session has as many as one may have.
    Result subscribe(const Message& message, const MethodContext& context);
    http::Answer batch(RouteCall& call, const json::array& messages);
    Result answer_in_session(const Message& message, const MethodContext& context);
    Session require_session(RouteCall& call);

    // stateless.cpp
    http::Answer serve_stateless(RouteCall& call, const Message& message);
    http::Answer listen(RouteCall& call, const Message& message);

    // sse.cpp
    Result answer_on_stream(const Message& message, const MethodContext& context);
    std::optional<Session> sse_session(const RouteCall& call, std::string_view token);

    /// What the extension answers, when the message is for it.
    std::optional<http::Answer> answer_of_extension(
        RouteCall& call, const Message& message, std::string_view version
    );
    /// Failure 401 without a token; an answer when a page of another site asks.
    std::optional<http::Answer> refuse(const RouteCall& call) const;

    Kernel& kernel_;
    const Catalog& catalog_;
    const Origins& origins_;
    Extension* const extension_;  // null when no plugin offers one
    Methods methods_;
    Sessions sessions_;
    Streams streams_;
};

/// True when the message is of the stateless era.
bool is_stateless(const http::Request& request, const Message& message);
/// The same of messages that came together, if one of them is.
bool is_stateless(const http::Request& request, const json::array& messages);
/// RpcError unless the header that names the protocol's version is absent or a known one.
void check_version_header(const http::Request& request);
RpcError unsupported_version(std::string_view requested);
/// The version that is wanted when it is one of `handshake_versions`, or else the other.
std::string_view agreed_on(std::string_view wanted, std::string_view otherwise);

/// The whole answer of a session.
std::string result_in_session(std::string_view id, const Result& result);
/// The result as the answer to a request, with what its era puts around the members.
http::Answer result_answer(
    const http::Request& request,
    std::string_view id,
    Result result,
    std::string_view before,
    std::string_view after
);

/// A message in the body of a request, or several.
json::value read_body(const http::Request& request);
http::Answer json_answer(int status, std::string body);
/// The error as the whole answer, under its HTTP status.
http::Answer refused(const RpcError& error, std::string_view id = "null");
/// 202 without a body.
http::Answer accepted();
/// True when the Accept header is absent or admits this type.
bool accepts(const http::Request& request, std::string_view type);
/// That the Accept header does not admit the stream that the answer is.
RpcError takes_no_stream();

}  // namespace svc::mcp
