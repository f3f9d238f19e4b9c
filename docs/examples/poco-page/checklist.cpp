#include "checklist.hpp"

#include <Poco/Net/HTMLForm.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/StringTokenizer.h>

namespace svc::poco_page {

namespace {

using Poco::Net::HTMLForm;
using Poco::Net::HTTPServerRequest;
using Poco::Net::HTTPServerResponse;

/// What somebody typed, as text between tags or within a quoted attribute.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string checklist_of(const std::string& title, const std::string& lines) {
    std::string out = title.empty() ? "" : "## " + title + "\n\n";
    for (const auto& line : Poco::StringTokenizer(
             lines, "\n", Poco::StringTokenizer::TOK_IGNORE_EMPTY | Poco::StringTokenizer::TOK_TRIM
         ))
        out += "- [ ] " + line + '\n';
    return out;
}

void refuse(HTTPServerResponse& response) {
    response.setStatusAndReason(HTTPServerResponse::HTTP_BAD_REQUEST);
    response.setContentType("text/plain; charset=utf-8");
    response.send() << "This form cannot be read.\n";
}

void show(const std::string& title, const std::string& lines, HTTPServerResponse& response) {
    response.setContentType("text/html; charset=utf-8");
    response.set(
        "Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'"
    );
    std::ostream& page = response.send();
    page << R"(<!doctype html>
<html lang="en">
<title>Checklist</title>
<h1>Checklist</h1>
<form method="post" action="/checklist">
<p><label>Title <input name="title" value=")"
         << escaped(title) << R"("></label>
<p><label>One step on each line
<textarea name="lines" rows="12" cols="60">
)" << escaped(lines)
         << R"(</textarea></label>
<p><button>Make a checklist</button>
</form>
)";
    if (lines.empty()) return;
    page << "<h2>To paste into a card</h2>\n<pre>" << escaped(checklist_of(title, lines))
         << "</pre>\n";
}

}  // namespace

void ChecklistPage::handleRequest(HTTPServerRequest& request, HTTPServerResponse& response) {
    HTMLForm form;
    try {
        form.load(request, request.stream());  // the query, and what was posted
    } catch (const Poco::Exception&) {
        return refuse(response);
    }
    show(form.get("title", ""), form.get("lines", ""), response);
}

Poco::Net::HTTPRequestHandler* ChecklistPages::createRequestHandler(const HTTPServerRequest&) {
    return new ChecklistPage;
}

}  // namespace svc::poco_page
