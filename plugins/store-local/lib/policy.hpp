#pragma once

#include "svc/types.hpp"

#include <map>

namespace svc::store_local {

/// The fields of a form, their names in lower case.
using Fields = std::map<std::string, std::string>;

/// What a signed form may upload, in the words of S3's POST policies: a JSON object of `expiration`
/// and `conditions`, each of them {"field": "value"}, ["eq", "$field", "value"],
/// ["starts-with", "$field", "value"] or ["content-length-range", least, most].
class Policy {
public:
    /// A Failure 422 when it is none.
    static Policy parse(std::string_view json);

    /// A Failure 403 says which rule the form breaks: it came too late, a condition is not met, or
    /// it has a field that no condition is about.
    void check(const Fields& fields, const Timestamp& now) const;

    std::int64_t least() const { return least_; }
    std::int64_t most() const { return most_; }

private:
    struct Condition {
        std::string field, value;
        bool prefix = false;
    };
    Timestamp expiration_;
    std::vector<Condition> conditions_;
    std::int64_t least_ = 0, most_ = 0;
};

/// The policy of a form for exactly this.
std::string policy_text(
    std::string_view key,
    std::string_view content_type,
    std::int64_t most_bytes,
    const Timestamp& until
);

}  // namespace svc::store_local
