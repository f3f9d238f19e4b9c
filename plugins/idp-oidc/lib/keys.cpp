#include "plugins/idp-oidc/lib/keys.hpp"

#include "plugins/idp-oidc/lib/json.hpp"
#include "svc/encoding.hpp"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

namespace svc::idp_oidc {

namespace {

namespace json = boost::json;

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* each) const {
        Free(each);
    }
};
using BigNumber = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using ParamBuilder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using ParamList = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using EcSignature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;
using SharedKey = std::shared_ptr<evp_pkey_st>;

constexpr std::size_t coordinate_size = 32;  // of P-256

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

BigNumber number_of(std::string_view bytes) {
    return BigNumber(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

SharedKey make_key(const char* type, OSSL_PARAM_BLD* builder) {
    const ParamList params(OSSL_PARAM_BLD_to_param(builder));
    const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
    EVP_PKEY* made = nullptr;
    if (!params || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY, params.get()) != 1)
        return nullptr;
    SharedKey key(made, EVP_PKEY_free);
    const KeyContext check(EVP_PKEY_CTX_new_from_pkey(nullptr, made, nullptr));
    if (!check || EVP_PKEY_public_check(check.get()) != 1) return nullptr;  // not on the curve
    return key;
}

std::optional<std::string> bytes_in(const json::object& jwk, std::string_view name) {
    const auto text = text_in(jwk, name);
    auto bytes = text ? from_base64(*text) : std::nullopt;
    if (bytes && (bytes->empty() || bytes->size() > 1024)) return std::nullopt;
    return bytes;
}

SharedKey rsa_key(const json::object& jwk) {
    constexpr int fewest_bits = 2048;
    const auto n = bytes_in(jwk, "n"), e = bytes_in(jwk, "e");
    if (!n || !e) return nullptr;
    const BigNumber modulus = number_of(*n), exponent = number_of(*e);
    if (!modulus || !exponent || BN_num_bits(modulus.get()) < fewest_bits) return nullptr;
    const ParamBuilder builder(OSSL_PARAM_BLD_new());
    if (!builder || !OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) ||
        !OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()))
        return nullptr;
    return make_key("RSA", builder.get());
}

SharedKey ec_key(const json::object& jwk) {
    const auto x = bytes_in(jwk, "x"), y = bytes_in(jwk, "y");
    if (text_in(jwk, "crv") != "P-256" || !x || !y || x->size() != coordinate_size ||
        y->size() != coordinate_size)
        return nullptr;
    const std::string point = '\x04' + *x + *y;
    const ParamBuilder builder(OSSL_PARAM_BLD_new());
    if (!builder ||
        !OSSL_PARAM_BLD_push_utf8_string(
            builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0
        ) ||
        !OSSL_PARAM_BLD_push_octet_string(
            builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()
        ))
        return nullptr;
    return make_key("EC", builder.get());
}

std::optional<Key> parse_key(const json::object& jwk) {
    const auto type = text_in(jwk, "kty"), use = text_in(jwk, "use"), named = text_in(jwk, "alg");
    Key key{.id = text_in(jwk, "kid").value_or("")};
    if (use && *use != "sig") return std::nullopt;
    if (type == "RSA") {
        key.algorithm = Algorithm::rs256;
        key.key = rsa_key(jwk);
    } else if (type == "EC") {
        key.algorithm = Algorithm::es256;
        key.key = ec_key(jwk);
    }
    if (!key.key || (named && algorithm_of(*named) != key.algorithm)) return std::nullopt;
    return key;
}

/// ES256 signs with the two numbers side by side; OpenSSL wants them in DER.
std::string as_der(std::string_view signature) {
    if (signature.size() != 2 * coordinate_size) return {};
    BigNumber r = number_of(signature.substr(0, coordinate_size));
    BigNumber s = number_of(signature.substr(coordinate_size));
    const EcSignature pair(ECDSA_SIG_new());
    if (!r || !s || !pair || ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return {};
    (void)r.release();  // the pair owns them now
    (void)s.release();
    unsigned char* der = nullptr;
    const int size = i2d_ECDSA_SIG(pair.get(), &der);
    if (size <= 0) return {};
    std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
    OPENSSL_free(der);
    return out;
}

}  // namespace

std::optional<Algorithm> algorithm_of(std::string_view name) {
    if (name == "RS256") return Algorithm::rs256;
    if (name == "ES256") return Algorithm::es256;
    return std::nullopt;
}

std::optional<std::vector<Key>> parse_keys(std::string_view jwks) {
    const auto set = parse_object(jwks);
    const auto* keys = set ? set->if_contains("keys") : nullptr;
    if (!keys || !keys->is_array()) return std::nullopt;
    std::vector<Key> out;
    for (const auto& each : keys->get_array())
        if (const auto* jwk = each.if_object())
            if (auto key = parse_key(*jwk)) out.push_back(std::move(*key));
    return out;
}

bool is_signed(const Key& key, std::string_view text, std::string_view signature) {
    const std::string der = key.algorithm == Algorithm::es256 ? as_der(signature) : "";
    const std::string_view checked = key.algorithm == Algorithm::es256 ? der : signature;
    if (checked.empty()) return false;
    const DigestContext context(EVP_MD_CTX_new());
    return context &&
           EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.key.get()) ==
               1 &&
           EVP_DigestVerify(
               context.get(), bytes_of(checked), checked.size(), bytes_of(text), text.size()
           ) == 1;
}

}  // namespace svc::idp_oidc
