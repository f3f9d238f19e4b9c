#pragma once

#include "svc/types.hpp"

#include <map>
#include <string>
#include <string_view>

/// AWS Signature Version 4, as far as this store needs it: forms, links and requests without a
/// body.
namespace svc::store_s3 {

/// Where a bucket is.
struct Place {
    bool secure = true;
    std::string host;  ///< without port
    std::uint16_t port = 443;
    std::string root;  ///< what every path begins with: "" or "/bucket"

    enum class Style { path, virtual_host };
    /// Of `https://host[:port]`; throws std::runtime_error when it is something else.
    static Place of(const std::string& endpoint, const std::string& bucket, Style style);
    /// As in the Host header: with the port, unless it is the usual one.
    std::string authority() const;
    std::string origin() const { return (secure ? "https://" : "http://") + authority(); }
    std::string path_of(std::string_view key) const;
};

struct Account {
    std::string access_key, secret_key, region;
};

/// Names and values, not encoded yet.
using Pairs = std::map<std::string, std::string>;

/// A form that may upload exactly this until then, as `createPresignedPost` of AWS's SDK makes it.
struct FormTerms {
    std::string bucket, key, content_type;
    std::int64_t most_bytes = 0;
    Timestamp until;
};
Pairs signed_form(const Account& account, const FormTerms& terms, const Timestamp& now);

/// A link that gives the object away until then. `query` is what the answer is to say of itself.
std::string signed_link(
    const Account& account,
    const Place& place,
    std::string_view key,
    Pairs query,
    const Timestamp& now,
    std::int64_t seconds
);

/// What a request says of its body: that there is none, or that it is not signed.
enum class Payload { empty, unsigned_body };

/// The headers that sign a request; `headers` are those it has besides Host.
Pairs signed_headers(
    const Account& account,
    const Place& place,
    std::string_view method,
    std::string_view path,
    const Pairs& query,
    Pairs headers,
    const Timestamp& now,
    Payload payload = Payload::empty
);

/// As it stands in the URL: sorted and encoded.
std::string query_text(const Pairs& query);
/// Letters, digits and -._~ stay; of a path, slashes as well.
std::string encoded(std::string_view text, bool is_path = false);

}  // namespace svc::store_s3
