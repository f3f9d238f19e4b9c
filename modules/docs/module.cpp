#include "svc/module.hpp"

#include "modules/docs/markdown.hpp"
#include "svc/shared_text.hpp"

#include <fstream>
#include <sstream>

namespace svc::docs {

namespace {

constexpr std::string_view policy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

constexpr std::string_view style =
    "body{margin:0 auto;padding:2rem 1.2rem 5rem;max-width:62rem;font:1rem/1.6 "
    "system-ui,sans-serif;"
    "color:#1d2521;background:#fbfaf7}a{color:#14684a}code,pre{font-family:ui-monospace,monospace;"
    "font-size:.92em}pre{padding:1rem;overflow:auto;border:1px solid #dcdfd8}table{border-collapse:"
    "collapse;width:100%}th,td{padding:.35rem .8rem .35rem 0;border-bottom:1px solid #dcdfd8;"
    "text-align:left;vertical-align:top}pre code{font-size:1em}"
    "@media(prefers-color-scheme:dark){body{color:#e8ece9;background:#131715}a{color:#74d3aa}pre,"
    "th,td{border-color:#323b36}}";

std::string page_of(const std::string& file) {
    std::ostringstream read;
    read << std::ifstream(file).rdbuf();
    const std::string markdown = std::move(read).str();
    return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
           "name=\"viewport\" "
           "content=\"width=device-width, initial-scale=1\"><title>" +
           title_of(markdown) + " – Workboard</title><style>" + std::string(style) +
           "</style></head><body>\n<p><a href=\"/docs\">API reference</a></p>\n<main>\n" +
           as_html(markdown) + "</main></body></html>\n";
}

/// The interactive reference at /docs. Its page is built in admin/; the document it shows is the
/// kernel's /openapi.json. Beside it what is true of all operations: errors, and what has changed.
class Docs final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel.add_folder("/docs", kernel.share_folder() + "/docs");
        const std::string manual = kernel.share_folder() + "/manual/";
        add(kernel, "/docs/errors", manual + "errors.md");
        add(kernel, "/docs/changes", manual + "reference/changes.md");
    }

private:
    static void add(Kernel& kernel, const std::string& path, const std::string& file) {
        const auto page = std::make_shared<const http::SharedText>(page_of(file));
        kernel.add(Route{.method = "GET", .path = path, .handle = [page](RouteCall& call) {
                             http::Answer answer;
                             answer.headers = {
                                 {"Content-Security-Policy", std::string(policy)},
                                 {"Cache-Control", "no-cache"}
                             };
                             answer.content_type = "text/html; charset=utf-8";
                             page->write(call.request(), answer);
                             return answer;
                         }});
    }
};

}  // namespace

}  // namespace svc::docs

SVC_MODULE(svc::docs::Docs, "docs");
