// The mailed link of somebody who was added to a workspace: it confirms the address and signs in,
// like that of a sign-up, but brings no password.

#include "modules/auth/sign_up_links.hpp"

#include "modules/auth/admission.hpp"
#include "modules/auth/sessions.hpp"
#include "modules/auth/settings.hpp"
#include "svc/secrets.hpp"

namespace svc::auth {

namespace {

constexpr Sql insert_newcomer{"auth.insert_newcomer", R"(
    INSERT INTO sign_ups (id, email, email_key, token_digest, expires_at)
    VALUES ($1, $2, $3, $4, now() + $5))"};

}  // namespace

Uuid wait_for_confirmation(Call& call, const Email& email, const std::string& token) {
    const Uuid id = new_uuid();
    const std::string key = email_key(email);
    present(call.tx(), key);
    call.tx().queue(
        insert_newcomer,
        id,
        email,
        key,
        sha256(token),
        std::chrono::seconds(std::chrono::hours(call.use<Settings>().verify_hours))
    );
    return id;
}

std::string MailedLinks::confirmation_link(Call& call, const Email& email) {
    const std::string token = random_token();
    wait_for_confirmation(call, email, token);
    return call.kernel().base_url() + "/verify-email?token=" + token;
}

bool MailedLinks::may_be_added(const Kernel& kernel) const {
    return sign_up_policy(kernel) != SignUpPolicy::off;
}

}  // namespace svc::auth
