#include "http/answer_writer.hpp"

#include "http/clock.hpp"
#include "http/text.hpp"

#include <Poco/Net/HTTPResponse.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace svc::http {

namespace {

void append_number(std::uint64_t number, std::string& out) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, end);
}

/// No answer can be made to say more lines than it has, whatever went into a header.
void append_text(std::string_view text, std::string& out) {
    const auto begin = out.size();
    out += text;
    if (std::ranges::any_of(text, is_control))
        std::replace_if(
            out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), is_control, ' '
        );
}

void append_header(std::string_view name, std::string_view value, std::string& out) {
    append_text(name, out);
    out += ": ";
    append_text(value, out);
    out += "\r\n";
}

/// Written here, whatever the answer says of them.
bool is_ours(std::string_view name) {
    switch (name.size()) {
        case 4: return same_name(name, "date");
        case 10: return same_name(name, "connection");
        case 14: return same_name(name, "content-length");
        case 17: return same_name(name, "transfer-encoding");
        default: return false;
    }
}

bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

std::string status_line(int status) {
    const auto& reason = Poco::Net::HTTPResponse::getReasonForStatus(
        static_cast<Poco::Net::HTTPResponse::HTTPStatus>(status)
    );
    return "HTTP/1.1 " + std::to_string(status) + ' ' + reason + "\r\nDate: ";
}

/// Made once for all statuses that answers have.
const std::string& opening(int status) {
    static const auto lines = [] {
        std::array<std::string, 600> all;
        for (int each = 100; each < 600; ++each)
            all[static_cast<std::size_t>(each)] = status_line(each);
        return all;
    }();
    return lines[static_cast<std::size_t>(status >= 100 && status < 600 ? status : 500)];
}

}  // namespace

void write_head(const Answer& answer, const SendOptions& options, std::string& out) {
    out += opening(answer.status);
    out += http_date();
    out += "\r\n";
    const bool streams = options.after == After::stream;
    const auto size = answer.size();
    const bool switches = answer.status == 101;
    if (!answer.content_type.empty() && !has_no_body(answer.status) && (size > 0 || streams))
        append_header("Content-Type", answer.content_type, out);
    if (!streams && !has_no_body(answer.status)) {
        out += "Content-Length: ";
        append_number(size, out);
        out += "\r\n";
    }
    if (switches) out += "Connection: Upgrade\r\n";
    else if (options.after != After::keep) out += "Connection: close\r\n";
    else if (!options.newer) out += "Connection: keep-alive\r\n";
    for (const auto& [name, value] : answer.headers)
        if (!is_ours(name)) append_header(name, value, out);
    out += "\r\n";
}

bool sends_body(const Answer& answer, const SendOptions& options) {
    return !options.head_only && options.after != After::stream && !has_no_body(answer.status);
}

}  // namespace svc::http
