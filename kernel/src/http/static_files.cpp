#include "http/static_files.hpp"

#include "http/content_coding.hpp"
#include "http/file_names.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <openssl/evp.h>

#include <fstream>
#include <mutex>
#include <shared_mutex>
#include <sstream>
#include <unordered_map>

namespace svc::http {

namespace {

namespace fs = std::filesystem;

/// Pages load and call nothing but this server and, for files, the origin that keeps them; nobody
/// frames them. Styles in attributes are what editors and Swagger UI live on.
std::string page_policy(const StaticFiles::Origin& origin) {
    auto files = origin ? origin() : std::string();
    if (!files.empty()) files.insert(0, 1, ' ');
    return "default-src 'self'; connect-src 'self'" + files +
           "; img-src 'self' data: blob:" + files +
           "; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; "
           "form-action 'self'; frame-ancestors 'none'";
}

/// A file's bytes in one coding.
struct Variant {
    std::string_view coding;  // empty: as it is
    std::shared_ptr<const std::string> bytes;
    std::string tag;
};

struct File {
    std::string_view type;
    std::string_view cache_control;
    std::vector<Variant> variants;  // smallest first; the last one is the file as it is
};

std::string digest_tag(const std::string& bytes) {
    static constexpr std::size_t shown = 16;  // bytes of it: enough to tell versions apart
    const Sha256 digest = sha256(bytes);
    return '"' + hex(std::span(digest).first(shown)) + '"';
}

/// Nothing when it is no regular file inside `root`, links followed.
std::shared_ptr<const std::string> read_inside(const fs::path& root, const fs::path& file) {
    std::error_code error;
    const auto real = fs::canonical(file, error);
    if (error || !fs::is_regular_file(real, error)) return nullptr;
    const auto [end, ignored] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
    if (end != root.end()) return nullptr;
    std::ifstream in(real, std::ios::binary);
    std::ostringstream bytes;
    bytes << in.rdbuf();
    if (!in) return nullptr;
    return std::make_shared<const std::string>(std::move(bytes).str());
}

/// What stands between these is served on a condition; they do not nest.
constexpr std::string_view page_begin = "<!-- only if ", section_begin = "<!-- if ",
                           section_end = "<!-- end -->\n", mark_end = " -->\n";

/// The page as this server has it; empty when it has not.
std::string with_sections(std::string_view page, const StaticFiles::Serves& serves) {
    std::string out;
    if (page.starts_with(page_begin)) {
        const auto end = std::min(page.find(mark_end), page.size() - mark_end.size());
        const auto name = page.substr(page_begin.size(), end - page_begin.size());
        if (!serves || !serves(name)) return out;
        page.remove_prefix(end + mark_end.size());
    }
    for (;;) {
        const auto begin = page.find(section_begin);
        const auto named = page.find(mark_end, begin);
        const auto end = page.find(section_end, named);
        if (end == page.npos) return out.append(page);
        const auto name =
            page.substr(begin + section_begin.size(), named - begin - section_begin.size());
        const auto text = page.substr(named + mark_end.size(), end - named - mark_end.size());
        out.append(page.substr(0, begin));
        if (serves && serves(name)) out.append(text);
        page.remove_prefix(end + section_end.size());
    }
}

bool is_html(std::string_view type) { return type.starts_with("text/html"); }

/// `folder/each.html` for `folder/name`; nothing for other paths.
std::optional<std::string> page_of_each(std::string_view path) {
    const auto slash = path.find('/');
    if (slash == path.npos || slash == 0 || slash + 1 == path.size()) return std::nullopt;
    const auto name = path.substr(slash + 1);
    if (name.find_first_of("/.") != name.npos) return std::nullopt;
    return std::string(path.substr(0, slash + 1)) + "each.html";
}

}  // namespace

class StaticFiles::Impl {
public:
    Impl(const fs::path& folder, Serves serves, Origin origin)
        : serves_(std::move(serves)), origin_(std::move(origin)) {
        std::error_code error;
        root_ = fs::canonical(folder, error);  // empty when there is none: then there are no files
    }

    std::string policy() const { return page_policy(origin_); }

    std::shared_ptr<const File> file(std::string_view path) {
        if (path.starts_with('/')) path.remove_prefix(1);
        {
            const std::shared_lock lock(mutex_);
            if (const auto found = files_.find(std::string(path)); found != files_.end())
                return found->second;
        }
        auto loaded = load(path);
        if (!loaded) {  // not remembered: strangers may ask for any name
            const auto each = page_of_each(path);
            return each ? file(*each) : nullptr;
        }
        const std::unique_lock lock(mutex_);
        return files_.emplace(std::string(path), std::move(loaded)).first->second;
    }

private:
    std::shared_ptr<const File> load(std::string_view path) const {
        if (root_.empty() || !is_plain_path(path)) return nullptr;
        auto place = root_ / path;
        std::error_code error;
        if (fs::is_directory(place, error)) place /= "index.html";
        auto bytes = read_inside(root_, place);
        if (!bytes) return nullptr;
        auto file = std::make_shared<File>();
        const auto name = place.filename().string();
        file->type = media_type(name);
        bool whole = true;
        if (is_html(file->type)) {
            auto kept = with_sections(*bytes, serves_);
            if (kept.empty() && !bytes->empty()) return nullptr;
            whole = kept.size() == bytes->size();
            bytes = std::make_shared<const std::string>(std::move(kept));
        }
        file->cache_control =
            carries_digest(name) ? "public, max-age=31536000, immutable" : "no-cache";
        using Ending = std::pair<std::string_view, std::string_view>;
        for (const auto& [coding, ending] : {Ending{"br", ".br"}, Ending{"gzip", ".gz"}}) {
            auto packed = place;
            packed += ending;
            if (auto small = whole ? read_inside(root_, packed) : nullptr) {
                auto tag = digest_tag(*small);
                file->variants.push_back({coding, std::move(small), std::move(tag)});
            }
        }
        file->variants.push_back({{}, bytes, digest_tag(*bytes)});
        return file;
    }

    fs::path root_;
    Serves serves_;
    Origin origin_;
    std::shared_mutex mutex_;
    std::unordered_map<std::string, std::shared_ptr<const File>> files_;  // under mutex_
};

StaticFiles::StaticFiles(fs::path folder, Serves serves, Origin origin)
    : impl_(std::make_unique<Impl>(folder, std::move(serves), std::move(origin))) {}
StaticFiles::~StaticFiles() = default;

bool StaticFiles::has(std::string_view path) const { return impl_->file(path) != nullptr; }

std::optional<Answer> StaticFiles::find(const Request& request, std::string_view path) const {
    if (request.method != "GET" && request.method != "HEAD") return std::nullopt;
    const auto file = impl_->file(path);
    if (!file) return std::nullopt;
    const auto accepted = request.header("accept-encoding");
    const Variant* chosen = &file->variants.front();
    while (!chosen->coding.empty() && !accepts_coding(accepted, chosen->coding)) ++chosen;

    Answer answer;
    answer.content_type = file->type;
    answer.headers.emplace_back("ETag", chosen->tag);
    answer.headers.emplace_back("Cache-Control", file->cache_control);
    answer.headers.emplace_back("X-Content-Type-Options", "nosniff");
    if (is_html(file->type)) {
        answer.headers.emplace_back("Content-Security-Policy", impl_->policy());
        answer.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
    }
    if (file->variants.size() > 1) answer.headers.emplace_back("Vary", "Accept-Encoding");
    if (names_tag(request.header("if-none-match"), chosen->tag)) {
        answer.status = 304;
        return answer;
    }
    if (!chosen->coding.empty()) answer.headers.emplace_back("Content-Encoding", chosen->coding);
    answer.shared_body = chosen->bytes;
    return answer;
}

std::optional<Answer> StaticFiles::missing_page() const {
    const auto file = impl_->file("404.html");
    if (!file) return std::nullopt;
    Answer answer;
    answer.status = 404;
    answer.content_type = file->type;
    answer.headers.emplace_back("Cache-Control", "no-cache");
    answer.headers.emplace_back("Content-Security-Policy", impl_->policy());
    answer.headers.emplace_back("Vary", "Accept");
    answer.shared_body = file->variants.back().bytes;
    return answer;
}

}  // namespace svc::http
