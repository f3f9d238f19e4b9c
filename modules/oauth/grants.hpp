#pragma once

#include "modules/oauth/secrets.hpp"
#include "modules/oauth/settings.hpp"

/// What stands behind the token of a connected client.
namespace svc::oauth {

/// What a person grants, before the code of it is exchanged.
struct NewGrant {
    agents::Connection connection;
    bool made_agent = false;
    std::string client_id, redirect_uri, code_challenge, resource, scope;
};

/// Queues the grant in the call's transaction, and gives the code for it.
std::string store_grant(Call& call, const NewGrant& grant);

/// What a client shows for its first tokens.
struct CodeUse {
    std::string code, client_id, redirect_uri, code_verifier;
    std::string resource;  ///< empty when it does not say
};
/// What it shows for its next.
struct RefreshUse {
    std::string refresh_token, client_id, resource;
};

struct GivenTokens {
    std::string access_token, refresh_token, scope;
    std::int64_t expires_in = 0;  ///< seconds
};

/// Throws OAuthError. A code that has been used, or a refresh token that has been used too long
/// ago, ends the connection.
GivenTokens exchange_code(Kernel& kernel, const CodeUse& use);
GivenTokens refresh(Kernel& kernel, const RefreshUse& use);

/// Ends the connection that a token of either sort is of, when it is this client's. Of others
/// nothing is said.
void revoke(Kernel& kernel, const std::string& token, const std::string& client_id);

/// Looks for codes that nobody has exchanged, and ends what they were for.
void add_end_of_unused_codes(Kernel& kernel);

}  // namespace svc::oauth
