#pragma once

#include <boost/json/fwd.hpp>

#include <stdexcept>
#include <string>
#include <vector>

/// What a client says of itself, when it registers (RFC 7591) or in the document that its id is the
/// address of.
namespace svc::oauth {

struct ClientMetadata {
    std::string name;
    std::vector<std::string> redirect_uris;
};

/// `error` is of RFC 7591, section 3.2.2; the text is for developers.
class BadMetadata : public std::runtime_error {
public:
    BadMetadata(std::string error, const std::string& why)
        : std::runtime_error(why), error_(std::move(error)) {}
    const std::string& error() const { return error_; }

private:
    std::string error_;
};

/// Throws BadMetadata. The name is fit to be shown, and never empty.
ClientMetadata read_metadata(
    const boost::json::value& value, const std::vector<std::string>& redirect_schemes
);

/// The same of a document that describes the client of this id.
ClientMetadata read_document(
    const boost::json::value& value,
    const std::string& client_id,
    const std::vector<std::string>& redirect_schemes
);

/// Whether an id may be the address of such a document: https, with a path, and no more than that
/// and a query.
bool is_document_address(std::string_view client_id);

/// On one line, without what turns or hides text, of 80 characters at most.
std::string shown_name(std::string_view name);

}  // namespace svc::oauth
