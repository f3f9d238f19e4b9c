#include "plugins/idp-oidc/provider.hpp"

#include "plugins/idp-oidc/lib/json.hpp"
#include "svc/encoding.hpp"

#include <sstream>

namespace svc::idp_oidc {

namespace {

namespace json = boost::json;
using auth::ProviderError;
using std::chrono::seconds;

constexpr seconds kept_for = std::chrono::hours(1);
constexpr seconds asked_again_after{5};  // for keys, when none of ours has signed a token
constexpr seconds failed_for{2};         // before we ask again where the endpoints are

[[noreturn]] void fail(const std::string& why) {
    throw ProviderError(ProviderError::Kind::provider, why);
}
[[noreturn]] void not_vouched_for(const std::string& why) {
    throw ProviderError(ProviderError::Kind::exchange, why);
}

std::string form_of(const std::vector<std::pair<std::string_view, std::string>>& fields) {
    std::string out;
    for (const auto& [name, value] : fields) {
        if (!out.empty()) out += '&';
        (out += name) += '=' + percent_encoded(value);
    }
    return out;
}

std::string without_slash(std::string issuer) {
    if (issuer.ends_with('/')) issuer.pop_back();
    return issuer;
}

/// A boolean, which some providers write as text.
bool is_true(const json::object& from, std::string_view name) {
    const auto* value = from.if_contains(name);
    return value && (*value == true || *value == "true");
}

}  // namespace

Provider::Provider(Settings settings)
    : settings_(std::move(settings)),
      client_({.time = seconds(settings_.timeout_seconds), .ca_file = settings_.ca_file}) {
    safe_address(settings_.issuer);
}

void Provider::refuse_when_stopping() const {
    if (stopping_) fail("the server is being stopped");
}

HttpAnswer Provider::get(const std::string& url, HttpRequest::Headers headers) const {
    refuse_when_stopping();
    headers.emplace_back("Accept", "application/json");
    try {
        HttpAnswer answer = client_.run({.to = safe_address(url), .headers = std::move(headers)});
        if (answer.status == 200) return answer;
        fail(url + " answers with status " + std::to_string(answer.status));
    } catch (const HttpError& problem) {
        fail(problem.what());
    }
}

Discovery Provider::discovery() {
    {
        std::lock_guard lock(mutex_);
        if (discovery_.younger_than(kept_for)) return *discovery_.value;
    }
    refuse_when_failed_lately();
    try {
        const auto answer =
            get(without_slash(settings_.issuer) + "/.well-known/openid-configuration");
        Discovery fresh = parse_discovery(answer.body, settings_.issuer);
        std::lock_guard lock(mutex_);
        discovery_ = {fresh, std::chrono::steady_clock::now()};
        return fresh;
    } catch (const std::runtime_error& problem) {
        std::lock_guard lock(mutex_);
        discovery_failed_ = {problem.what(), std::chrono::steady_clock::now()};
        fail(problem.what());
    }
}

void Provider::refuse_when_failed_lately() {
    std::lock_guard lock(mutex_);
    if (discovery_failed_.younger_than(failed_for)) fail(*discovery_failed_.value);
}

std::vector<Key> Provider::keys(const Discovery& from, seconds oldest) {
    {
        std::lock_guard lock(mutex_);
        if (keys_.younger_than(oldest)) return *keys_.value;
    }
    auto fresh = parse_keys(get(from.jwks_uri).body);
    if (!fresh) fail(from.jwks_uri + " is no set of keys");
    std::lock_guard lock(mutex_);
    keys_ = {*fresh, std::chrono::steady_clock::now()};
    return *std::move(fresh);
}

std::string Provider::sign_in_page(const auth::ProviderQuestion& question) {
    const std::string endpoint = discovery().authorization_endpoint;
    return endpoint + (endpoint.find('?') == endpoint.npos ? '?' : '&') +
           form_of(
               {{"response_type", "code"},
                {"client_id", settings_.client_id},
                {"redirect_uri", question.redirect_uri},
                {"scope", settings_.scope},
                {"state", question.state},
                {"nonce", question.nonce},
                {"code_challenge", question.code_challenge},
                {"code_challenge_method", "S256"}}
           );
}

json::object Provider::redeem(const Discovery& at, const auth::ProviderAnswer& answer) {
    std::vector<std::pair<std::string_view, std::string>> form{
        {"grant_type", "authorization_code"},
        {"code", answer.code},
        {"redirect_uri", answer.redirect_uri},
        {"code_verifier", answer.code_verifier}};
    HttpRequest::Headers headers{
        {"Accept", "application/json"}, {"Content-Type", "application/x-www-form-urlencoded"}};
    const bool in_header = at.basic_auth && !settings_.client_secret.empty();
    if (in_header) {
        const std::string pair =
            percent_encoded(settings_.client_id) + ":" + percent_encoded(settings_.client_secret);
        headers.emplace_back("Authorization", "Basic " + base64(pair, Base64::padded));
    } else {
        form.emplace_back("client_id", settings_.client_id);
        if (!settings_.client_secret.empty())
            form.emplace_back("client_secret", settings_.client_secret);
    }
    refuse_when_stopping();
    try {
        const auto got = client_.run(
            {.method = "POST",
             .to = safe_address(at.token_endpoint),
             .headers = headers,
             .body = form_of(form)}
        );
        auto tokens = parse_object(got.body);
        if (got.status == 200 && tokens) return *std::move(tokens);
        const auto error = tokens ? text_in(*tokens, "error").value_or("") : std::string();
        not_vouched_for(
            "the token endpoint answers with status " + std::to_string(got.status) + " " + error
        );
    } catch (const HttpError& problem) {
        not_vouched_for(problem.what());
    }
}

json::object Provider::believe(
    const Discovery& of, const std::string& id_token, const std::string& nonce
) {
    try {
        Token token = Token::parse(id_token);
        auto known = keys(of, kept_for);
        // A provider changes its keys when it likes, and may keep their names.
        if (!token.is_signed_by(known)) known = keys(of, asked_again_after);
        if (!token.is_signed_by(known))
            throw BadToken("the ID token is not signed by the provider");
        check_claims(
            token.claims,
            {.issuer = settings_.issuer,
             .client_id = settings_.client_id,
             .nonce = nonce,
             .now = Timestamp::now().micros / 1'000'000}
        );
        return std::move(token.claims);
    } catch (const BadToken& problem) {
        not_vouched_for(problem.what());
    }
}

json::object Provider::user_info(
    const Discovery& at, const std::string& access_token, const std::string& subject
) {
    const auto got = get(*at.userinfo_endpoint, {{"Authorization", "Bearer " + access_token}});
    auto claims = parse_object(got.body);
    if (!claims || text_in(*claims, "sub") != subject)
        not_vouched_for("the provider tells of somebody else than the ID token");
    return *std::move(claims);
}

auth::Identity Provider::identify(const auth::ProviderAnswer& answer) {
    const Discovery at = discovery();
    if (answer.issuer ? *answer.issuer != settings_.issuer : at.names_itself)
        not_vouched_for("the answer came from another issuer");
    const auto tokens = redeem(at, answer);
    const auto id_token = text_in(tokens, "id_token");
    if (!id_token) not_vouched_for("the token endpoint gave no ID token");
    json::object claims = believe(at, *id_token, answer.nonce);
    const std::string subject = *text_in(claims, "sub");

    // Providers may keep the address for those who ask with the access token.
    const auto access_token = text_in(tokens, "access_token");
    if (!claims.contains("email") && at.userinfo_endpoint && access_token)
        claims = user_info(at, *access_token, subject);
    const auto email = text_in(claims, "email");
    return {
        .issuer = settings_.issuer,
        .subject = subject,
        .email = email ? Email::parse(*email) : std::nullopt,
        .email_verified = is_true(claims, "email_verified"),
        .name = text_in(claims, "name")};
}

}  // namespace svc::idp_oidc
