#include "modules/oauth/answers.hpp"

#include <boost/json.hpp>

namespace svc::oauth {

namespace {

const std::pair<std::string, std::string> for_any_page{"Access-Control-Allow-Origin", "*"};

}  // namespace

http::Headers with_refusals(const http::Request&, int) { return {for_any_page}; }

http::Answer json_answer(int status, const boost::json::object& body) {
    return {
        .status = status,
        .headers = {for_any_page, {"Cache-Control", "no-store"}},
        .body = boost::json::serialize(body)
    };
}

http::Answer error_answer(const OAuthError& error) {
    return json_answer(
        error.status(), {{"error", error.error()}, {"error_description", error.what()}}
    );
}

http::Answer preflight_answer() {
    return {
        .status = 204,
        .headers =
            {for_any_page,
             {"Access-Control-Allow-Methods", "GET, POST"},
             {"Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version"},
             {"Access-Control-Max-Age", "86400"}},
        .content_type = {}
    };
}

Form::Form(const http::Request& request) {
    if (http::media_type(request) != "application/x-www-form-urlencoded" ||
        !http::is_plain_utf8(request))
        throw OAuthError(
            "invalid_request",
            "Send the members as Content-Type: application/x-www-form-urlencoded."
        );
    const auto pairs = http::parse_query(request.body);
    if (!pairs) throw OAuthError("invalid_request", "The body is no form.");
    for (const auto& [name, value] : *pairs)
        if (!members_.emplace(name, value).second)
            throw OAuthError("invalid_request", "A member of the form is there twice.");
}

const std::string& Form::get(const std::string& name) const {
    static const std::string nothing;
    const auto found = members_.find(name);
    return found == members_.end() ? nothing : found->second;
}

const std::string& Form::require(const std::string& name) const {
    const auto& value = get(name);
    if (value.empty()) throw OAuthError("invalid_request", name + " is missing.");
    return value;
}

}  // namespace svc::oauth
