#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace svc {

/// Why a request ends early. The HTTP status and the default code of each live in one
/// table in failure.cpp (contract section 4.4).
enum class Fault {
    missing_version,    ///< 400
    unauthorized,       ///< 401
    plan_limit,         ///< 402 plan_limit_reached
    past_due,           ///< 402 workspace_past_due
    restricted,         ///< 403 restricted_resource
    csrf,               ///< 403 csrf_failed
    unverified,         ///< 403 email_not_verified
    not_found,          ///< 404 object_not_found
    no_route,           ///< 404 invalid_request_url
    wrong_method,       ///< 405 invalid_request
    conflict,           ///< 409 conflict_error
    lease_lost,         ///< 409 lease_lost
    wip_limit,          ///< 409 wip_limit_reached
    version_conflict,   ///< 412
    too_large,          ///< 413 request_too_large
    unsupported_media,  ///< 415 unsupported_media_type
    invalid,            ///< 422 validation_error
    rate_limited,       ///< 429
    internal,           ///< 500
    unavailable,        ///< 503 service_unavailable: passes by itself
    timed_out,          ///< 504 gateway_timeout: takes longer than anything may, today and tomorrow
};

/// Thrown to end a request. `what()` is for people and says who refuses and why.
class Failure : public std::runtime_error {
public:
    Failure(Fault fault, const std::string& message);
    ~Failure() override;
    Failure(const Failure&) = default;

    /// A 422 with its `detail`: a JSON array as Reader::issues() gives it.
    static Failure invalid_input(std::string detail);
    /// A 422 about one place: `loc` as a JSON array, such as `["body","name"]`.
    static Failure invalid_at(
        std::string_view loc, std::string_view type, std::string_view message
    );
    /// What invalid_at() says of a place, as an item of `detail`.
    static std::string issue_at(
        std::string_view loc, std::string_view type, std::string_view message
    );

    /// Adds a member of `additional_data` (text, or a list of text).
    Failure&& with(std::string_view key, std::string value) &&;
    Failure&& with(std::string_view key, std::vector<std::string> values) &&;
    /// Adds an answer header such as Retry-After or Allow.
    Failure&& with_header(std::string_view name, std::string value) &&;
    /// Replaces the table's code, for a module whose refusals have codes of their own.
    Failure&& with_code(std::string code) &&;

    Fault fault() const { return fault_; }
    int status() const;
    std::string_view code() const;
    /// The body of contract section 4.4.
    std::string body(std::string_view request_id) const;
    const std::vector<std::pair<std::string, std::string>>& headers() const;

private:
    struct Details;
    Fault fault_;
    std::shared_ptr<Details> details_;  // shared: exceptions are copied when thrown
};

/// What strangers get: existence is not revealed to those who may not look, so absent,
/// foreign and invisible things answer alike. `thing` as in "There is no such card."
[[noreturn]] void not_found(std::string_view thing);

}  // namespace svc
