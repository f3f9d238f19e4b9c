// Who may have a new account, and which ways in there are.

#include "modules/auth/admission.hpp"

#include "modules/auth/api.hpp"
#include "modules/orgs/api.hpp"

namespace svc::auth {

namespace {

constexpr Sql find_person{"auth.find_person_to_admit", R"(
    SELECT u.id FROM users u WHERE u.email_key = $1)"};

// ---------------------------------------------------------------------- the ways in

struct SignInOptions {
    Object<"sign_in_options"> object;
    SignUpPolicy sign_up{};
    bool password = true;
    bool identity_provider = false;
};
SVC_RECORD(
    SignInOptions,
    (object, "Always \"sign_in_options\"."),
    (sign_up,
     "Who may sign up: `open` everybody, `invited` addresses with an invitation, `off` nobody."),
    (password, "Whether one can log in with an address and a password."),
    (identity_provider, "Whether one can sign in with an outside identity provider.")
);

SignInOptions options(Call& call, const Nothing&) {
    call.add_header("Cache-Control", "public, max-age=60");
    return {
        .object = {},
        .sign_up = sign_up_policy(call.kernel()),
        .password = true,
        .identity_provider = call.kernel().find<IdentityProvider>() != nullptr,
    };
}

const Operation get_sign_in_options{
    .name = "get_sign_in_options",
    .route = "GET /v1/auth/options",
    .summary = "Read which ways of signing up and signing in are open on this server.",
    .description = "For sign-up and log-in pages. The same for everybody, and cacheable.",
    .access = Access::anyone,
    .tool = false,
    .handler = options,
};

}  // namespace

SignUpPolicy sign_up_policy(const Kernel& kernel) { return kernel.use<Settings>().sign_up; }

void refuse_when_closed(Call& call) {
    if (sign_up_policy(call.kernel()) == SignUpPolicy::off) throw sign_up_closed();
}

std::function<bool()> check_admission(Call& call, const Email& email) {
    const SignUpPolicy policy = sign_up_policy(call.kernel());
    if (policy == SignUpPolicy::open) return [] { return true; };
    auto person = call.tx().queue(find_person, email_key(email));
    std::function<bool()> invited = [] { return false; };
    const auto* invitations = call.kernel().find<orgs::Invitations>();
    if (invitations && policy == SignUpPolicy::invited)
        invited = invitations->awaits(call.tx(), email);
    return [person, invited = std::move(invited)]() mutable {
        const bool is_invited = invited();
        return person.rows() > 0 || is_invited;
    };
}

Failure sign_up_closed() {
    return Failure(
               Fault::restricted,
               "This server takes no new accounts from outside. Ask whoever runs it, or somebody "
               "in the workspace for an invitation."
    )
        .with_code("sign_up_closed");
}

Failure account_disabled() {
    return Failure(Fault::restricted, "This account is disabled; ask whoever runs this server.")
        .with_code("account_disabled");
}

void add_sign_in_options(Kernel& kernel) { kernel.add(get_sign_in_options); }

}  // namespace svc::auth
