#pragma once

#include "svc/http.hpp"

#include <filesystem>
#include <functional>

namespace svc::http {

/// Files below one folder, read into memory on first use of each, with the variants `x.br` and
/// `x.gz` that stand beside `x` chosen by Accept-Encoding. Strong ETags, If-None-Match, HEAD, and a
/// year's Cache-Control for names that carry a content hash. HTML goes with a
/// Content-Security-Policy that keeps it to this server and to `origin()`, where files are kept;
/// empty is nowhere else. Never leaves the folder, whatever the path says; hidden files are not
/// served. Thread-safe.
///
/// What an HTML file has between lines `<!-- if x -->` and `<!-- end -->` is served where
/// `serves(x)` holds, and one that begins with `<!-- only if x -->` is there only then.
/// `folder/each.html` is the page of every `folder/<name>` that has no file of its own.
class StaticFiles {
public:
    using Serves = std::function<bool(std::string_view)>;
    using Origin = std::function<std::string()>;
    explicit StaticFiles(std::filesystem::path folder, Serves serves = {}, Origin origin = {});
    ~StaticFiles();
    /// The answer for `path` (relative, decoded; a folder means its index.html), or nothing.
    std::optional<Answer> find(const Request& request, std::string_view path) const;
    bool has(std::string_view path) const;
    /// The folder's 404.html as the answer for what is not there, or nothing.
    std::optional<Answer> missing_page() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace svc::http
