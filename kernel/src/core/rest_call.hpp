#pragma once

#include "core/routes.hpp"
#include "core/run.hpp"

namespace svc::core {

/// A REST request on its way into an operation's input. Used by one thread; its request and
/// match outlive it.
class RestCall final : public Input {
public:
    RestCall(const Match& match, const http::Request& request);
    ~RestCall() override;

    /// The workspace the request names, in its path, the header X-Svc-Org or the query. What is
    /// wrong with the naming is said by check_syntax().
    const std::optional<Uuid>& requested_org() const { return requested_org_; }

    void check_workspace() const override;
    void check_syntax() override;
    void fill(void* input) override;
    std::optional<std::int64_t> expected_version() const override { return expected_version_; }
    std::string_view named_lease() const override { return request_.header("x-svc-lease"); }
    std::string_view body() const override { return request_.body; }
    std::optional<Subject> subject() const override;

    /// Turns the answer into a 304 when the client has this version already.
    void not_modified(http::Answer& answer) const;

private:
    void find_workspace();

    const Operation& operation_;
    const http::Request& request_;
    decl::Parts parts_;
    std::optional<Uuid> requested_org_;
    std::optional<Failure> bad_workspace_;
    std::optional<decl::RestInput> input_;
    std::optional<std::int64_t> expected_version_;
};

}  // namespace svc::core
