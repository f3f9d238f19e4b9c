#pragma once

#include "modules/files/api.hpp"
#include "plugins/store-s3/lib/signing.hpp"
#include "plugins/store-s3/settings.hpp"

#include <Poco/Net/Context.h>

#include <chrono>
#include <functional>

namespace svc::store_s3 {

/// Asking the service, one signed request at a time. Whatever keeps it from answering in time is a
/// files::StoreError. Any thread.
class Conversation {
public:
    explicit Conversation(const Settings& settings);

    struct Ask {
        std::string method, key;  ///< an empty key: the bucket itself
        Pairs query{}, headers{};
        BackupPart::Source body{};  ///< of a PUT; none: it is empty
        std::int64_t body_size = 0;
    };
    struct Answer {
        int status = 0;
        std::string body;  ///< empty when somebody else took it
    };
    /// Takes a body of 200 as it comes in; others are short and are kept.
    using Sink = std::function<void(std::string_view)>;
    Answer run(const Ask& ask, const Sink& sink = nullptr) const;

private:
    const Account account_;
    const Place place_;
    const std::chrono::seconds time_;
    Poco::Net::Context::Ptr context_;
};

}  // namespace svc::store_s3
