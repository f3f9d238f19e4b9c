#include "plugins/store-s3/lib/signing.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <charconv>
#include <stdexcept>

namespace svc::store_s3 {

namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view unsigned_payload = "UNSIGNED-PAYLOAD";

std::string hmac(std::string_view key, std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
    unsigned size = 0;
    HMAC(
        EVP_sha256(),
        key.data(),
        static_cast<int>(key.size()),
        reinterpret_cast<const unsigned char*>(text.data()),
        text.size(),
        bytes.data(),
        &size
    );
    return {reinterpret_cast<const char*>(bytes.data()), size};
}

/// 2026-06-19T10:00:00Z
std::string in_seconds(const Timestamp& time) { return time.str().substr(0, 19) + 'Z'; }

/// 20260619T100000Z
std::string stamp_of(const Timestamp& time) {
    std::string out;
    for (const char each : in_seconds(time))
        if (each != '-' && each != ':') out += each;
    return out;
}

/// What is signed on one day, in one region.
struct Scope {
    Scope(const Account& account, const Timestamp& now)
        : stamp(stamp_of(now)), day(stamp.substr(0, 8)) {
        text = day + '/' + account.region + "/s3/aws4_request";
        credential = account.access_key + '/' + text;
        key = hmac("AWS4" + account.secret_key, day);
        for (const std::string_view each :
             {std::string_view(account.region),
              std::string_view("s3"),
              std::string_view("aws4_request")})
            key = hmac(key, each);
    }
    std::string sign(std::string_view what) const { return hex(hmac(key, what)); }
    /// The signature of a request in its canonical form.
    std::string sign_request(const std::string& canonical) const {
        return sign(
            std::string(algorithm) + '\n' + stamp + '\n' + text + '\n' + hex(sha256(canonical))
        );
    }
    std::string stamp, day, text, credential, key;
};

/// Headers by their lower-case names.
std::string names_of(const Pairs& headers) {
    std::string out;
    for (const auto& [name, value] : headers) (out += out.empty() ? "" : ";") += name;
    return out;
}

std::string canonical_request(
    std::string_view method,
    std::string_view path,
    const Pairs& query,
    const Pairs& headers,
    std::string_view payload
) {
    std::string out(method);
    out += '\n' + percent_encoded(path, "/") + '\n' + query_text(query) + '\n';
    for (const auto& [name, value] : headers) out += name + ':' + value + '\n';
    out += '\n' + names_of(headers) + '\n';
    return out += payload;
}

}  // namespace

std::string query_text(const Pairs& query) {
    std::string out;
    for (const auto& [name, value] : query)
        (out += out.empty() ? "" : "&") += percent_encoded(name) + '=' + percent_encoded(value);
    return out;
}

Place Place::of(const std::string& endpoint, const std::string& bucket, Style style) {
    Place place;
    std::string_view rest = endpoint;
    if (rest.starts_with("https://")) rest.remove_prefix(8);
    else if (rest.starts_with("http://")) {
        rest.remove_prefix(7);
        place.secure = false;
        place.port = 80;
    } else throw std::runtime_error(endpoint + " begins with neither https:// nor http://");
    while (rest.ends_with('/')) rest.remove_suffix(1);
    if (const auto colon = rest.rfind(':'); colon != rest.npos) {
        const auto digits = rest.substr(colon + 1);
        const auto* end = digits.data() + digits.size();
        const auto [stop, error] = std::from_chars(digits.data(), end, place.port);
        if (error != std::errc() || stop != end || place.port == 0)
            throw std::runtime_error(endpoint + " has no such port");
        rest = rest.substr(0, colon);
    }
    constexpr std::string_view of_hosts =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    if (rest.empty() || rest.find_first_not_of(of_hosts) != rest.npos)
        throw std::runtime_error(endpoint + " is not the address of a host alone");
    place.host = rest;
    if (style == Style::path) place.root = '/' + bucket;
    else place.host = bucket + '.' + place.host;
    return place;
}

std::string Place::authority() const {
    return port == (secure ? 443 : 80) ? host : host + ':' + std::to_string(port);
}

std::string Place::path_of(std::string_view key) const { return root + '/' + std::string(key); }

Pairs signed_form(const Account& account, const FormTerms& terms, const Timestamp& now) {
    const Scope scope(account, now);
    // A list, because the order is the SDK's, which makes the texts comparable.
    const std::vector<std::pair<std::string, std::string>> fixed{
        {"Content-Type", terms.content_type},
        {"bucket", terms.bucket},
        {"X-Amz-Algorithm", std::string(algorithm)},
        {"X-Amz-Credential", scope.credential},
        {"X-Amz-Date", scope.stamp},
        {"key", terms.key}};
    std::string policy = R"({"expiration":")" + in_seconds(terms.until) +
                         R"(","conditions":[["content-length-range",1,)" +
                         std::to_string(terms.most_bytes) + ']';
    Pairs fields;
    for (const auto& [name, value] : fixed) {
        policy += R"(,{")" + name + R"(":)";
        write_text(value, policy);
        policy += '}';
        fields.emplace(name, value);
    }
    policy += "]}";
    fields["Policy"] = base64(policy, Base64::padded);
    fields["X-Amz-Signature"] = scope.sign(fields["Policy"]);
    return fields;
}

std::string signed_link(
    const Account& account,
    const Place& place,
    std::string_view key,
    Pairs query,
    const Timestamp& now,
    std::int64_t seconds
) {
    const Scope scope(account, now);
    query["X-Amz-Algorithm"] = algorithm;
    query["X-Amz-Content-Sha256"] = unsigned_payload;
    query["X-Amz-Credential"] = scope.credential;
    query["X-Amz-Date"] = scope.stamp;
    query["X-Amz-Expires"] = std::to_string(seconds);
    query["X-Amz-SignedHeaders"] = "host";
    const auto path = place.path_of(key);
    const auto request =
        canonical_request("GET", path, query, {{"host", place.authority()}}, unsigned_payload);
    return place.origin() + percent_encoded(path, "/") + '?' + query_text(query) +
           "&X-Amz-Signature=" + scope.sign_request(request);
}

Pairs signed_headers(
    const Account& account,
    const Place& place,
    std::string_view method,
    std::string_view path,
    const Pairs& query,
    Pairs headers,
    const Timestamp& now,
    Payload payload
) {
    const Scope scope(account, now);
    const auto body = payload == Payload::empty ? hex(sha256("")) : "UNSIGNED-PAYLOAD";
    headers["x-amz-content-sha256"] = body;
    headers["x-amz-date"] = scope.stamp;
    Pairs all = headers;
    all["host"] = place.authority();
    const auto signature = scope.sign_request(canonical_request(method, path, query, all, body));
    std::string& said = headers["authorization"];
    ((said = algorithm) += " Credential=") += scope.credential;
    (said += ", SignedHeaders=") += names_of(all);
    (said += ", Signature=") += signature;
    return headers;
}

}  // namespace svc::store_s3
