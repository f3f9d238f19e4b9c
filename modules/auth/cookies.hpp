#pragma once

#include "svc/kernel.hpp"

/// What a browser holds: the signed session cookie, and the token that proves that a write was
/// meant by a page of ours (contract 4.8).
namespace svc::auth {

/// What the session cookie says, signed. Only the session's id and the end are relied on; the
/// rest is for the client's eyes.
struct Claims {
    Uuid session_id;
    Uuid user_id;
    std::optional<Uuid> org_id;
    std::optional<OrgRole> role;
};

/// Gives the client a session: the cookie, and a CSRF token bound to it, which is returned.
std::string give_session(Call& call, const Claims& claims);
/// Gives the session's cookie anew; its CSRF token stays.
void renew_session(Call& call, const Claims& claims);
void take_session(Call& call);

/// The session that a request's cookie names, when we signed it and it has not run out. Whether
/// it still stands only the database knows.
std::optional<Uuid> session_in(const Kernel& kernel, const http::Request& request);

/// The CSRF token for whoever sends this request, in a new cookie or the one it has.
std::string give_csrf_token(Call& call);
/// The header and the cookie hold the same token, and it is this session's.
bool csrf_matches(const Kernel& kernel, const http::Request& request, const Uuid& session);

/// Gives the client proof that this sign-up is its own.
void give_sign_up(Call& call, const Uuid& sign_up);
/// The sign-up that the client proves to be its own: the last one it sent.
std::optional<Uuid> sign_up_in(const Kernel& kernel, const http::Request& request);

/// A page sent this: browsers say where a write comes from, programs do not.
bool from_a_page(const http::Request& request);
/// Guard: refuses such requests with 403.
void refuse_other_sites(Call& call);

}  // namespace svc::auth
