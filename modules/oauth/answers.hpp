#pragma once

#include "svc/http.hpp"

#include <boost/json/object.hpp>

#include <map>
#include <stdexcept>

/// What the endpoints for clients take and answer. They speak as their RFCs have it, not as /v1
/// does, and take no cookies, so pages of any site may call them.
namespace svc::oauth {

/// A refusal as RFC 6749, section 5.2, has it. The text is for developers.
class OAuthError : public std::runtime_error {
public:
    OAuthError(std::string error, const std::string& why, int status = 400)
        : std::runtime_error(why), error_(std::move(error)), status_(status) {}
    const std::string& error() const { return error_; }
    int status() const { return status_; }

private:
    std::string error_;
    int status_;
};

http::Answer json_answer(int status, const boost::json::object& body);
http::Answer error_answer(const OAuthError& error);
/// What every refusal says, those that are made before an endpoint runs among them.
http::Headers with_refusals(const http::Request& request, int status);
/// To a browser that asks on behalf of a page whether it may call.
http::Answer preflight_answer();

/// The members of a form; OAuthError when the body is none, or names one twice.
class Form {
public:
    explicit Form(const http::Request& request);

    /// Empty when it is absent.
    const std::string& get(const std::string& name) const;
    /// OAuthError when it is absent or empty.
    const std::string& require(const std::string& name) const;

private:
    std::map<std::string, std::string> members_;
};

}  // namespace svc::oauth
