#include "plugins/store-s3/store.hpp"

#include "plugins/store-s3/lib/listing.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

namespace svc::store_s3 {

namespace {

// Forms are posted and links followed by clocks that are not ours.
constexpr std::int64_t shortest_link = 60;

Place place_of(const Settings& settings, const std::string& endpoint) {
    const auto style = settings.path_style ? Place::Style::path : Place::Style::virtual_host;
    return Place::of(endpoint, settings.bucket, style);
}

[[noreturn]] void refused(const std::string& what, const HttpAnswer& answer) {
    throw files::StoreError(
        what + ": " + std::to_string(answer.status) + ' ' + error_code(answer.body)
    );
}

}  // namespace

Store::Store(const Settings& settings)
    : settings_(settings),
      account_{settings.access_key, settings.secret_key, settings.region},
      public_(place_of(
          settings, settings.public_endpoint.empty() ? settings.endpoint : settings.public_endpoint
      )),
      service_(settings) {}

files::UploadForm Store::upload_form(const files::UploadTerms& terms) const {
    auto fields = signed_form(
        account_,
        {.bucket = settings_.bucket,
         .key = named(terms.key),
         .content_type = terms.content_type,
         .most_bytes = terms.most_bytes,
         .until = terms.until},
        Timestamp::now()
    );
    return {.url = public_.origin() + public_.root + '/', .fields = std::move(fields)};
}

std::string Store::download_url(const files::Download& what) const {
    const auto now = Timestamp::now();
    const auto seconds = (what.until.micros - now.micros) / 1'000'000;
    return signed_link(
        account_,
        public_,
        named(what.key),
        {{"response-cache-control", "private, max-age=" + std::to_string(seconds)},
         {"response-content-disposition", what.disposition},
         {"response-content-type", what.content_type}},
        now,
        std::max(seconds, shortest_link)
    );
}

std::optional<files::Contents> Store::take(const std::string& from, const std::string& to) {
    if (!copy(named(from), named(to))) return std::nullopt;
    return look_at(named(to));
}

/// False when there is nothing to copy. Services that began to answer may still fail, and then say
/// so with status 200.
bool Store::copy(const std::string& from, const std::string& to) const {
    const auto answer = service_.run(
        {.method = "PUT",
         .key = to,
         .headers = {{"x-amz-copy-source", '/' + settings_.bucket + '/' + from}}}
    );
    if (answer.status == 404 && error_code(answer.body) != "NoSuchBucket") return false;
    if (answer.status != 200 || answer.body.find("CopyObjectResult") == std::string::npos)
        refused("copying", answer);
    return true;
}

std::optional<files::Contents> Store::look_at(const std::string& key) const {
    files::Contents contents;
    Sha256Sum sum;
    const auto answer = service_.run({.method = "GET", .key = key}, [&](std::string_view bytes) {
        sum.add(bytes);
        contents.size += static_cast<std::int64_t>(bytes.size());
        const auto wanted = files::Contents::sniffed - contents.beginning.size();
        contents.beginning += bytes.substr(0, wanted);
    });
    if (answer.status == 404) return std::nullopt;
    if (answer.status != 200) refused("reading", answer);
    contents.sha256 = hex(sum.finish());
    return contents;
}

std::vector<std::string> Store::keys_below(const std::string& prefix) const {
    std::vector<std::string> keys;
    std::optional<std::string> next;
    do {
        Pairs query{{"list-type", "2"}, {"prefix", prefix}};
        if (next) query["continuation-token"] = *next;
        const auto answer = service_.run({.method = "GET", .key = "", .query = query});
        const auto listing = answer.status == 200 ? parse_listing(answer.body) : std::nullopt;
        if (!listing) refused("listing", answer);
        keys.insert(keys.end(), listing->keys.begin(), listing->keys.end());
        next = listing->next;
    } while (next);
    return keys;
}

void Store::clear(const std::string& prefix, const std::optional<std::string>& keep) {
    const auto kept = keep ? std::optional(named(*keep)) : std::nullopt;
    for (const auto& key : keys_below(named(prefix))) {
        if (key == kept) continue;
        const auto answer = service_.run({.method = "DELETE", .key = key});
        if (answer.status != 204 && answer.status != 200 && answer.status != 404)
            refused("removing", answer);
    }
}

bool Store::read(const std::string& key, const BackupPart::Sink& to) {
    const auto answer = service_.run({.method = "GET", .key = named(key)}, to);
    if (answer.status == 404 && error_code(answer.body) != "NoSuchBucket") return false;
    if (answer.status != 200) refused("reading", answer);
    return true;
}

void Store::write(const std::string& key, std::int64_t size, const BackupPart::Source& from) {
    const auto answer =
        service_.run({.method = "PUT", .key = named(key), .body = from, .body_size = size});
    if (answer.status != 200) refused("writing", answer);
}

Finding Store::check() const {
    const auto answer =
        service_.run({.method = "GET", .key = "", .query = {{"list-type", "2"}, {"max-keys", "1"}}}
        );
    if (answer.status != 200) refused("asking the bucket " + settings_.bucket, answer);
    return {Finding::Level::ok, "files are kept in the bucket " + settings_.bucket};
}

}  // namespace svc::store_s3
