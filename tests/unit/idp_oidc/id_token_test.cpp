#include "plugins/idp-oidc/lib/json.hpp"
#include "tests/unit/idp_oidc/signer.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace svc::test {
namespace {

using namespace idp_oidc;
namespace json = boost::json;

const Signer& rsa() {
    static const Signer key = Signer::rsa();
    return key;
}
const Signer& ec() {
    static const Signer key = Signer::ec();
    return key;
}

std::vector<Key> keys() {
    return *parse_keys(
        R"({"keys":[)" + rsa().jwk(R"(,"kid":"r","alg":"RS256","use":"sig")") + "," +
        ec().jwk(R"(,"kid":"e","alg":"ES256")") + "]}"
    );
}

constexpr std::int64_t now = 1'800'000'000;

const Expected expected{
    .issuer = "https://accounts.example.com", .client_id = "board", .nonce = "n", .now = now};

json::object claims() {
    return {
        {"iss", expected.issuer},
        {"sub", "ada"},
        {"aud", expected.client_id},
        {"nonce", expected.nonce},
        {"iat", now - 5},
        {"exp", now + 300}};
}

bool holds(const json::object& all) {
    try {
        check_claims(all, expected);
        return true;
    } catch (const BadToken&) {
        return false;
    }
}

/// The claims hold when one of them is this; nothing: when it is not there.
bool holds_with(std::string_view name, const std::optional<json::value>& value) {
    auto all = claims();
    all.erase(name);
    if (value) all[name] = *value;
    return holds(all);
}

bool is_believed(const std::string& token, const std::vector<Key>& by) {
    try {
        return Token::parse(token).is_signed_by(by);
    } catch (const BadToken&) {
        return false;
    }
}

TEST(IdToken, IsBelievedByItsSignature) {
    const auto known = keys();
    ASSERT_EQ(known.size(), 2u);
    EXPECT_TRUE(is_believed(rsa().token(R"({"alg":"RS256","kid":"r"})", "{}"), known));
    EXPECT_TRUE(is_believed(ec().token(R"({"alg":"ES256","kid":"e"})", "{}"), known));
    EXPECT_TRUE(is_believed(rsa().token(R"({"alg":"RS256"})", "{}"), known));
    EXPECT_FALSE(is_believed(Signer::rsa().token(R"({"alg":"RS256"})", "{}"), known));
    EXPECT_FALSE(is_believed(Signer::ec().token(R"({"alg":"ES256"})", "{}"), known));
    EXPECT_FALSE(is_believed(rsa().token(R"({"alg":"RS256"})", "{}"), {}));
}

TEST(IdToken, TheKeyDecidesTheAlgorithm) {
    const auto known = keys();
    for (const char* header :
         {R"({"alg":"ES256","kid":"r"})",
          R"({"alg":"RS256","kid":"e"})",
          R"({"alg":"RS512","kid":"r"})",
          R"({"alg":"PS256","kid":"r"})",
          R"({"alg":"HS256","kid":"r"})",
          R"({"alg":"none"})",
          R"({"alg":"rs256"})",
          R"({"alg":["RS256"]})",
          R"({"alg":"RS256","crit":["b64"],"b64":false})",
          R"({})"})
        EXPECT_FALSE(is_believed(rsa().token(header, "{}"), known)) << header;
}

TEST(IdToken, EveryByteOfItCounts) {
    const auto known = keys();
    const std::string token = ec().token(R"({"alg":"ES256","kid":"e"})", R"({"sub":"ada"})");
    for (std::size_t at = 0; at < token.size(); ++at) {
        std::string changed = token;
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        if (changed != token) {
            EXPECT_FALSE(is_believed(changed, known)) << at;
        }
        EXPECT_FALSE(is_believed(token.substr(0, at), known)) << at;
    }
    EXPECT_FALSE(is_believed(token + "A", known));
    EXPECT_FALSE(is_believed(token + ".", known));
    EXPECT_FALSE(is_believed(token + "=", known));
}

TEST(IdToken, SignaturesOfOddSizesAreRefused) {
    const auto known = keys();
    const std::string text =
        base64url(R"({"alg":"ES256","kid":"e"})") + "." + base64url("{}") + ".";
    for (const std::size_t size : {0u, 1u, 63u, 64u, 65u, 128u, 4096u})
        for (const char fill : {'\0', '\xFF'})
            EXPECT_FALSE(is_believed(text + base64url(std::string(size, fill)), known)) << size;
}

TEST(IdToken, ItsClaimsHold) {
    EXPECT_TRUE(holds(claims()));
    EXPECT_TRUE(holds_with("aud", json::array{"board"}));
    EXPECT_TRUE(holds_with("exp", now - 59)) << "clocks differ";
    EXPECT_TRUE(holds_with("exp", double(now) + 0.5));
    EXPECT_TRUE(holds_with("nbf", now));
}

TEST(IdToken, EachClaimIsChecked) {
    const json::object all = claims();
    for (const auto& each : all)
        if (each.key() != "nbf") {
            EXPECT_FALSE(holds_with(each.key(), std::nullopt)) << each.key();
            EXPECT_FALSE(holds_with(each.key(), nullptr)) << each.key();
            EXPECT_FALSE(holds_with(each.key(), json::object{})) << each.key();
        }
    EXPECT_FALSE(holds_with("iss", "https://accounts.example.com/"));
    EXPECT_FALSE(holds_with("aud", "boards"));
    EXPECT_FALSE(holds_with("aud", json::array{}));
    EXPECT_FALSE(holds_with("aud", json::array{"board", "other"}));
    EXPECT_FALSE(holds_with("azp", "other"));
    EXPECT_FALSE(holds_with("azp", 7));
    EXPECT_FALSE(holds_with("nonce", ""));
    EXPECT_FALSE(holds_with("exp", now - 60));
    EXPECT_FALSE(holds_with("exp", std::uint64_t{1} << 63));
    EXPECT_FALSE(holds_with("exp", 1e300));
    EXPECT_FALSE(holds_with("iat", now + 61));
    EXPECT_FALSE(holds_with("nbf", now + 61));
    EXPECT_FALSE(holds_with("nbf", "soon"));
    EXPECT_FALSE(holds_with("sub", ""));
    EXPECT_FALSE(holds_with("sub", json::string(256, 'a')));
    EXPECT_FALSE(holds_with("sub", json::string("ada\0x", 5)));
    EXPECT_FALSE(holds_with("sub", "ada mallory"));
}

TEST(IdToken, OtherAudiencesAreFineWhenItWasMadeForUs) {
    auto all = claims();
    all["aud"] = json::array{"other", "board"};
    all["azp"] = "board";
    EXPECT_TRUE(holds(all));
}

TEST(Keys, ThatWouldNotBeSafeCountForNothing) {
    const std::vector<std::string> useless{
        Signer::rsa(1024).jwk(),
        rsa().jwk(R"(,"use":"enc")"),
        rsa().jwk(R"(,"alg":"RS512")"),
        rsa().jwk(R"(,"alg":"ES256")"),
        ec().jwk(R"(,"alg":"RS256")"),
        R"({"kty":"oct","k":"c2VjcmV0"})",
        R"({"kty":"RSA","n":"AQAB","e":"AQAB"})",
        R"({"kty":"RSA","n":")" + std::string(4000, 'A') + R"(","e":"AQAB"})",
        R"({"kty":"EC","crv":"P-256","x":")" + base64url(std::string(32, 'a')) + R"(","y":")" +
            base64url(std::string(32, 'b')) + "\"}",
        R"({"kty":"EC","crv":"P-256","x":"","y":""})",
        R"({"kty":7})",
        "{}",
        "null"};
    for (const auto& each : useless) {
        const auto known = parse_keys(R"({"keys":[)" + each + "]}");
        ASSERT_TRUE(known) << each;
        EXPECT_TRUE(known->empty()) << each;
    }
}

TEST(Keys, WhatIsNoKeySetIsNone) {
    for (const char* text : {"", "[]", "{}", R"({"keys":{}})", R"({"keys":[})", "null"})
        EXPECT_FALSE(parse_keys(text)) << text;
}

}  // namespace
}  // namespace svc::test
