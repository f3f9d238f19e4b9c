#pragma once

#include "modules/orgs/api.hpp"

/// The account as its owner sees it (contract sections 6.1 to 6.3).
namespace svc::auth {

using orgs::BotDetails;
using orgs::PersonDetails;
using orgs::UserType;
using orgs::WorkspaceLimits;

/// Ways to prove who one is, as far as an account has them.
enum class SignIn { password, google };
BOOST_DESCRIBE_ENUM(SignIn, password, google)

enum class AuthMethod { password, google, email_verification, password_reset };
BOOST_DESCRIBE_ENUM(AuthMethod, password, google, email_verification, password_reset)

struct UserResponse {
    Object<"user"> object;
    Uuid id;
    UserType type{};
    std::optional<std::string> name;
    std::optional<Url> avatar_url;
    std::optional<PersonDetails> person;
    std::optional<BotDetails> bot;
    std::optional<Email> email;
    bool email_verified = false;
    bool has_password = false;
    std::vector<SignIn> auth_methods;
    std::optional<Uuid> agent_id;
    std::optional<Uuid> active_org_id;
    std::optional<OrgRole> role;
    Timestamp created_time;
    Timestamp last_edited_time;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    UserResponse,
    (object, "Always \"user\"."),
    (id, "Id of the person or agent."),
    (type, "`bot` when an agent's token asks, otherwise `person`."),
    (name, "As people see it; null when none was given."),
    (avatar_url, "A picture; null when there is none."),
    (person, "Only of a person.", omit_empty),
    (bot, "Only of a bot.", omit_empty),
    (email, "The address of the account; null of a bot."),
    (email_verified, "The owner of the address has followed the mailed link."),
    (has_password, "Whether the account can be signed in to with a password."),
    (auth_methods, "Every way to sign in to the account."),
    (agent_id, "The agent whose token asked; null of a person."),
    (active_org_id, "The workspace that this request resolved to; null when it names none."),
    (role,
     "What the caller may do in that workspace: the lower of the token's role and its owner's."),
    (created_time, "When the account was made."),
    (last_edited_time, "When it was last changed."),
    (version, "Rises by one with every change; also the ETag.")
);

struct UserSessionResponse {
    Object<"user_session"> object;
    Uuid id;
    AuthMethod auth_method{};
    std::optional<Uuid> active_org_id;
    std::optional<std::string> ip_address;
    std::optional<std::string> user_agent;
    Timestamp created_time;
    Timestamp last_seen_at;
    Timestamp expires_at;
    bool is_current = false;
};
SVC_SHARED_RECORD(
    UserSessionResponse,
    (object, "Always \"user_session\"."),
    (id, "The session's id; not a secret."),
    (auth_method, "Sign-in method."),
    (active_org_id,
     "The workspace it works in when a request names none; null when there is none."),
    (ip_address, "The IP address that signed in."),
    (user_agent, "The User-Agent of the program that signed in."),
    (created_time, "When it started."),
    (last_seen_at, "When it was last used, give or take a minute."),
    (expires_at, "When it ends unless it is used before."),
    (is_current, "It is the one this request came by.")
);

struct AuthSessionResponse {
    Object<"auth_session"> object;
    UserResponse user;
    UserSessionResponse session;
    std::optional<Uuid> active_org_id;
    std::string csrf_token;
};
SVC_SHARED_RECORD(
    AuthSessionResponse,
    (object, "Always \"auth_session\"."),
    (user, "Who has signed in."),
    (session, "The session; its secret is in the cookie only."),
    (active_org_id, "The workspace it works in; null when the person is in none."),
    (csrf_token, "To be sent as X-CSRF-Token with every write that the cookie signs in.")
);

}  // namespace svc::auth
