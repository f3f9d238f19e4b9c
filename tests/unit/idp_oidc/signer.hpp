#pragma once

#include "plugins/idp-oidc/lib/id_token.hpp"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <stdexcept>

/// What a provider does: keys, and tokens signed with them.
namespace svc::test {

inline std::string base64url(std::string_view bytes) {
    std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const int size = EVP_EncodeBlock(
        reinterpret_cast<unsigned char*>(out.data()),
        reinterpret_cast<const unsigned char*>(bytes.data()),
        static_cast<int>(bytes.size())
    );
    out.resize(static_cast<std::size_t>(size));
    while (out.ends_with('=')) out.pop_back();
    for (char& each : out) each = each == '+' ? '-' : each == '/' ? '_' : each;
    return out;
}

class Signer {
public:
    static Signer rsa(unsigned bits = 2048) { return Signer(EVP_RSA_gen(bits)); }
    static Signer ec(const char* curve = "P-256") { return Signer(EVP_EC_gen(curve)); }

    /// RS256 or ES256, as the key has it.
    std::string sign(std::string_view text) const {
        const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(
            EVP_MD_CTX_new(), EVP_MD_CTX_free
        );
        std::size_t size = 0;
        const auto* data = reinterpret_cast<const unsigned char*>(text.data());
        EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get());
        EVP_DigestSign(context.get(), nullptr, &size, data, text.size());
        std::string out(size, '\0');
        EVP_DigestSign(
            context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, data, text.size()
        );
        out.resize(size);
        return EVP_PKEY_is_a(key_.get(), "EC") ? side_by_side(out) : out;
    }

    std::string jwk(std::string_view more = {}) const {
        const bool is_ec = EVP_PKEY_is_a(key_.get(), "EC");
        std::string out = is_ec ? R"({"kty":"EC","crv":"P-256")" : R"({"kty":"RSA")";
        const auto add = [&](std::string_view name, const char* param) {
            ((out += ",\"") += name) += "\":\"" + base64url(number(param, is_ec ? 32 : 0)) + "\"";
        };
        if (is_ec) {
            add("x", OSSL_PKEY_PARAM_EC_PUB_X);
            add("y", OSSL_PKEY_PARAM_EC_PUB_Y);
        } else {
            add("n", OSSL_PKEY_PARAM_RSA_N);
            add("e", OSSL_PKEY_PARAM_RSA_E);
        }
        return (out += more) += "}";
    }

    /// A token with this header and these claims.
    std::string token(std::string_view header, std::string_view claims) const {
        const std::string text = base64url(header) + "." + base64url(claims);
        return text + "." + base64url(sign(text));
    }

private:
    explicit Signer(EVP_PKEY* key) : key_(key, EVP_PKEY_free) {
        if (!key) throw std::runtime_error("no key could be made");
    }

    std::string number(const char* param, int at_least) const {
        BIGNUM* found = nullptr;
        if (EVP_PKEY_get_bn_param(key_.get(), param, &found) != 1)
            throw std::runtime_error(std::string("the key has no ") + param);
        std::string out(static_cast<std::size_t>(std::max(BN_num_bytes(found), at_least)), '\0');
        BN_bn2binpad(
            found, reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size())
        );
        BN_free(found);
        return out;
    }

    static std::string side_by_side(const std::string& der) {
        const auto* at = reinterpret_cast<const unsigned char*>(der.data());
        ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
        std::string out(64, '\0');
        auto* bytes = reinterpret_cast<unsigned char*>(out.data());
        BN_bn2binpad(ECDSA_SIG_get0_r(pair), bytes, 32);
        BN_bn2binpad(ECDSA_SIG_get0_s(pair), bytes + 32, 32);
        ECDSA_SIG_free(pair);
        return out;
    }

    std::shared_ptr<EVP_PKEY> key_;  // shared: signers are copied
};

}  // namespace svc::test
