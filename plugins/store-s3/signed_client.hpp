#pragma once

#include "modules/files/api.hpp"
#include "modules/lib/http_client/http_client.hpp"
#include "plugins/store-s3/lib/signing.hpp"
#include "plugins/store-s3/settings.hpp"

namespace svc::store_s3 {

/// Asking the service, one signed request at a time. Whatever keeps it from answering in time is a
/// files::StoreError. Any thread.
class SignedClient {
public:
    explicit SignedClient(const Settings& settings);

    struct Request {
        std::string method, key;  ///< an empty key: the bucket itself
        Pairs query{}, headers{};
        BackupPart::Source body{};  ///< of a PUT; none: it is empty
        std::int64_t body_size = 0;
    };
    /// `sink` takes a body of 200 as it comes in; others are short and are kept.
    HttpAnswer run(const Request& request, const HttpClient::Sink& sink = nullptr) const;

private:
    const Account account_;
    const Place place_;
    const HttpClient client_;
};

}  // namespace svc::store_s3
