#include "plugins/idp-oidc/lib/id_token.hpp"

#include "plugins/idp-oidc/lib/json.hpp"
#include "svc/encoding.hpp"

#include <algorithm>

namespace svc::idp_oidc {

namespace {

namespace json = boost::json;

void require(bool holds, const char* why) {
    if (!holds) throw BadToken(why);
}

json::object decoded(std::string_view part) {
    const auto bytes = from_base64(part);
    auto object = bytes ? parse_object(*bytes) : std::nullopt;
    require(object.has_value(), "the ID token is not made of JSON");
    return *std::move(object);
}

bool could_sign(const Key& key, const Token& token) {
    return key.algorithm == token.algorithm &&
           (token.key_id.empty() || key.id.empty() || key.id == token.key_id);
}

/// ASCII, as the specification has it; so nothing that one place reads to the end and another cuts.
bool is_subject(const std::optional<std::string>& subject) {
    return subject && !subject->empty() && subject->size() <= 255 &&
           std::ranges::all_of(*subject, [](char each) { return each > 0x20 && each < 0x7F; });
}

/// The audience is us; where there are others, the token says that it was made for us.
bool is_for(const json::object& claims, const std::string& client_id) {
    const auto party = text_in(claims, "azp");
    if (claims.contains("azp") && party != client_id) return false;
    if (const auto one = text_in(claims, "aud")) return *one == client_id;
    if (!list_has(claims, "aud", client_id)) return false;
    return claims.at("aud").get_array().size() == 1 || party == client_id;
}

}  // namespace

Token Token::parse(std::string_view text) {
    constexpr std::size_t longest = 64 << 10;
    const auto first = text.find('.'), last = text.rfind('.');
    require(
        text.size() <= longest && first != text.npos && last > first &&
            text.find('.', first + 1) == last,
        "the ID token is not made of three parts"
    );
    const json::object header = decoded(text.substr(0, first));
    const auto algorithm = algorithm_of(text_in(header, "alg").value_or(""));
    require(algorithm.has_value(), "the ID token is not signed with RS256 or ES256");
    require(!header.contains("crit"), "the ID token asks for an extension that we do not know");
    auto signature = from_base64(text.substr(last + 1));
    require(signature && !signature->empty(), "the ID token has no signature");
    return {
        .algorithm = *algorithm,
        .key_id = text_in(header, "kid").value_or(""),
        .signed_text = std::string(text.substr(0, last)),
        .signature = *std::move(signature),
        .claims = decoded(text.substr(first + 1, last - first - 1))};
}

bool Token::is_signed_by(const std::vector<Key>& keys) const {
    return std::ranges::any_of(keys, [&](const Key& key) {
        return could_sign(key, *this) && is_signed(key, signed_text, signature);
    });
}

void check_claims(const json::object& claims, const Expected& expected) {
    const auto expires = seconds_in(claims, "exp"), issued = seconds_in(claims, "iat");
    require(text_in(claims, "iss") == expected.issuer, "the ID token is of another issuer");
    require(is_for(claims, expected.client_id), "the ID token is for another client");
    require(text_in(claims, "nonce") == expected.nonce, "the ID token is for another sign-in");
    require(expires && *expires > expected.now - expected.leeway, "the ID token has run out");
    require(issued && *issued <= expected.now + expected.leeway, "the ID token is of the future");
    if (claims.contains("nbf")) {
        const auto begins = seconds_in(claims, "nbf");
        require(
            begins && *begins <= expected.now + expected.leeway, "the ID token does not hold yet"
        );
    }
    require(is_subject(text_in(claims, "sub")), "the ID token is about nobody");
}

}  // namespace svc::idp_oidc
