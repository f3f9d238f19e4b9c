// To an identity provider and back again.

#include "modules/auth/oauth.hpp"

#include "modules/auth/limits.hpp"
#include "modules/auth/oauth_people.hpp"
#include "modules/auth/oauth_state.hpp"

#include <Poco/Logger.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace svc::auth {

namespace {

Failure refusal(std::string_view reason, const std::string& why) {
    return Failure(Fault::unauthorized, why).with_code(std::string(reason));
}

std::string callback_url(const Kernel& kernel) {
    return kernel.base_url() + "/v1/auth/google/callback";
}

std::string login_page(const Kernel& kernel, std::string_view reason) {
    return kernel.base_url() + "/login?oauth_error=" + std::string(reason);
}

/// The page that says what went wrong, for a browser on its way.
std::string login_page_after(const Kernel& kernel, const Failure& failure) {
    constexpr std::array<std::string_view, 12> reasons{
        "state_missing",
        "state_invalid",
        "state_expired",
        "state_reused",
        "access_denied",
        "provider_error",
        "token_exchange_failed",
        "email_unverified",
        "account_conflict",
        "account_disabled",
        "sign_up_closed",
        "not_configured"};
    const bool known = std::ranges::find(reasons, failure.code()) != reasons.end();
    return login_page(kernel, known ? failure.code() : "provider_error");
}

/// What the provider said goes to the log; people are told the reason alone.
Failure refusal_of(const ProviderError& problem) {
    Poco::Logger::get("auth").warning(std::string("identity provider: ") + problem.what());
    return problem.kind() == ProviderError::Kind::exchange
               ? refusal("token_exchange_failed", "The identity provider did not vouch for you.")
               : Failure(Fault::unavailable, "The identity provider cannot be reached just now.")
                     .with_code("provider_error");
}

// -------------------------------------------------------------------------------- start

struct StartQuery {
    std::optional<std::string> return_to;
    std::optional<bool> redirect;
};
SVC_RECORD(
    StartQuery,
    (return_to,
     "Where to go once signed in: a path of this server's own pages, such as `/boards`.",
     length(1, 2048),
     matches(R"(^/([!-.0-\[\]-~][!-\[\]-~]*)?$)")),
    (redirect, "Answer with a redirect to the provider, as a link in a page wants it.")
);

struct OAuthStartResponse {
    Object<"oauth_start"> object;
    std::string authorization_url;
    Timestamp expires_at;
};
SVC_RECORD(
    OAuthStartResponse,
    (object, "Always \"oauth_start\"."),
    (authorization_url, "The provider's page to go to, with this browser."),
    (expires_at, "Until when one can come back from there.")
);

/// How much a client likes a type, from 0 to 1; 0 when its Accept does not name it.
double liking(std::string_view accept, std::string_view type) {
    while (!accept.empty()) {
        auto each = accept.substr(0, accept.find(','));
        accept.remove_prefix(std::min(each.size() + 1, accept.size()));
        each.remove_prefix(std::min(each.find_first_not_of(" \t"), each.size()));
        if (each.substr(0, each.find_first_of("; \t")) != type) continue;
        const auto q = each.find("q=");
        if (q == each.npos) return 1;
        double value = 0;
        std::from_chars(each.data() + q + 2, each.data() + each.size(), value);
        return value;
    }
    return 0;
}

bool wants_redirect(const Call& call, const StartQuery& in) {
    if (in.redirect) return *in.redirect;
    const auto accept = call.request() ? call.request()->header("accept") : std::string_view();
    return liking(accept, "text/html") > liking(accept, "application/json");
}

/// Whoever begins sign-ins without end keeps the provider's threads from others.
void admit_departure(Call& call) {
    const auto limit = departures_from_one_place(call);
    RateWindow window;
    call.kernel().transact(Tx::Mode::write, [&](Tx& tx) {
        window = limit.count(tx, network_of(call.client_address())).one_or_retry();
    });
    limit.require(window);
}

/// Only what led nowhere stays counted.
void refund_sign_in(Call& call) {
    const auto place = network_of(call.client_address());
    departures_from_one_place(call).refund(call.tx(), place);
    returns_to_one_place(call).refund(call.tx(), place);
}

/// A person who is about to leave.
struct Departure {
    OAuthState oauth_state;
    std::string page;
};

Departure depart(Call& call, const StartQuery& in) {
    auto& outside = call.use<OutsideSignIn>();
    IdentityProvider* provider = outside.provider();
    if (!provider)
        throw Failure(Fault::unavailable, "No identity provider is set up on this server.")
            .with_code("not_configured");
    const auto plan = [&]() -> std::function<Departure()> {
        admit_departure(call);
        const Kernel& kernel = call.kernel();
        OAuthState oauth_state = new_oauth_state(in.return_to.value_or("/"));
        ProviderQuestion question{
            .redirect_uri = callback_url(kernel),
            .state = oauth_state.state,
            .nonce = nonce_of(kernel, oauth_state),
            .code_challenge = code_challenge_of(code_verifier_of(kernel, oauth_state))};
        return [provider, oauth_state = std::move(oauth_state), question = std::move(question)] {
            return Departure{oauth_state, provider->sign_in_page(question)};
        };
    };
    try {
        return outside.waiting().result_of<Departure>(call, plan);
    } catch (const ProviderError& problem) {
        throw refusal_of(problem);
    }
}

Answer<OAuthStartResponse> start(Call& call, const StartQuery& in) {
    const bool redirect = wants_redirect(call, in);
    try {
        Departure departure = depart(call, in);
        call.add_header("Set-Cookie", cookie_of(call.kernel(), departure.oauth_state));
        call.add_header("Cache-Control", "no-store");
        if (redirect) call.add_header("Location", departure.page);
        return {
            redirect ? 302 : 200,
            {{}, std::move(departure.page), departure.oauth_state.expires_at}};
    } catch (const Failure& failure) {
        if (!redirect) {
            if (failure.code() != "not_configured" && failure.code() != "provider_error") throw;
            throw Failure(Fault::unavailable, failure.what()).with_header("Retry-After", "60");
        }
        call.add_header("Location", login_page_after(call.kernel(), failure));
        return {302, {}};
    }
}

const Operation start_google_sign_in{
    .name = "start_google_sign_in",
    .route = "GET /v1/auth/google/start",
    .summary = "Begin to sign in with the outside identity provider.",
    .description =
        "Gives the provider's page to go to, and the cookie `svc_oauth` that proves on the way "
        "back "
        "that this browser set out. With `redirect=true`, or when `text/html` is what the client "
        "would rather have, it is a redirect to that page. Where no provider is set up it is 503.",
    .access = Access::anyone,
    .also = {302},
    .tool = false,
    .handler = start,
};

// ------------------------------------------------------------------------------- finish

struct CallbackQuery {
    std::optional<std::string> state, code, error, error_description, iss;
};
SVC_RECORD(
    CallbackQuery,
    (state, "As it was given to the provider."),
    (code, "What the provider gives the ID token for."),
    (error, "Why the provider did not sign the person in."),
    (error_description, "The same in words."),
    (iss, "Which provider it is, if it says so.")
);

OAuthState oauth_state_of(Call& call, const CallbackQuery& in) {
    const http::Request& request = *call.request();
    if (!in.state || !has_oauth_cookie(request))
        throw refusal("state_missing", "This browser did not set out from here.");
    auto oauth_state = oauth_state_in(call.kernel(), request);
    if (!oauth_state || oauth_state->state != *in.state)
        throw refusal("state_invalid", "The state is not the one that this browser set out with.");
    if (oauth_state->expires_at <= Timestamp::now())
        throw refusal("state_expired", "It took too long.")
            .with_header("Set-Cookie", no_cookie(call.kernel()));
    return *std::move(oauth_state);
}

/// A state is good for one return, on whichever server, whatever comes of it.
void use_up(Call& call, const OAuthState& oauth_state) {
    const DatabaseRateLimit once(call.kernel(), {"oauth_state", 1, std::chrono::minutes(30)});
    const auto of_place = returns_to_one_place(call);
    RateWindow window, place;
    call.kernel().transact(Tx::Mode::write, [&](Tx& tx) {
        auto of_state = once.count(tx, oauth_state.state);
        place = of_place.count(tx, network_of(call.client_address())).one_or_retry();
        window = of_state.one_or_retry();
    });
    of_place.require(place);
    if (!once.allows(window))
        throw refusal("state_reused", "This way back was taken before.")
            .with_header("Set-Cookie", no_cookie(call.kernel()));
}

Identity identify(Call& call, const CallbackQuery& in, const OAuthState& oauth_state) {
    auto& outside = call.use<OutsideSignIn>();
    IdentityProvider* provider = outside.provider();
    if (!provider) throw refusal("not_configured", "No identity provider is set up.");
    const auto plan = [&]() -> std::function<Identity()> {
        use_up(call, oauth_state);
        if (in.error)
            throw refusal(
                *in.error == "access_denied" ? "access_denied" : "provider_error",
                "The provider did not sign the person in."
            );
        if (!in.code) throw refusal("provider_error", "There is no code.");
        ProviderAnswer answer{
            .redirect_uri = callback_url(call.kernel()),
            .code = *in.code,
            .nonce = nonce_of(call.kernel(), oauth_state),
            .code_verifier = code_verifier_of(call.kernel(), oauth_state),
            .issuer = in.iss};
        return [provider, answer = std::move(answer)] { return provider->identify(answer); };
    };
    return outside.waiting().result_of<Identity>(call, plan);
}

void finish(Call& call, const CallbackQuery& in) {
    const OAuthState oauth_state = oauth_state_of(call, in);
    try {
        sign_in_by(call, identify(call, in, oauth_state));
        refund_sign_in(call);
    } catch (const ProviderError& problem) {
        throw refusal_of(problem).with_header("Set-Cookie", no_cookie(call.kernel()));
    }
    call.add_header("Set-Cookie", no_cookie(call.kernel()));
    call.add_header("Cache-Control", "no-store");
    call.add_header("Location", call.kernel().base_url() + oauth_state.return_to);
}

const Operation finish_google_sign_in{
    .name = "finish_google_sign_in",
    .route = "GET /v1/auth/google/callback",
    .summary = "Come back from the outside identity provider.",
    .description =
        "Begins a browser session, as logging in does, and leads on to where the person wanted to "
        "go. Whatever goes wrong leads to the login page, with the reason as `oauth_error`.",
    .access = Access::anyone,
    .status = 302,
    .tool = false,
    .error_redirect = login_page_after,
    .handler = finish,
};

}  // namespace

void add_oauth_operations(Kernel& kernel) {
    kernel.add(start_google_sign_in);
    kernel.add(finish_google_sign_in);
}

}  // namespace svc::auth
