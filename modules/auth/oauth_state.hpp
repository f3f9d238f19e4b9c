#pragma once

#include "svc/kernel.hpp"

/// What is remembered of a person between being sent to the identity provider and coming back:
/// nothing here, all of it in a signed cookie.
namespace svc::auth {

struct OAuthState {
    std::string state;  ///< 256 random bits in base64url
    Timestamp expires_at;
    std::string return_to;  ///< a path of ours
};

OAuthState new_oauth_state(std::string return_to);

/// Secrets of one sign-in, made of its state under keys of ours: the cookie need not hold them.
std::string nonce_of(const Kernel& kernel, const OAuthState& oauth_state);
std::string code_verifier_of(const Kernel& kernel, const OAuthState& oauth_state);
std::string code_challenge_of(const std::string& verifier);

/// The cookie that brings it along, and the one that takes it away, as Set-Cookie values.
std::string cookie_of(const Kernel& kernel, const OAuthState& oauth_state);
std::string no_cookie(const Kernel& kernel);

/// The sign-in that a request's cookie tells of; nothing when we did not sign it.
std::optional<OAuthState> oauth_state_in(const Kernel& kernel, const http::Request& request);
bool has_oauth_cookie(const http::Request& request);

}  // namespace svc::auth
