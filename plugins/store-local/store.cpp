#include "plugins/store-local/store.hpp"

#include "plugins/store-local/lib/policy.hpp"
#include "plugins/store-local/lib/range.hpp"
#include "plugins/store-local/upload.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"
#include "svc/workspace_jobs.hpp"

#include <cstdlib>

namespace svc::store_local {

namespace {

constexpr std::string_view folder = "/storage/";
constexpr std::string_view upload_path = "/storage/upload";
// Of a form besides its file.
constexpr std::size_t most_of_form = 64 << 10;
// What a page can do that is made of it: nothing.
constexpr std::string_view page_policy = "default-src 'none'; sandbox";
// What is signed says all there is to say of who may: pages may stand at another address than the
// store, and no cookie counts here.
const std::pair<std::string, std::string> for_any_page{"Access-Control-Allow-Origin", "*"};

/// What a link says, and is signed for.
struct LinkQuery {
    std::string expires, type, disposition, signature;

    static std::optional<LinkQuery> parse(std::string_view query) {
        const auto pairs = http::parse_query(query);
        if (!pairs) return std::nullopt;
        LinkQuery out;
        for (const auto& [name, value] : *pairs) {
            if (name == "expires") out.expires = value;
            else if (name == "type") out.type = value;
            else if (name == "disposition") out.disposition = value;
            else if (name == "signature") out.signature = value;
        }
        return out;
    }
    std::string signed_text(std::string_view key) const {
        return std::string(key) + '\n' + expires + '\n' + type + '\n' + disposition;
    }
    std::int64_t seconds_left() const {
        const auto now = Timestamp::now().micros / 1'000'000;
        return std::strtoll(expires.c_str(), nullptr, 10) - now;
    }
};

[[noreturn]] void gone() { not_found("file"); }

/// The object, or as much of it as is asked for, into the answer.
void put(http::Answer& answer, const Objects::Opened& opened, std::string_view range) {
    const auto [kind, piece] = range_of(range, opened.size);
    const bool whole = kind != Ranged::Kind::piece;
    auto body = std::make_shared<const http::FileBody>(
        opened.descriptor, whole ? 0 : piece.offset, whole ? opened.size : piece.size
    );
    const auto of_all = '/' + std::to_string(opened.size);
    if (kind == Ranged::Kind::beyond) {
        answer.status = 416;
        answer.headers.emplace_back("Content-Range", "bytes *" + of_all);
        return;
    }
    answer.file = std::move(body);
    if (whole) return;
    const auto last = piece.offset + piece.size - 1;
    answer.status = 206;
    answer.headers.emplace_back(
        "Content-Range",
        "bytes " + std::to_string(piece.offset) + '-' + std::to_string(last) + of_all
    );
}

}  // namespace

Store::Store(Kernel& kernel, const Settings& settings)
    : kernel_(kernel),
      settings_(settings),
      objects_(
          settings.folder.empty() ? std::filesystem::path(kernel.var_folder() + "/objects")
                                  : std::filesystem::absolute(settings.folder)
      ) {}

void Store::add_routes(Kernel& kernel) {
    kernel.add(Route{
        .method = "POST",
        .path = std::string(upload_path),
        .body_limit = static_cast<std::size_t>(kernel.use<files::Files>().largest()) + most_of_form,
        .handle =
            [](RouteCall& call) {
                auto* upload = static_cast<Upload*>(call.body_sink());
                if (!upload) throw Failure(Fault::invalid, "There is no form in this request.");
                upload->finish();
                return http::Answer{.status = 204, .headers = {for_any_page}};
            },
        .receive = [this](const http::Request& head) -> std::unique_ptr<http::BodySink> {
            const auto boundary = boundary_of(head.header("content-type"));
            if (!boundary)
                throw Failure(Fault::invalid, "Files are uploaded as multipart/form-data.");
            return std::make_unique<Upload>(*this, *boundary);
        },
    });
    kernel.add(Route{
        .method = "GET",
        .path = std::string(folder) + "*",
        .handle = [this](RouteCall& call) { return give(call.request()); },
    });
    kernel.use<Upkeep>().add(Check{"store", [this] { return objects_.check(); }});
    add_recurring_job(kernel, "store-local.remove_unfinished", std::chrono::hours(1), [this] {
        objects_.remove_unfinished(std::chrono::hours(24));
    });
}

std::string Store::public_url() const {
    auto url = settings_.public_url.empty() ? kernel_.base_url() : settings_.public_url;
    while (url.ends_with('/')) url.pop_back();
    return url;
}

std::string Store::origin() const {
    const auto url = public_url();
    const auto host = url.find("://");
    return host == url.npos ? std::string() : url.substr(0, url.find('/', host + 3));
}

std::string Store::signature_of(std::string_view policy) const {
    return hex(kernel_.sign("storage.upload", policy));
}

files::UploadForm Store::upload_form(const files::UploadTerms& terms) const {
    const auto policy = base64(
        policy_text(terms.key, terms.content_type, terms.most_bytes, terms.until), Base64::padded
    );
    return {
        .url = public_url() + std::string(upload_path),
        .fields = {
            {"key", terms.key},
            {"Content-Type", terms.content_type},
            {"policy", policy},
            {"signature", signature_of(policy)},
        }};
}

std::string Store::download_url(const files::Download& what) const {
    LinkQuery link{
        .expires = std::to_string(what.until.micros / 1'000'000),
        .type = what.content_type,
        .disposition = what.disposition,
        .signature = {}};
    link.signature = hex(kernel_.sign("storage.download", link.signed_text(what.key)));
    return public_url() + std::string(folder) + what.key + "?expires=" + link.expires +
           "&type=" + percent_encoded(link.type) +
           "&disposition=" + percent_encoded(link.disposition) + "&signature=" + link.signature;
}

http::Answer Store::give(const http::Request& request) const {
    const auto key = request.path.substr(folder.size());
    const auto link = LinkQuery::parse(request.query);
    if (!link || !is_key(key)) gone();
    const auto expected = hex(kernel_.sign("storage.download", link->signed_text(key)));
    if (!same_secret(link->signature, expected)) gone();
    const auto left = link->seconds_left();
    if (left <= 0)
        throw Failure(Fault::restricted, "This address was good for a while; ask for another.");
    const auto tag = '"' + std::string(key.substr(key.rfind('/') + 1)) + '"';
    http::Answer answer;
    answer.content_type = link->type;
    answer.headers = {
        {"Content-Disposition", link->disposition},
        {"X-Content-Type-Options", "nosniff"},
        {"Content-Security-Policy", std::string(page_policy)},
        {"Cache-Control", "private, max-age=" + std::to_string(left)},
        {"Referrer-Policy", "no-referrer"},
        for_any_page,
        {"Accept-Ranges", "bytes"},
        {"ETag", tag}};
    if (request.header("if-none-match") == tag) {
        answer.status = 304;
        return answer;
    }
    const auto opened = objects_.open(key);
    if (!opened) gone();
    const bool in_part = !request.has("if-range") || request.header("if-range") == tag;
    put(answer, *opened, in_part ? request.header("range") : std::string_view());
    return answer;
}

std::optional<files::Contents> Store::take(const std::string& from, const std::string& to) try {
    if (!objects_.rename(from, to)) return std::nullopt;
    auto found = objects_.read(to, files::Contents::sniffed);
    if (!found) return std::nullopt;
    return files::Contents{
        .size = static_cast<std::int64_t>(found->size),
        .sha256 = std::move(found->sha256),
        .beginning = std::move(found->beginning)};
} catch (const std::system_error& problem) {
    throw files::StoreError(problem.what());
}

void Store::clear(const std::string& prefix, const std::optional<std::string>& keep) try {
    objects_.clear(prefix, keep);
} catch (const std::system_error& problem) {
    throw files::StoreError(problem.what());
}

bool Store::read(const std::string& key, const BackupPart::Sink& to) try {
    return objects_.read(key, to);
} catch (const std::system_error& problem) {
    throw files::StoreError(problem.what());
}

void Store::write(const std::string& key, std::int64_t, const BackupPart::Source& from) try {
    objects_.make_folder();
    const auto file = objects_.begin();
    for (auto piece = from(); !piece.empty(); piece = from()) file->write(piece);
    objects_.publish(*file, key);
} catch (const std::system_error& problem) {
    throw files::StoreError(problem.what());
}

}  // namespace svc::store_local
