#include "plugins/store-s3/signed_client.hpp"

#include "svc/encoding.hpp"

namespace svc::store_s3 {

namespace {

// Of an answer that is no object.
constexpr std::size_t most_kept = 4 << 20;
// Bytes of a backup may take the time that a slow line needs besides.
constexpr std::int64_t slowest = 256 << 10;  // a second

}  // namespace

SignedClient::SignedClient(const Settings& settings)
    : account_{settings.access_key, settings.secret_key, settings.region},
      place_(Place::of(
          settings.endpoint,
          settings.bucket,
          settings.path_style ? Place::Style::path : Place::Style::virtual_host
      )),
      client_(
          {.time = std::chrono::seconds(settings.timeout_seconds),
           .most_bytes = most_kept,
           .ca_file = settings.ca_file}
      ) {}

HttpAnswer SignedClient::run(const Request& request, const HttpClient::Sink& sink) const {
    const auto path = place_.path_of(request.key);
    const auto headers = signed_headers(
        account_,
        place_,
        request.method,
        path,
        request.query,
        request.headers,
        Timestamp::now(),
        request.body ? Payload::unsigned_body : Payload::empty
    );
    HttpRequest signed_request{
        .method = request.method,
        .to =
            {.secure = place_.secure,
             .host = place_.host,
             .port = place_.port,
             .target = percent_encoded(path, "/") +
                       (request.query.empty() ? "" : '?' + query_text(request.query))},
        .source = request.body,
        .source_bytes = request.body_size,
        .more_time = std::chrono::seconds(request.body_size / slowest),
    };
    for (const auto& [name, value] : headers) signed_request.headers.emplace_back(name, value);
    try {
        return client_.run(signed_request, sink);
    } catch (const HttpError& problem) {
        throw files::StoreError(problem.what());
    }
}

}  // namespace svc::store_s3
