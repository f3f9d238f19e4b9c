// POST /oauth/token and /oauth/revoke: what clients ask, without a person.

#include "modules/oauth/token_endpoint.hpp"

#include "modules/oauth/answers.hpp"
#include "modules/oauth/grants.hpp"

#include <boost/json.hpp>

namespace svc::oauth {

namespace {

GivenTokens tokens_for(Kernel& kernel, const Form& form) {
    const std::string& grant_type = form.require("grant_type");
    if (grant_type == "authorization_code")
        return exchange_code(
            kernel,
            {.code = form.require("code"),
             .client_id = form.require("client_id"),
             .redirect_uri = form.require("redirect_uri"),
             .code_verifier = form.require("code_verifier"),
             .resource = form.get("resource")}
        );
    if (grant_type == "refresh_token")
        return refresh(
            kernel,
            {.refresh_token = form.require("refresh_token"),
             .client_id = form.require("client_id"),
             .resource = form.get("resource")}
        );
    throw OAuthError(
        "unsupported_grant_type", "There are authorization_code and refresh_token alone."
    );
}

}  // namespace

http::Answer give_tokens(Kernel& kernel, const http::Request& request) try {
    const GivenTokens given = tokens_for(kernel, Form(request));
    return json_answer(
        200,
        {{"access_token", given.access_token},
         {"token_type", "Bearer"},
         {"expires_in", given.expires_in},
         {"refresh_token", given.refresh_token},
         {"scope", given.scope}}
    );
} catch (const OAuthError& error) {
    return error_answer(error);
}

http::Answer revoke_token(Kernel& kernel, const http::Request& request) try {
    const Form form(request);
    revoke(kernel, form.require("token"), form.require("client_id"));
    return json_answer(200, {});
} catch (const OAuthError& error) {
    return error_answer(error);
}

}  // namespace svc::oauth
